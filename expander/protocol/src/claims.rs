//! What holds for whatever arrives on a socket, as functions that panic where it does not: for property tests here and
//! the fuzzers of `hack/fuzz`.
//!
//! Not part of the library; it is compiled for those two alone.

use std::fmt::Debug;

use expansion::Outcome;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::{Answer, Ask, HEADER, Notice, Order, encode, length};

/// A packet of either side is refused, or says the same when it is sent on.
pub fn packet(bytes: &[u8]) {
    if let Ok(order) = Order::decode(bytes) {
        assert_eq!(Order::decode(&order.encode()), Ok(order));
    }
    if let Ok(notice) = Notice::decode(bytes) {
        assert_eq!(Notice::decode(&notice.encode()), Ok(notice));
    }
}

/// The first four bytes are the limit, what follows is a stream. No frame is taken that is longer than the limit, and
/// what is taken is framed again as it was.
pub fn frames(bytes: &[u8]) {
    let Some((limit, mut stream)) = bytes.split_first_chunk::<HEADER>() else { return };
    let limit = u32::from_be_bytes(*limit) as usize;
    while let Some((header, rest)) = stream.split_first_chunk::<HEADER>() {
        let Ok(announced) = length(*header, limit) else { return };
        assert!(announced > 0 && announced <= limit);
        let Some((body, behind)) = rest.split_at_checked(announced) else { return };
        let frame = encode(body, limit).expect("it was taken before");
        assert_eq!(frame, stream[..HEADER + announced]);
        stream = behind;
    }
}

/// The body of a frame of either side is refused, or says the same when it is sent on; an answer also when an expansion
/// had it in its hands.
pub fn body(bytes: &[u8]) {
    survives::<Ask>(bytes);
    if let Some(answer) = survives::<Answer>(bytes) {
        let outcome = Outcome::from(answer.clone());
        assert_eq!(Answer::from(outcome), answer);
    }
}

fn survives<T: DeserializeOwned + Serialize + PartialEq + Debug>(bytes: &[u8]) -> Option<T> {
    let message: T = serde_json::from_slice(bytes).ok()?;
    let sent = serde_json::to_vec(&message).expect("messages can be written");
    let read: T = serde_json::from_slice(&sent).expect("what is written can be read");
    assert_eq!(read, message);
    Some(message)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use proptest::sample::select;

    /// Pieces of requests and answers.
    const WORDS: &[&str] = &[
        r#"{"mode":"convert","call":"#,
        r#"{"id":1,"language":"python","template":"a","resource":{},"env":{},"imports":{}}"#,
        r#","bounds":{"fuel":1,"output":2},"now":-1,"seed":18446744073709551615}"#,
        r#"{"text":{"text":"a","fuel":3}}"#,
        r#"{"text":{"text":"#,
        r#"{"data":{"value":"#,
        r#","properties":"#,
        r#"{"fault":{"kind":"E","message":"m","frames":[{"file":"f","line":1}]}}"#,
        r#"{"a":[1.5,-0.0,1e300,null],"a":true}"#,
        r#""\ud83d\ude00""#,
        r#""\ud800""#,
        "[",
        "]",
        "}",
        "}}",
        ",",
        "1e999",
        "9007199254740993",
    ];

    /// Frames that lie about their length now and then.
    fn stream() -> impl Strategy<Value = Vec<u8>> {
        let frame = (prop::collection::vec(any::<u8>(), 0..9), prop::option::of(any::<u32>()));
        let frame = frame.prop_map(|(body, lie)| {
            let honest = u32::try_from(body.len()).unwrap();
            [&lie.unwrap_or(honest).to_be_bytes(), body.as_slice()].concat()
        });
        let limit = select(&[0_u32, 4, 8, u32::MAX]);
        (limit, prop::collection::vec(frame, 0..6))
            .prop_map(|(limit, frames)| [&limit.to_be_bytes(), frames.concat().as_slice()].concat())
    }

    /// A letter and numbers, most of them small, cut somewhere.
    fn packet() -> impl Strategy<Value = Vec<u8>> {
        let numbers = prop::collection::vec(prop_oneof![0..3_u64, any::<u64>()], 0..6);
        (select(b"SHQRPXEh?"), numbers, prop::option::of(0..49_usize)).prop_map(
            |(letter, numbers, cut)| {
                let numbers = numbers.into_iter().flat_map(u64::to_be_bytes);
                let mut packet: Vec<u8> = std::iter::once(letter).chain(numbers).collect();
                packet.truncate(cut.unwrap_or(packet.len()));
                packet
            },
        )
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(1_000) })]

        #[test]
        fn any_packet_is_read_or_refused(packet in packet(), other: Vec<u8>) {
            super::packet(&packet);
            super::packet(&other);
        }

        #[test]
        fn any_stream_of_frames_is_taken_within_its_limit(stream in stream(), other: Vec<u8>) {
            super::frames(&stream);
            super::frames(&other);
        }

        #[test]
        fn any_body_is_read_or_refused(words in prop::collection::vec(select(WORDS), 1..8), other: Vec<u8>) {
            super::body(words.concat().as_bytes());
            super::body(&other);
        }
    }
}
