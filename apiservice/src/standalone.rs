//! What a server without a cluster needs and makes for itself: certificates, a kubeconfig, and the
//! answer that a namespace exists.

mod certificates;
mod kubeconfig;
mod namespaces;

pub use certificates::{Certificates, ensure};
pub use kubeconfig::write;
pub use namespaces::EveryNamespace;
