//! The API groups of kinds that OpenShift once served without one.
//!
//! Templates written for OpenShift 3 say `apiVersion: v1` for a Route; the server puts such kinds
//! into their group. The table is closed: those kinds have had groups since 2017.

/// The group of a kind that was once served under `/oapi/v1`.
pub(crate) fn group_of(kind: &str) -> Option<&'static str> {
    let group = match kind {
        "DeploymentConfig"
        | "DeploymentConfigList"
        | "DeploymentConfigRollback"
        | "DeploymentLog"
        | "DeploymentRequest" => "apps.openshift.io",
        "ClusterRole"
        | "ClusterRoleList"
        | "ClusterRoleBinding"
        | "ClusterRoleBindingList"
        | "Role"
        | "RoleList"
        | "RoleBinding"
        | "RoleBindingList"
        | "RoleBindingRestriction"
        | "RoleBindingRestrictionList"
        | "SubjectRulesReview"
        | "SelfSubjectRulesReview"
        | "ResourceAccessReview"
        | "LocalResourceAccessReview"
        | "SubjectAccessReview"
        | "LocalSubjectAccessReview" => "authorization.openshift.io",
        "Build"
        | "BuildList"
        | "BuildConfig"
        | "BuildConfigList"
        | "BuildLog"
        | "BuildRequest"
        | "BinaryBuildRequestOptions" => "build.openshift.io",
        "Image" | "ImageList" | "ImageStream" | "ImageStreamList" | "ImageStreamTag"
        | "ImageStreamTagList" | "ImageSignature" | "ImageStreamImage" | "ImageStreamImport"
        | "ImageStreamMapping" => "image.openshift.io",
        "ClusterNetwork"
        | "ClusterNetworkList"
        | "EgressNetworkPolicy"
        | "EgressNetworkPolicyList"
        | "HostSubnet"
        | "HostSubnetList"
        | "NetNamespace"
        | "NetNamespaceList" => "network.openshift.io",
        "OAuthAccessToken"
        | "OAuthAccessTokenList"
        | "OAuthAuthorizeToken"
        | "OAuthAuthorizeTokenList"
        | "OAuthClient"
        | "OAuthClientList"
        | "OAuthClientAuthorization"
        | "OAuthClientAuthorizationList" => "oauth.openshift.io",
        "Project" | "ProjectList" | "ProjectRequest" => "project.openshift.io",
        "ClusterResourceQuota"
        | "ClusterResourceQuotaList"
        | "AppliedClusterResourceQuota"
        | "AppliedClusterResourceQuotaList" => "quota.openshift.io",
        "Route" | "RouteList" => "route.openshift.io",
        "SecurityContextConstraints"
        | "SecurityContextConstraintsList"
        | "PodSecurityPolicySubjectReview"
        | "PodSecurityPolicySelfSubjectReview"
        | "PodSecurityPolicyReview" => "security.openshift.io",
        "Template" | "TemplateList" => "template.openshift.io",
        "Group"
        | "GroupList"
        | "Identity"
        | "IdentityList"
        | "User"
        | "UserList"
        | "UserIdentityMapping" => "user.openshift.io",
        _ => return None,
    };
    Some(group)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_old_kinds_have_a_legacy_group() {
        assert_eq!(group_of("Route"), Some("route.openshift.io"));
        assert_eq!(group_of("RouteList"), Some("route.openshift.io"));
        assert_eq!(group_of("RoleBinding"), Some("authorization.openshift.io"));
        for kind in ["route", "TemplateInstance", "BuildLogList", "ConfigMap", "List", ""] {
            assert_eq!(group_of(kind), None, "{kind}");
        }
    }
}
