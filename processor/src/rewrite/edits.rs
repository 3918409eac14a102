//! Changes to text that is already written, collected and then made in one pass.

use std::cmp::Reverse;
use std::ops::Range;

/// Replacements of ranges of the output. One inside another is void: the outer one wins.
#[derive(Default)]
pub(super) struct Edits {
    list: Vec<Edit>,
    /// The replacements' texts, one after the other.
    texts: String,
    /// The text being edited, kept to be used again.
    before: String,
}

struct Edit {
    old: Range<usize>,
    /// A range of `texts`.
    new: Range<usize>,
}

impl Edits {
    pub(super) fn clear(&mut self) {
        self.list.clear();
        self.texts.clear();
    }

    pub(super) fn cut(&mut self, old: Range<usize>) {
        self.put(old, |_| {});
    }

    /// Replaces `old` by what `write` appends, and says how much that is.
    pub(super) fn put(&mut self, old: Range<usize>, write: impl FnOnce(&mut String)) -> usize {
        let start = self.texts.len();
        write(&mut self.texts);
        let new = start..self.texts.len();
        let size = new.len();
        self.list.push(Edit { old, new });
        size
    }

    /// Makes all changes; positions are those of `out` before any of them.
    pub(super) fn apply(&mut self, out: &mut String) {
        self.list.sort_by_key(|edit| (edit.old.start, Reverse(edit.old.end)));
        let Some(first) = self.list.first().map(|edit| edit.old.start) else {
            return;
        };
        self.before.clear();
        self.before.push_str(&out[first..]);
        out.truncate(first);
        let mut done = first;
        for edit in self.list.drain(..) {
            if edit.old.start < done {
                continue;
            }
            out.push_str(&self.before[done - first..edit.old.start - first]);
            out.push_str(&self.texts[edit.new]);
            done = edit.old.end;
        }
        out.push_str(&self.before[done - first..]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edits_are_made_in_the_order_of_the_text_and_outer_ones_win() {
        let mut out = "0123456789".to_owned();
        let mut edits = Edits::default();
        edits.put(8..8, |text| text.push('x'));
        edits.cut(4..5);
        edits.put(3..6, |text| text.push_str("[]"));
        edits.cut(1..2);
        edits.put(8..8, |text| text.push('y'));
        edits.apply(&mut out);
        assert_eq!(out, "02[]67xy89");
    }
}
