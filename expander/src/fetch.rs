//! Files that an expansion asks for: templates that are named by a URL or stand in a registry.

mod address;
mod client;
mod counted;
mod entry;
mod hosts;
mod locked;
mod offered;
mod places;
mod registries;
mod url;
mod version;
mod web;

use std::pin::Pin;

use expansion::{Imports, Wanted};

pub use self::locked::Locked;
pub use self::offered::Offered;
pub use self::registries::{Credential, Finding, Place, Registries, Registry, prefix, within};
pub use self::version::Version;
pub use self::web::{Access, AccessError, Among, Web};

/// A future in a box, because expansions take whatever fetches.
pub type Fetching<'a> = Pin<Box<dyn Future<Output = Result<Imports, FetchError>> + Send + 'a>>;

/// Brings files from elsewhere.
pub trait Fetch: Send + Sync {
    /// The files of those names, each under the very name that was wanted, and beside it its schema, `NAME.schema`, and
    /// what that imports. A name that is not among them is one that is not to be had.
    fn fetch<'a>(&'a self, wanted: &'a [Wanted]) -> Fetching<'a>;
}

/// Why a file was not brought.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{name}: {message}")]
pub struct FetchError {
    /// The name that was wanted.
    pub name: String,
    /// One sentence for the user.
    pub message: String,
}

/// Brings nothing: only what came with the configuration can be used.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoFetch;

impl Fetch for NoFetch {
    fn fetch<'a>(&'a self, _: &'a [Wanted]) -> Fetching<'a> {
        Box::pin(async { Ok(Imports::new()) })
    }
}
