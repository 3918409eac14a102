//! Finding the end of plain text, eight bytes at a time.
//!
//! The bytes of a word are compared all at once, by ordinary arithmetic: taking 1 from a byte
//! borrows its top bit only if the byte is 0, so what the word is XORed with is what is looked for.
//! Bytes above 0x7f have that bit already and are masked out. A borrow may run into the next byte
//! and mark it wrongly, but never one before the first right mark, and only the first is used.

type Word = u64;

const SIZE: usize = size_of::<Word>();
const LOW: Word = Word::from_le_bytes([0x01; SIZE]);
const HIGH: Word = Word::from_le_bytes([0x80; SIZE]);

/// The first `"`, `\` or control character at or after `at`, else the end.
#[inline]
pub(crate) fn text_end(bytes: &[u8], at: usize) -> usize {
    first(bytes, at, b'"', |word| quotes_and_controls(word) | equal(word, b'\\'))
}

/// The first `"`, `\`, `$` or control character at or after `at`, else the end.
#[inline]
pub(crate) fn plain_end(bytes: &[u8], at: usize) -> usize {
    let marks = |word| quotes_and_controls(word) | equal(word, b'\\') | equal(word, b'$');
    first(bytes, at, b'"', marks)
}

/// The first `wanted`, an ASCII character, at or after `at`, else the end.
#[inline]
pub(crate) fn byte(bytes: &[u8], at: usize, wanted: u8) -> usize {
    first(bytes, at, wanted, |word| equal(word, wanted))
}

/// Borrows from bytes that equal `byte`.
const fn equal(word: Word, byte: u8) -> Word {
    (word ^ (LOW * byte as Word)).wrapping_sub(LOW)
}

/// Borrows from bytes that are `"` or control characters: flipping one bit puts the quote (0x22)
/// right behind them (at 0x20), so that one comparison finds both.
const fn quotes_and_controls(word: Word) -> Word {
    (word ^ (LOW * 0x02)).wrapping_sub(LOW * 0x21)
}

/// The first byte at or after `at` that `marks` finds, else the end. `found` is one that it finds.
#[inline(always)]
fn first(bytes: &[u8], at: usize, found: u8, marks: impl Fn(Word) -> Word) -> usize {
    let (words, rest) = bytes.get(at..).unwrap_or_default().as_chunks();
    for (index, word) in words.iter().enumerate() {
        if let Some(place) = place(*word, &marks) {
            return at + index * SIZE + place;
        }
    }
    bytes.len() - rest.len() + last(rest, found, marks)
}

/// As [`first`] in less than a word: it is filled up with what is looked for.
#[cold]
fn last(rest: &[u8], found: u8, marks: impl Fn(Word) -> Word) -> usize {
    let mut word = [found; SIZE];
    word[..rest.len()].copy_from_slice(rest);
    place(word, marks).unwrap_or(rest.len())
}

#[inline]
fn place(word: [u8; SIZE], marks: impl Fn(Word) -> Word) -> Option<usize> {
    let word = Word::from_le_bytes(word);
    let bits = marks(word) & !word & HIGH;
    (bits != 0).then(|| (bits.trailing_zeros() / 8) as usize)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_special_byte_is_found_at_every_offset() {
        for offset in 0..40 {
            for special in ["\"", "\\", "\u{0}", "\u{1}", "\u{1f}"] {
                let text = format!("{}{special}$\"", "é".repeat(offset));
                assert_eq!(text_end(text.as_bytes(), 0), 2 * offset);
                assert_eq!(plain_end(text.as_bytes(), 0), 2 * offset);
            }
            let text = format!("{}${{A}}\"", "x".repeat(offset));
            assert_eq!(plain_end(text.as_bytes(), 0), offset);
            assert_eq!(byte(text.as_bytes(), 0, b'{'), offset + 1);
        }
    }

    #[test]
    fn no_other_byte_is_special() {
        for other in (0x20..=0xff).filter(|byte| !b"\"\\$".contains(byte)) {
            for before in 0..17 {
                let mut bytes = vec![b' '; before];
                bytes.extend([other; 17]);
                bytes.push(b'"');
                assert_eq!(plain_end(&bytes, 0), before + 17, "{other:#x}");
                assert_eq!(text_end(&bytes, 0), before + 17, "{other:#x}");
            }
        }
        assert_eq!(text_end(b"$$$", 1), 3);
        assert_eq!(text_end(b"", 0), 0);
    }
}
