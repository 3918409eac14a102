//! What a server without a cluster needs and makes for itself: certificates and a kubeconfig.

mod certificates;
mod kubeconfig;

pub use certificates::{Certificates, ensure};
pub use kubeconfig::write;
