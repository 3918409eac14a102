//! The control socket: small packets of fixed shapes.

/// What the expander tells the worker. A packet: a letter and, behind it, the number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// Start a child for this channel; the socket comes along with the packet (`SCM_RIGHTS`). A session takes many
    /// calls and is for Jinja; any other child takes one.
    Start {
        /// Which child it is; chosen by the expander.
        id: u64,
        /// Whether it takes more than one call.
        session: bool,
    },
    /// Are you there?
    Ping,
    /// End when all children have.
    Quit,
}

/// What the worker tells the expander.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Notice {
    /// CPython is up, modules are loaded, the worker takes orders. Which layers hold stands beside it.
    Ready {
        /// A bit for each layer: 1 seccomp, 2 no_new_privs, 4 rlimits, 8 namespaces.
        layers: u32,
        /// The Landlock ABI that is enforced; 0 is none.
        landlock: u32,
    },
    /// The child runs; a pidfd comes along with the packet.
    Started {
        /// Which child.
        id: u64,
    },
    /// The child is gone and reaped.
    Ended(Ended),
    /// The child could not be started.
    Refused {
        /// Which child.
        id: u64,
        /// The error number of `fork`.
        errno: i32,
    },
    /// The answer to a ping.
    Pong,
}

/// With which signals a child ends itself when its walls cannot be built, one for each of them. Behind the walls nobody can
/// send a signal, so that no template can say this of itself.
pub const WALLS: std::ops::RangeInclusive<i32> = 40..=47;

/// How a child ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ended {
    /// Which child.
    pub id: u64,
    /// The exit code, when it ended by itself. A template may have chosen it.
    pub code: Option<i32>,
    /// The signal, when one ended it. One of [`WALLS`]: its walls could not be built.
    pub signal: Option<i32>,
    /// Processor time in microseconds.
    pub cpu: u64,
    /// Most memory that it had, in KiB.
    pub memory: u64,
}

/// A packet that is none of ours.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a control packet that cannot be read")]
pub struct Unreadable;

/// Longest packet in bytes.
const LONGEST: usize = 33;

impl Order {
    /// The packet.
    pub fn encode(&self) -> Vec<u8> {
        match *self {
            Order::Start { id, session } => packet(b'S', &[id, u64::from(session)]),
            Order::Ping => packet(b'H', &[]),
            Order::Quit => packet(b'Q', &[]),
        }
    }

    /// Reads a packet.
    ///
    /// # Errors
    /// When it is none.
    pub fn decode(packet: &[u8]) -> Result<Self, Unreadable> {
        match numbers(packet)? {
            (b'S', [id, session @ (0 | 1), 0, 0]) => Ok(Order::Start { id, session: session == 1 }),
            (b'H', [0, 0, 0, 0]) => Ok(Order::Ping),
            (b'Q', [0, 0, 0, 0]) => Ok(Order::Quit),
            _ => Err(Unreadable),
        }
    }
}

impl Notice {
    /// The packet.
    pub fn encode(&self) -> Vec<u8> {
        match *self {
            Notice::Ready { layers, landlock } => {
                packet(b'R', &[u64::from(layers), u64::from(landlock)])
            }
            Notice::Started { id } => packet(b'P', &[id]),
            Notice::Ended(Ended { id, code, signal, cpu, memory }) => {
                let status = code.map_or(0, |code| 1 << 32 | u64::from(code.cast_unsigned()))
                    | signal.map_or(0, |signal| 2 << 32 | u64::from(signal.cast_unsigned()));
                packet(b'X', &[id, status, cpu, memory])
            }
            Notice::Refused { id, errno } => packet(b'E', &[id, u64::from(errno.cast_unsigned())]),
            Notice::Pong => packet(b'h', &[]),
        }
    }

    /// Reads a packet.
    ///
    /// # Errors
    /// When it is none.
    pub fn decode(packet: &[u8]) -> Result<Self, Unreadable> {
        let narrow = |number: u64| u32::try_from(number).map_err(|_| Unreadable);
        match numbers(packet)? {
            (b'R', [layers, landlock, 0, 0]) => {
                Ok(Notice::Ready { layers: narrow(layers)?, landlock: narrow(landlock)? })
            }
            (b'P', [id, 0, 0, 0]) => Ok(Notice::Started { id }),
            (b'X', [id, status, cpu, memory]) => {
                let number = narrow(status & 0xffff_ffff)?.cast_signed();
                let (code, signal) = match status >> 32 {
                    1 => (Some(number), None),
                    2 => (None, Some(number)),
                    _ => return Err(Unreadable),
                };
                Ok(Notice::Ended(Ended { id, code, signal, cpu, memory }))
            }
            (b'E', [id, errno, 0, 0]) => {
                Ok(Notice::Refused { id, errno: narrow(errno)?.cast_signed() })
            }
            (b'h', [0, 0, 0, 0]) => Ok(Notice::Pong),
            _ => Err(Unreadable),
        }
    }
}

fn packet(letter: u8, numbers: &[u64]) -> Vec<u8> {
    let mut packet = vec![letter];
    for number in numbers {
        packet.extend_from_slice(&number.to_be_bytes());
    }
    packet
}

/// The letter, and up to four numbers; those that are not there are 0.
fn numbers(packet: &[u8]) -> Result<(u8, [u64; 4]), Unreadable> {
    let (&letter, rest) = packet.split_first().ok_or(Unreadable)?;
    let (words, odd) = rest.as_chunks::<8>();
    if packet.len() > LONGEST || !odd.is_empty() {
        return Err(Unreadable);
    }
    let mut numbers = [0; 4];
    for (number, word) in numbers.iter_mut().zip(words) {
        *number = u64::from_be_bytes(*word);
    }
    Ok((letter, numbers))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_packet_reads_back_as_what_was_sent() {
        for order in [
            Order::Start { id: 7, session: true },
            Order::Start { id: u64::MAX, session: false },
            Order::Ping,
            Order::Quit,
        ] {
            assert_eq!(Order::decode(&order.encode()), Ok(order));
        }
        for notice in [
            Notice::Ready { layers: 15, landlock: 7 },
            Notice::Started { id: 3 },
            Notice::Ended(Ended { id: 3, code: Some(0), signal: None, cpu: 1, memory: 2 }),
            Notice::Ended(Ended { id: 3, code: None, signal: Some(31), cpu: 1, memory: 2 }),
            Notice::Refused { id: 1, errno: 11 },
            Notice::Pong,
        ] {
            assert_eq!(Notice::decode(&notice.encode()), Ok(notice));
        }
    }
}
