//! The requests that carry a Template, made once and sent often.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use bytes::Bytes;
use serde_json::Value;

use crate::client::Order;

/// The collection that is created in, listed and watched.
pub(crate) const TEMPLATES: &str = "/apis/template.openshift.io/v1/namespaces/default/templates";
const PROCESSED: &str = "/apis/template.openshift.io/v1/namespaces/default/processedtemplates";

pub(crate) struct Orders {
    small: Body,
    medium: Body,
}

/// A Template's text, and the same text in two parts with the name between them.
struct Body {
    whole: Bytes,
    before: String,
    after: String,
}

impl Orders {
    pub(crate) fn read(templates: &Path) -> Result<Self> {
        Ok(Self {
            small: Body::read(&templates.join("small.json"))?,
            medium: Body::read(&templates.join("medium.json"))?,
        })
    }

    pub(crate) fn process_small(&self) -> Order {
        Order::post(PROCESSED, self.small.whole.clone())
    }

    pub(crate) fn process_medium(&self) -> Order {
        Order::post(PROCESSED, self.medium.whole.clone())
    }

    pub(crate) fn create_small(&self, name: &str) -> Order {
        Order::post(TEMPLATES, self.small.named(name))
    }

    pub(crate) fn create_medium(&self, name: &str) -> Order {
        Order::post(TEMPLATES, self.medium.named(name))
    }
}

impl Body {
    fn read(path: &Path) -> Result<Self> {
        const MARK: &str = "the-name-goes-here";
        let text = fs::read(path).with_context(|| format!("reading {}", path.display()))?;
        let mut template: Value = serde_json::from_slice(&text)?;
        let whole = serde_json::to_vec(&template)?.into();
        template["metadata"]["name"] = MARK.into();
        let marked = template.to_string();
        let (before, after) = marked.split_once(MARK).context("the mark stands in the text")?;
        Ok(Self { whole, before: before.to_owned(), after: after.to_owned() })
    }

    fn named(&self, name: &str) -> Bytes {
        [&self.before, name, &self.after].concat().into()
    }
}
