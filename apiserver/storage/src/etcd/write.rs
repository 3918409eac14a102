//! Writes: one transaction each, which compares the revision of the key and finds what is there if it is another.

use bytes::Bytes;
use etcd_client::{Compare, CompareOp, Txn, TxnOp, TxnOpResponse, TxnResponse};

use super::call::Asked;
use super::members::Member;
use super::{Asking, doing, layout};
use crate::{Error, Expect, Key, Result, Revision};

/// What etcd says is the revision of a key that is not there.
const ABSENT: i64 = 0;
/// The revision of no key.
const NEVER: i64 = -1;

impl Asking {
    pub(super) async fn put(&self, key: &Key, value: Bytes, expect: Expect) -> Result<Revision> {
        let operation = match expect {
            Expect::Absent => "create",
            Expect::Revision(_) => "update",
        };
        let put = TxnOp::put(self.layout.key(key), value, None);
        self.write(Asked::write(operation, key.as_str()), key, put, expect).await
    }

    pub(super) async fn delete(&self, key: &Key, expect: Revision) -> Result<Revision> {
        let delete = TxnOp::delete(self.layout.key(key), None);
        let expect = Expect::Revision(expect);
        self.write(Asked::write("delete", key.as_str()), key, delete, expect).await
    }

    async fn write(
        &self,
        asked: Asked<'_>,
        key: &Key,
        change: TxnOp,
        expect: Expect,
    ) -> Result<Revision> {
        let place = self.layout.key(key);
        let txn = Txn::new()
            .when([Compare::mod_revision(&*place, CompareOp::Equal, compared(expect))])
            .and_then([change])
            .or_else([TxnOp::get(place, None)]);
        let commit = |member: &Member| {
            let (mut kv, txn) = (member.kv(), txn.clone());
            async move { kv.txn(txn).await }
        };
        let answer = self.caller.ask(asked, commit).await.map_err(doing("write an entry"))?;
        if answer.succeeded() {
            return layout::reached(answer.header());
        }
        Err(self.conflict(&answer))
    }

    fn conflict(&self, answer: &TxnResponse) -> Error {
        let Some(TxnOpResponse::Get(mut found)) = answer.op_responses().into_iter().next() else {
            return Error::Corrupt("etcd left the refusal of a write unexplained".into());
        };
        let current = found.take_kvs().pop().map(|stored| self.layout.entry(stored)).transpose();
        current.map_or_else(|damaged| damaged, |current| Error::Conflict { current })
    }
}

/// The revision that the key must have.
fn compared(expect: Expect) -> i64 {
    match expect {
        Expect::Absent => ABSENT,
        // Zero would mean that nothing is there, which is not what was presumed.
        Expect::Revision(Revision::ZERO) => NEVER,
        Expect::Revision(revision) => i64::try_from(revision.get()).unwrap_or(NEVER),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_revision_is_taken_for_absence() {
        assert_eq!(compared(Expect::Absent), ABSENT);
        assert_eq!(compared(Expect::Revision(Revision::new(7))), 7);
        assert_eq!(compared(Expect::Revision(Revision::ZERO)), NEVER);
        assert_eq!(compared(Expect::Revision(Revision::new(u64::MAX))), NEVER);
    }
}
