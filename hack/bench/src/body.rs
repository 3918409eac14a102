//! The text of an object that is sent often, each time under another name.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use bytes::Bytes;
use serde_json::Value;

/// An object's text, and the same text in two parts with the name between them.
pub struct Body {
    whole: Bytes,
    before: String,
    after: String,
}

impl Body {
    /// Reads an object from a JSON file.
    ///
    /// # Errors
    /// When there is none.
    pub fn read(path: &Path) -> Result<Self> {
        let text = fs::read(path).with_context(|| format!("reading {}", path.display()))?;
        Self::of(serde_json::from_slice(&text)?)
    }

    /// The same object as one of another API.
    ///
    /// # Errors
    /// None that an object which was read could cause.
    pub fn as_of(&self, api_version: &str) -> Result<Self> {
        let mut object: Value = serde_json::from_slice(&self.whole)?;
        object["apiVersion"] = api_version.into();
        Self::of(object)
    }

    fn of(mut object: Value) -> Result<Self> {
        const MARK: &str = "the-name-goes-here";
        let whole = serde_json::to_vec(&object)?.into();
        object["metadata"]["name"] = MARK.into();
        let marked = object.to_string();
        let (before, after) = marked.split_once(MARK).context("the mark stands in the text")?;
        Ok(Self { whole, before: before.to_owned(), after: after.to_owned() })
    }

    /// The text as it was read.
    pub fn whole(&self) -> Bytes {
        self.whole.clone()
    }

    /// The text under a name.
    pub fn named(&self, name: &str) -> Bytes {
        [&self.before, name, &self.after].concat().into()
    }
}
