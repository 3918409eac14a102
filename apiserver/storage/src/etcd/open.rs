//! Opening a store: which etcd is it, and whose data does it hold.

use tokio::time::Instant;

use etcd_client::{Compare, CompareOp, Txn, TxnOp, TxnOpResponse};

use super::call::{Asked, Caller};
use super::layout::Layout;
use super::members::{Member, Members};
use super::options::{ConnectError, Options};
use super::{Asking, doing};

/// Since this one, progress is told in its place among the events.
const OLDEST: (&str, [u64; 3]) = ("3.5.8", [3, 5, 8]);

/// How entries are laid out.
const FORMAT: &str = "1";

/// Connects, and makes an empty store if there is none.
pub(super) async fn open(options: Options) -> Result<Asking, ConnectError> {
    let started = Instant::now();
    let members = Members::new(&options).await?;
    let layout = Layout::new(&options.prefix);
    let caller = Caller { members, observer: options.observer, patience: options.request_timeout };
    let asking = Asking { caller, layout };
    asking.check_server().await?;
    asking.check_format().await?;
    tracing::info!(took = ?started.elapsed(), prefix = options.prefix, "connected to etcd");
    Ok(asking)
}

impl Asking {
    async fn check_server(&self) -> Result<(), ConnectError> {
        let status = |member: &Member| {
            let mut maintenance = member.maintenance();
            async move { maintenance.status().await }
        };
        let asked = self.caller.ask(Asked::read("status", ""), status).await;
        let found = asked.map_err(doing("ask for the version of etcd"))?.version().to_owned();
        if version(&found) < OLDEST.1 {
            return Err(ConnectError::TooOld { found, wanted: OLDEST.0 });
        }
        Ok(())
    }

    /// Writes down the format, once. This also takes the revisions before [`crate::Revision::INITIAL`], which no
    /// store hands out.
    async fn check_format(&self) -> Result<(), ConnectError> {
        let key = self.layout.version();
        let txn = Txn::new()
            .when([Compare::mod_revision(key, CompareOp::Equal, 0)])
            .and_then([TxnOp::put(key, FORMAT, None)])
            .or_else([TxnOp::get(key, None)]);
        let write = |member: &Member| {
            let (mut kv, txn) = (member.kv(), txn.clone());
            async move { kv.txn(txn).await }
        };
        // Read or written, the outcome is the same, so it may be repeated as a read is.
        let asked = self.caller.ask(Asked::read("get", ""), write).await;
        let answer = asked.map_err(doing("read the format of the store"))?;
        if answer.succeeded() {
            return Ok(());
        }
        let found = match answer.op_responses().into_iter().next() {
            Some(TxnOpResponse::Get(mut found)) => found.take_kvs().pop(),
            _ => None,
        };
        let found = found.map(|stored| stored.into_key_value().1).unwrap_or_default();
        if found != FORMAT.as_bytes() {
            let found = String::from_utf8_lossy(&found).chars().take(20).collect();
            return Err(ConnectError::Format { found, known: FORMAT });
        }
        Ok(())
    }
}

/// The numbers of a version; what is none counts as 0.
fn version(text: &str) -> [u64; 3] {
    let mut numbers = text.split(['.', '-']).map(|number| number.parse().unwrap_or(0));
    [(); 3].map(|()| numbers.next().unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_compare_by_their_numbers() {
        assert!(version("3.4.33") < OLDEST.1);
        assert!(version("3.5.7") < OLDEST.1);
        assert!(version("3.5.10") >= OLDEST.1);
        assert!(version("3.6.0-rc.1") >= OLDEST.1);
        assert!(version("") < OLDEST.1);
    }
}
