//! The requests that carry a Template, made once and sent often.

use std::path::Path;

use anyhow::Result;
use bench::body::Body;
use bench::client::Order;

/// The collection that is created in, listed and watched.
pub(crate) const TEMPLATES: &str = "/apis/template.openshift.io/v1/namespaces/default/templates";
const PROCESSED: &str = "/apis/template.openshift.io/v1/namespaces/default/processedtemplates";

pub(crate) struct Orders {
    small: Body,
    medium: Body,
}

impl Orders {
    pub(crate) fn read(templates: &Path) -> Result<Self> {
        Ok(Self {
            small: Body::read(&templates.join("small.json"))?,
            medium: Body::read(&templates.join("medium.json"))?,
        })
    }

    pub(crate) fn process_small(&self) -> Order {
        Order::post(PROCESSED, self.small.whole())
    }

    pub(crate) fn process_medium(&self) -> Order {
        Order::post(PROCESSED, self.medium.whole())
    }

    pub(crate) fn create_small(&self, name: &str) -> Order {
        Order::post(TEMPLATES, self.small.named(name))
    }

    pub(crate) fn create_medium(&self, name: &str) -> Order {
        Order::post(TEMPLATES, self.medium.named(name))
    }
}
