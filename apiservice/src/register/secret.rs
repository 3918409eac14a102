//! The Secret that keeps the serving authority, and so makes all replicas show certificates of one.
//!
//! Keys and times are entries that people can read: `ca.crt` and `ca.key`, during a rotation
//! `next.crt` and `next.key` and then `previous.crt`. A Secret that does not add up is refused and
//! left as it is: whoever damaged it may want to mend it, and deleting it starts anew.

use std::collections::BTreeMap;

use anyhow::{Context as _, Result, bail};
use jiff::Timestamp;
use k8s_openapi::ByteString;
use k8s_openapi::api::core::v1::Secret;

use super::rotation::{Phase, State};
use super::{MANAGED_BY, MANAGER};
use crate::certificates::Authority;

/// Asks for a rotation, whatever its value: `kubectl annotate secret … formwork.dev/rotate=now`.
/// It is taken away when the rotation begins.
const ROTATE: &str = "formwork.dev/rotate";
const PUBLISHED_AT: &str = "formwork.dev/published-at";
const SWITCHED_AT: &str = "formwork.dev/switched-at";

const CURRENT: (&str, &str) = ("ca.crt", "ca.key");
const NEXT: (&str, &str) = ("next.crt", "next.key");
const PREVIOUS: &str = "previous.crt";

/// What `secret` keeps; `None` when it keeps nothing yet.
///
/// # Errors
/// When it is damaged: half a pair, a key of another certificate, a time that is none, two phases.
pub(super) fn read(secret: &Secret) -> Result<Option<State>> {
    let empty = BTreeMap::new();
    let data = secret.data.as_ref().unwrap_or(&empty);
    let annotations = secret.metadata.annotations.as_ref();
    let time = |name: &str| -> Result<Option<Timestamp>> {
        let text = annotations.and_then(|annotations| annotations.get(name));
        text.map(|text| text.parse().with_context(|| format!("annotation {name}"))).transpose()
    };
    if data.is_empty() {
        return Ok(None);
    }
    let Some(current) = authority(data, CURRENT)? else { bail!("{} is missing", CURRENT.0) };
    let phase = match (authority(data, NEXT)?, text(data, PREVIOUS)?) {
        (None, None) => Phase::Steady,
        (Some(next), None) => Phase::Introducing { next, published: time(PUBLISHED_AT)? },
        (None, Some(previous)) => {
            let since = time(SWITCHED_AT)?
                .with_context(|| format!("annotation {SWITCHED_AT} is missing"))?;
            Phase::Retiring { previous, since }
        }
        (Some(_), Some(_)) => bail!("both {} and {PREVIOUS} are there", NEXT.0),
    };
    let requested = annotations.is_some_and(|annotations| annotations.contains_key(ROTATE));
    Ok(Some(State { current, phase, requested }))
}

/// Writes `state` into `secret`; what is not ours stays.
pub(super) fn write(secret: &mut Secret, state: &State) {
    let mut data = BTreeMap::new();
    let mut put = |name: &str, text: &str| {
        data.insert(name.to_owned(), ByteString(text.as_bytes().to_vec()));
    };
    put(CURRENT.0, &state.current.certificate);
    put(CURRENT.1, &state.current.key);
    let annotations = secret.metadata.annotations.get_or_insert_default();
    for name in [PUBLISHED_AT, SWITCHED_AT] {
        annotations.remove(name);
    }
    match &state.phase {
        Phase::Steady => {}
        Phase::Introducing { next, published } => {
            put(NEXT.0, &next.certificate);
            put(NEXT.1, &next.key);
            if let Some(published) = published {
                annotations.insert(PUBLISHED_AT.to_owned(), published.to_string());
            }
        }
        Phase::Retiring { previous, since } => {
            put(PREVIOUS, previous);
            annotations.insert(SWITCHED_AT.to_owned(), since.to_string());
        }
    }
    if state.requested {
        annotations.entry(ROTATE.to_owned()).or_insert_with(|| "now".to_owned());
    } else {
        annotations.remove(ROTATE);
    }
    secret.data = Some(data);
    let labels = secret.metadata.labels.get_or_insert_default();
    labels.insert(MANAGED_BY.to_owned(), MANAGER.to_owned());
}

fn authority(
    data: &BTreeMap<String, ByteString>,
    (certificate, key): (&str, &str),
) -> Result<Option<Authority>> {
    match (text(data, certificate)?, text(data, key)?) {
        (None, None) => Ok(None),
        (Some(text), Some(secret)) => {
            let authority = Authority::from_pem(text, secret);
            authority.map(Some).with_context(|| format!("{certificate} with {key}"))
        }
        (None, Some(_)) => bail!("{certificate} is missing"),
        (Some(_), None) => bail!("{key} is missing"),
    }
}

fn text(data: &BTreeMap<String, ByteString>, name: &str) -> Result<Option<String>> {
    let Some(ByteString(bytes)) = data.get(name) else { return Ok(None) };
    let text = String::from_utf8(bytes.clone()).ok();
    text.map(Some).with_context(|| format!("{name} is no text"))
}

#[cfg(test)]
mod tests {
    use super::super::rotation::{Step, Timing};
    use super::*;

    const NOW: Timestamp = Timestamp::constant(1_800_000_000, 0);

    fn states() -> Vec<State> {
        let timing = Timing::default();
        let mut states = vec![State::first(NOW, &timing).unwrap()];
        for step in [Step::Introduce, Step::Published, Step::Switch] {
            let last = states.last().unwrap();
            states.push(last.after(step, NOW, &timing).unwrap());
        }
        states.push(State { requested: true, ..states[1].clone() });
        states
    }

    fn kept(state: &State) -> Secret {
        let mut secret = Secret::default();
        write(&mut secret, state);
        secret
    }

    #[test]
    fn every_state_is_read_as_it_was_written() {
        let mut secret = Secret::default();
        assert_eq!(read(&secret).unwrap(), None);
        for state in states() {
            // Over what was there: nothing of it may be left.
            write(&mut secret, &state);
            assert_eq!(read(&secret).unwrap(), Some(state));
        }
    }

    #[test]
    fn what_others_wrote_stays() {
        let mut secret = Secret::default();
        secret.metadata.annotations = Some([("a".to_owned(), "b".to_owned())].into());
        write(&mut secret, &states()[0]);
        assert_eq!(secret.metadata.annotations.unwrap()["a"], "b");
    }

    #[test]
    fn a_secret_that_does_not_add_up_is_refused_with_what_is_wrong() {
        let states = states();
        let check = |state: &State, damage: fn(&mut Secret), want: &str| {
            let mut secret = kept(state);
            damage(&mut secret);
            let error = format!("{:#}", read(&secret).unwrap_err());
            assert!(error.contains(want), "{error}");
            assert!(!error.contains("PRIVATE"), "{error}");
        };
        fn data(secret: &mut Secret) -> &mut BTreeMap<String, ByteString> {
            secret.data.as_mut().unwrap()
        }
        check(&states[0], |s| drop(data(s).remove("ca.key")), "ca.key is missing");
        check(&states[0], |s| drop(data(s).remove("ca.crt")), "ca.crt is missing");
        let garbage = |s: &mut Secret| drop(data(s).insert("ca.crt".into(), ByteString(vec![7])));
        check(&states[0], garbage, "ca.crt with ca.key");
        let mixed = |s: &mut Secret| {
            let key = data(s)["ca.key"].clone();
            data(s).insert("next.key".into(), key);
        };
        check(&states[1], mixed, "next.crt with next.key: the key of the CA is not that");
        let both = |s: &mut Secret| {
            let certificate = data(s)["ca.crt"].clone();
            data(s).insert("previous.crt".into(), certificate);
        };
        check(&states[1], both, "both next.crt and previous.crt");
        let no_time = |s: &mut Secret| s.metadata.annotations = None;
        check(&states[3], no_time, "switched-at is missing");
        let bad_time = |s: &mut Secret| {
            let annotations = s.metadata.annotations.as_mut().unwrap();
            annotations.insert(PUBLISHED_AT.into(), "soon".into());
        };
        check(&states[2], bad_time, "published-at");
    }
}
