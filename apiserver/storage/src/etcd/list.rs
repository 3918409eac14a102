//! Lists, page by page, all of one revision.

use etcd_client::GetOptions;

use super::call::Asked;
use super::members::Member;
use super::{Asking, layout};
use crate::{Error, List, Prefix, Result, Revision};

/// About how many bytes a page should have.
const PAGE: usize = 4 << 20;
/// How many entries the first page has, when nothing is known of their size, and the largest.
const ENTRIES: (usize, usize) = (128, 8192);

/// How often a list of the newest state begins anew when its state is compacted while it is read.
const RESTARTS: usize = 3;

impl Asking {
    pub(super) async fn list(&self, prefix: &Prefix, at: Option<Revision>) -> Result<List> {
        if let Some(requested) = at {
            self.know(requested).await?;
            return self.pages(prefix, requested).await;
        }
        for _ in 1..RESTARTS {
            match self.pages(prefix, Revision::ZERO).await {
                Err(Error::Compacted { .. }) => {}
                outcome => return outcome,
            }
        }
        self.pages(prefix, Revision::ZERO).await
    }

    /// The entries of `prefix` at a revision, with zero at that of the first page.
    async fn pages(&self, prefix: &Prefix, mut at: Revision) -> Result<List> {
        let (mut start, end) = self.layout.range(prefix);
        let (mut entries, mut limit) = (Vec::new(), ENTRIES.0);
        loop {
            let mut page = match self.page(prefix, &start, &end, limit, at).await {
                Ok(page) => page,
                Err(failure) => return Err(self.history(at, failure).await),
            };
            if at == Revision::ZERO {
                at = layout::reached(page.header())?;
            }
            let (more, stored) = (page.more(), page.take_kvs());
            let bytes: usize = stored.iter().map(|stored| stored.value().len()).sum();
            limit = (PAGE / (bytes / stored.len().max(1)).max(1)).clamp(1, ENTRIES.1);
            if let Some(last) = stored.last().filter(|_| more) {
                start = format!("{}\0", String::from_utf8_lossy(last.key()));
            }
            for stored in stored {
                entries.push(self.layout.entry(stored)?);
            }
            if !more {
                return Ok(List { entries, revision: at });
            }
        }
    }

    async fn page(
        &self,
        prefix: &Prefix,
        start: &str,
        end: &str,
        limit: usize,
        at: Revision,
    ) -> Result<etcd_client::GetResponse, super::Failure> {
        let options = GetOptions::new()
            .with_range(end)
            .with_limit(i64::try_from(limit).unwrap_or(i64::MAX))
            .with_revision(i64::try_from(at.get()).unwrap_or(i64::MAX));
        let get = |member: &Member| {
            let (mut kv, start, options) = (member.kv(), start.to_owned(), options.clone());
            async move { kv.get(start, Some(options)).await }
        };
        self.caller.ask(Asked::long_read("list", prefix.as_str()), get).await
    }
}
