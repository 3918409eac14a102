//! The `expression` generator: text with `[class]{n}` groups, each replaced by n random characters.
//!
//! The grammar and the error texts are upstream's (library-go `pkg/template/generator`), including
//! which classes it refuses and how it spells "expresion". Three things differ on purpose: ranges
//! include their last character (`[a-z]` yields `z`), classes are read member by member (`[\wA-Z]`
//! is what it looks like), and generated text is not searched for groups again.

/// A source of uniform random numbers. The production source is the operating system's; it lives
/// outside this crate, which has no randomness of its own.
pub trait Random {
    /// A number in `0..bound`, every one equally likely. `bound` is never 0.
    fn below(&mut self, bound: u32) -> u32;
}

/// In the order of ranges.
const ALPHANUMERICS: &str = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
const DIGITS: &str = "0123456789";
const SYMBOLS: &str = "~!@#$%^&*()-_+={}[]\\|<,>.?/\"';:`";

/// The longest group, in characters.
const MAX_LENGTH: u64 = 255;

/// Generates one value for the expression `from`.
///
/// # Errors
/// Upstream's text, when a group has a class that it does not know or a length outside 1 to 255.
pub(crate) fn generate(from: &str, random: &mut dyn Random) -> Result<String, String> {
    let mut value = String::with_capacity(from.len());
    let mut rest = from;
    while let Some(group) = Group::find(rest) {
        let length = group.length()?;
        let alphabet = alphabet(group.class)?;
        value.push_str(group.before);
        value.extend((0..length).map(|_| pick(&alphabet, random)));
        rest = group.after;
    }
    value.push_str(rest);
    Ok(value)
}

fn pick(alphabet: &[u8], random: &mut dyn Random) -> char {
    let bound = u32::try_from(alphabet.len()).expect("an alphabet is a set of ASCII characters");
    char::from(alphabet[random.below(bound) as usize])
}

/// The leftmost `[class]{n}` of a text, and what surrounds it.
struct Group<'f> {
    before: &'f str,
    /// Without its brackets; only letters, digits, `-` and `\`.
    class: &'f str,
    digits: &'f str,
    after: &'f str,
}

impl<'f> Group<'f> {
    fn find(text: &'f str) -> Option<Self> {
        let mut from = 0;
        while let Some(open) = text[from..].find('[').map(|at| from + at) {
            if let Some((class, digits, after)) = Self::read(&text[open + 1..]) {
                return Some(Group { before: &text[..open], class, digits, after });
            }
            from = open + 1;
        }
        None
    }

    fn read(text: &'f str) -> Option<(&'f str, &'f str, &'f str)> {
        let is_class = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '\\';
        let (class, rest) = split_run(text, is_class)?;
        let (digits, rest) = split_run(rest.strip_prefix("]{")?, |c| c.is_ascii_digit())?;
        Some((class, digits, rest.strip_prefix('}')?))
    }

    /// The checks in upstream's order: first the class, then the length.
    fn length(&self) -> Result<u64, String> {
        if !is_known(self.class) {
            return Err(malformed(self.class));
        }
        // Upstream's integer saturates at the largest 64-bit one, and its text shows that.
        let length = self.digits.parse().unwrap_or(u64::MAX).min(i64::MAX.unsigned_abs());
        if (1..=MAX_LENGTH).contains(&length) {
            Ok(length)
        } else {
            Err(format!("range must be within [1-255] characters ({length})"))
        }
    }
}

/// The longest non-empty prefix of `wanted` characters, and the rest.
fn split_run(text: &str, wanted: impl Fn(char) -> bool) -> Option<(&str, &str)> {
    let end = text.find(|c| !wanted(c)).unwrap_or(text.len());
    (end > 0).then(|| text.split_at(end))
}

/// Upstream knows a class that starts with one of its escapes or ends with a range.
fn is_known(class: &str) -> bool {
    let bytes = class.as_bytes();
    matches!(bytes, [b'\\', b'w' | b'd' | b'a' | b'A', ..])
        || matches!(bytes, [.., from, b'-', to]
            if from.is_ascii_alphanumeric() && to.is_ascii_alphanumeric())
}

fn malformed(class: &str) -> String {
    format!("malformed expresion syntax: [{class}]")
}

/// The characters of a class, each once, in upstream's order so that a seeded source replays.
fn alphabet(class: &str) -> Result<Vec<u8>, String> {
    let mut members = Vec::with_capacity(128);
    let mut rest = class.as_bytes();
    loop {
        rest = match rest {
            [] => break,
            [b'\\', escape, tail @ ..] => {
                let sets = escaped(*escape).ok_or_else(|| malformed(class))?;
                members.extend(sets.iter().flat_map(|set| set.bytes()));
                tail
            }
            [from, b'-', to, tail @ ..]
                if from.is_ascii_alphanumeric() && to.is_ascii_alphanumeric() =>
            {
                members.extend_from_slice(range(*from, *to)?);
                tail
            }
            [single, tail @ ..] => {
                members.push(*single);
                tail
            }
        }
    }
    let mut seen = [false; 128];
    members.retain(|&byte| !std::mem::replace(&mut seen[usize::from(byte)], true));
    Ok(members)
}

fn escaped(escape: u8) -> Option<&'static [&'static str]> {
    match escape {
        b'w' => Some(&[ALPHANUMERICS, "_"]),
        b'd' => Some(&[DIGITS]),
        b'a' => Some(&[ALPHANUMERICS]),
        b'A' => Some(&[SYMBOLS]),
        _ => None,
    }
}

/// Both ends included; the order is a to z, A to Z, 0 to 9.
fn range(from: u8, to: u8) -> Result<&'static [u8], String> {
    match (place(from), place(to)) {
        (Some(first), Some(last)) if first <= last => Ok(&ALPHANUMERICS.as_bytes()[first..=last]),
        _ => {
            let (from, to) = (char::from(from), char::from(to));
            Err(format!("invalid range specified: {from}-{to}"))
        }
    }
}

/// Where a character stands among [`ALPHANUMERICS`].
fn place(byte: u8) -> Option<usize> {
    let (before, first) = match byte {
        b'a'..=b'z' => (0, b'a'),
        b'A'..=b'Z' => (26, b'A'),
        b'0'..=b'9' => (52, b'0'),
        _ => return None,
    };
    Some(before + usize::from(byte - first))
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Always(u32);
    impl Random for Always {
        fn below(&mut self, bound: u32) -> u32 {
            self.0.min(bound - 1)
        }
    }

    fn check(from: &str, first: &str, last: &str) {
        assert_eq!(generate(from, &mut Always(0)).as_deref(), Ok(first), "{from}");
        assert_eq!(generate(from, &mut Always(u32::MAX)).as_deref(), Ok(last), "{from}");
    }

    fn refused(from: &str, text: &str) {
        assert_eq!(generate(from, &mut Always(0)), Err(text.to_owned()), "{from}");
    }

    fn class(class: &str, want: &str) {
        let mut members = alphabet(class).unwrap();
        members.sort_unstable();
        assert_eq!(String::from_utf8(members).unwrap(), want, "{class}");
    }

    #[test]
    fn groups_are_replaced_and_the_rest_is_kept() {
        check("user[A-Z0-9]{3}", "userAAA", "user999");
        check("x[0-1]{2}-[a-f]{1}y", "x00-ay", "x11-fy");
        check("[a-a]{1}", "a", "a");
        check("[a-z]{0005}", "aaaaa", "zzzzz");
        check("[[a-c]{1}]{2}", "[a]{2}", "[c]{2}");
    }

    #[test]
    fn what_is_no_group_is_literal_text() {
        for text in [
            "",
            "plain",
            "[a-z]",
            "[a-z]{1,3}",
            "[_]{3}",
            "(abc)?",
            "[a-zA-Z0-9_]{4}",
            "[!-~]{3}",
            "[]{1}",
            "[a-z]{}",
            "[é]{2}",
        ] {
            check(text, text, text);
        }
    }

    #[test]
    fn classes_mean_what_they_look_like() {
        class("a-e", "abcde");
        class("abc0-9", "0123456789abc");
        class("-a-c", "-abc");
        class("\\da-c", "0123456789abc");
        class("X-Z-a-b", "-XYZab");
        class("a-Z", "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz");
        class("z-A", "Az");
        class("aaa-a", "a");
        class("\\A", "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~");
        assert_eq!(alphabet("\\w").unwrap().len(), 63);
        assert_eq!(alphabet("\\a\\A").unwrap().len(), 94);
    }

    #[test]
    fn refusals_carry_the_upstream_text() {
        for class in ["[ABC]", "[a-z\\d]", "[A-Z0-9-]", "[\\D]", "[\\s]", "[\\]", "[\\Da-z]"] {
            refused(&format!("{class}{{3}}"), &format!("malformed expresion syntax: {class}"));
        }
        refused("[Z-A]{3}", "invalid range specified: Z-A");
        refused("[A-z]{3}", "invalid range specified: A-z");
        refused("[a-z0-Z0-9]{8}", "invalid range specified: 0-Z");
        refused("[A-Z]{0}", "range must be within [1-255] characters (0)");
        refused("[A-Z]{300}", "range must be within [1-255] characters (300)");
        refused("ok[a-z]{2}[ABC]{1}", "malformed expresion syntax: [ABC]");
        refused(
            "[a-z]{99999999999999999999}",
            "range must be within [1-255] characters (9223372036854775807)",
        );
    }

    #[test]
    fn generated_text_is_not_read_as_a_group_again() {
        struct Script(std::vec::IntoIter<u32>);
        impl Random for Script {
            fn below(&mut self, _: u32) -> u32 {
                self.0.next().unwrap()
            }
        }
        let place = |c| u32::try_from(SYMBOLS.find(c).unwrap()).unwrap();
        let mut script = Script(vec![place('['), place(']')].into_iter());
        let value = generate("[\\A]{1}a-z[\\A]{1}{3}", &mut script);
        assert_eq!(value.as_deref(), Ok("[a-z]{3}"));
    }
}
