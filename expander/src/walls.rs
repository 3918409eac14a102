//! The layers of the sandbox, and which of them hold.

use std::collections::BTreeSet;
use std::fmt;
use std::str::FromStr;

/// A layer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Layer {
    /// A list of the few system calls that are allowed.
    Seccomp,
    /// `no_new_privs`: no program gives more rights than one has.
    NoNewPrivs,
    /// Resource limits, and the timer on processor time.
    Rlimits,
    /// Landlock: no files, no sockets, no signals to others.
    Landlock,
    /// Namespaces of their own, and an empty root.
    Namespaces,
}

impl Layer {
    /// All of them, the indispensable first.
    pub const ALL: [Layer; 5] =
        [Layer::Seccomp, Layer::NoNewPrivs, Layer::Rlimits, Layer::Landlock, Layer::Namespaces];

    /// The name, as flags and metrics have it.
    pub fn name(self) -> &'static str {
        match self {
            Layer::Seccomp => "seccomp",
            Layer::NoNewPrivs => "no-new-privs",
            Layer::Rlimits => "rlimits",
            Layer::Landlock => "landlock",
            Layer::Namespaces => "namespaces",
        }
    }
}

impl fmt::Display for Layer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Layer {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let found = Layer::ALL.into_iter().find(|layer| layer.name() == text);
        found.ok_or_else(|| {
            let names: Vec<_> = Layer::ALL.iter().map(|layer| layer.name()).collect();
            format!("there is no layer {text:?}; there are {}", names.join(", "))
        })
    }
}

/// Which layers hold.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Walls {
    /// System calls are filtered.
    pub seccomp: bool,
    /// `no_new_privs` is set.
    pub no_new_privs: bool,
    /// Memory, processor time and the rest are limited.
    pub rlimits: bool,
    /// The Landlock ABI that is enforced; 0 is none.
    pub landlock_abi: u32,
    /// The worker has namespaces of its own.
    pub namespaces: bool,
}

impl Walls {
    /// Reads what a worker says when it is ready: see [`protocol::Notice::Ready`].
    pub(crate) fn from_notice(layers: u32, landlock_abi: u32) -> Self {
        let bit = |bit: u32| layers & bit != 0;
        Self {
            seccomp: bit(1),
            no_new_privs: bit(2),
            rlimits: bit(4),
            landlock_abi,
            namespaces: bit(8),
        }
    }

    /// Whether that layer holds.
    pub fn holds(&self, layer: Layer) -> bool {
        match layer {
            Layer::Seccomp => self.seccomp,
            Layer::NoNewPrivs => self.no_new_privs,
            Layer::Rlimits => self.rlimits,
            Layer::Landlock => self.landlock_abi > 0,
            Layer::Namespaces => self.namespaces,
        }
    }

    /// What holds in both.
    pub(crate) fn weakest(self, other: Self) -> Self {
        Self {
            seccomp: self.seccomp && other.seccomp,
            no_new_privs: self.no_new_privs && other.no_new_privs,
            rlimits: self.rlimits && other.rlimits,
            landlock_abi: self.landlock_abi.min(other.landlock_abi),
            namespaces: self.namespaces && other.namespaces,
        }
    }

    /// What of `minimum` is missing.
    pub(crate) fn missing(&self, minimum: &BTreeSet<Layer>) -> Option<String> {
        let missing: Vec<_> =
            minimum.iter().filter(|layer| !self.holds(**layer)).map(|layer| layer.name()).collect();
        let text = || format!("this machine does not offer {}", missing.join(", "));
        (!missing.is_empty()).then(text)
    }
}

impl fmt::Display for Walls {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, layer) in Layer::ALL.into_iter().enumerate() {
            let separator = if at > 0 { " " } else { "" };
            match layer {
                Layer::Landlock if self.landlock_abi > 0 => {
                    write!(f, "{separator}{layer}=abi{}", self.landlock_abi)?;
                }
                _ => write!(
                    f,
                    "{separator}{layer}={}",
                    if self.holds(layer) { "on" } else { "off" }
                )?,
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_layer_that_is_missing_is_named() {
        let walls = Walls::from_notice(1 | 4, 0);
        let minimum = BTreeSet::from([Layer::Seccomp, Layer::NoNewPrivs, Layer::Landlock]);
        let want = "this machine does not offer no-new-privs, landlock";
        assert_eq!(walls.missing(&minimum).as_deref(), Some(want));
        assert_eq!(walls.missing(&BTreeSet::from([Layer::Rlimits])), None);
        let shown = "seccomp=on no-new-privs=off rlimits=on landlock=off namespaces=off";
        assert_eq!(walls.to_string(), shown);
        assert!(Walls::from_notice(15, 7).to_string().contains("landlock=abi7"));
    }

    #[test]
    fn layers_are_read_by_the_names_that_they_print() {
        for layer in Layer::ALL {
            assert_eq!(layer.to_string().parse(), Ok(layer));
        }
        assert!("gvisor".parse::<Layer>().unwrap_err().contains("no-new-privs"));
    }
}
