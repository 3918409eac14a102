//! Every review before any change.
//!
//! An [`Authorized`] is made here and nowhere else, and whoever changes the cluster asks for one: so
//! nothing is changed that was not reviewed, and nothing at all if any of it may not be.

use std::collections::{BTreeMap, BTreeSet};

use futures::FutureExt as _;

use crate::cluster::{Access, Cluster, ClusterError, Target, Verb};
use crate::together::together;
use crate::types::{CreatePolicy, DeletePolicy, Requester};

/// How many refusals are told.
const TOLD: usize = 20;
/// Of how many objects in one place a single review is tried first.
const MANY: usize = 3;

/// What a user may do, all of it.
pub struct Authorized {
    user: Requester,
    may: BTreeSet<Access>,
}

/// Why there is none.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Denied {
    /// The user may not do some of it.
    #[error("{}", .0.join("\n"))]
    Forbidden(Vec<String>),
    /// The cluster could not be asked.
    #[error("{0}")]
    Cluster(#[from] ClusterError),
}

/// What is about to be done. Objects are in it whatever their state is: who may not do all of it does
/// none of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Changes(BTreeSet<Access>);

impl Changes {
    /// Objects are read, and then created or changed.
    pub(crate) fn apply<'a>(
        self,
        targets: impl IntoIterator<Item = &'a Target>,
        policy: CreatePolicy,
    ) -> Self {
        let verbs: &[Verb] = match policy {
            CreatePolicy::CreateOrAcquire => &[Verb::Get, Verb::Create, Verb::Patch],
            CreatePolicy::Acquire => &[Verb::Get, Verb::Patch],
        };
        self.all(targets, verbs)
    }

    /// Objects are read, and then deleted.
    fn delete<'a>(self, targets: impl IntoIterator<Item = &'a Target>) -> Self {
        self.all(targets, &[Verb::Get, Verb::Delete])
    }

    /// Objects are read, and taken from their owner.
    fn abandon<'a>(self, targets: impl IntoIterator<Item = &'a Target>) -> Self {
        self.all(targets, &[Verb::Get, Verb::Patch])
    }

    /// Objects are deleted or abandoned.
    pub(crate) fn give_up<'a>(
        self,
        targets: impl IntoIterator<Item = &'a Target>,
        policy: DeletePolicy,
    ) -> Self {
        match policy {
            DeletePolicy::Delete => self.delete(targets),
            DeletePolicy::Abandon => self.abandon(targets),
        }
    }

    /// Objects are read.
    pub(crate) fn read<'a>(self, targets: impl IntoIterator<Item = &'a Target>) -> Self {
        self.all(targets, &[Verb::Get])
    }

    fn all<'a>(mut self, targets: impl IntoIterator<Item = &'a Target>, verbs: &[Verb]) -> Self {
        for target in targets {
            self.0.extend(verbs.iter().map(|&verb| Access { verb, target: target.clone() }));
        }
        self
    }
}

/// Has all of it reviewed.
///
/// A review without a name is about all objects of a resource in a namespace
/// (`ResourceAttributes.name`: "empty means all"). Most users may do a thing to all of them or to none,
/// so where there are many it is asked first, and one by one only who may not do it to all.
///
/// # Errors
/// When the user may not do some of it; when the cluster cannot be asked.
pub(crate) async fn authorize(
    cluster: &dyn Cluster,
    user: &Requester,
    changes: Changes,
) -> Result<Authorized, Denied> {
    let ask = async |all: Vec<&Access>| {
        let reviews = all.iter().map(|access| cluster.review(user, access).boxed());
        let reviews = together(reviews).await;
        reviews.into_iter().collect::<Result<Vec<_>, ClusterError>>()
    };
    let mut wholes: BTreeMap<Access, usize> = BTreeMap::new();
    for access in &changes.0 {
        *wholes.entry(access.to_all()).or_default() += 1;
    }
    wholes.retain(|_, count| *count >= MANY);
    let answers = ask(wholes.keys().collect()).await?;
    let allowed = wholes.keys().zip(answers).filter(|(_, answer)| answer.is_ok());
    let allowed: BTreeSet<&Access> = allowed.map(|(access, _)| access).collect();
    let single = changes.0.iter().filter(|access| !allowed.contains(&access.to_all()));
    let single: Vec<_> = single.collect();
    let answers = ask(single.clone()).await?;
    let (mut refused, mut more) = (Vec::new(), 0_usize);
    for (access, answer) in single.into_iter().zip(answers) {
        match answer {
            Ok(()) => {}
            Err(why) if refused.len() < TOLD => refused.push(refusal(user, access, &why)),
            Err(_) => more += 1,
        }
    }
    if more > 0 {
        refused.push(format!("and {more} more"));
    }
    if refused.is_empty() {
        Ok(Authorized { user: user.clone(), may: changes.0 })
    } else {
        Err(Denied::Forbidden(refused))
    }
}

/// Whether a user may read an object; if not, why.
///
/// # Errors
/// When the cluster cannot be asked.
pub async fn may_read(
    cluster: &dyn Cluster,
    user: &Requester,
    target: &Target,
) -> Result<Result<(), String>, ClusterError> {
    match authorize(cluster, user, Changes::default().read([target])).await {
        Ok(_) => Ok(Ok(())),
        Err(Denied::Forbidden(why)) => Ok(Err(why.join("\n"))),
        Err(Denied::Cluster(error)) => Err(error),
    }
}

/// `bob may not create secrets in namespace demo (Secret demo/x): no RBAC policy matched`.
fn refusal(user: &Requester, Access { verb, target }: &Access, why: &str) -> String {
    let (group, _) = target.group_version();
    let (dot, verb) = (if group.is_empty() { "" } else { "." }, verb.as_str());
    let place = match target.namespace.as_str() {
        "" => String::new(),
        namespace => format!(" in namespace {namespace}"),
    };
    let why = if why.is_empty() { String::new() } else { format!(": {why}") };
    let resource = &target.resource;
    format!("{} may not {verb} {resource}{dot}{group}{place} ({target}){why}", user.username)
}

impl Authorized {
    /// The user, if this was reviewed.
    ///
    /// # Errors
    /// When it was not: a change that nobody asked about is not made.
    pub(crate) fn user(&self, verb: Verb, target: &Target) -> Result<&Requester, ClusterError> {
        let access = Access { verb, target: target.clone() };
        if self.may.contains(&access) {
            return Ok(&self.user);
        }
        let verb = verb.as_str();
        Err(ClusterError::Forbidden(format!("it was not reviewed whether to {verb} {target}")))
    }
}
