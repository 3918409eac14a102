//! The two template languages: what a reference looks like and which API group speaks it.

/// Which template language a body is written in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dialect {
    /// OpenShift: `${NAME}` and `${{NAME}}`, `template.openshift.io/v1`.
    OpenShift,
    /// The Kubernetes proposal: `$(NAME)` and `$((NAME))`, `formwork.dev/v1alpha1`.
    Proposal,
}

impl Dialect {
    /// The `apiVersion` of this dialect's Template.
    pub const fn api_version(self) -> &'static str {
        match self {
            Dialect::OpenShift => "template.openshift.io/v1",
            Dialect::Proposal => "formwork.dev/v1alpha1",
        }
    }
}
