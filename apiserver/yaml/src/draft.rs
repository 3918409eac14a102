//! Text that is written front to back, while the members of its maps get their final order later.
//!
//! Moving the members of a map when it is complete would copy a deeply nested text once per level.
//! A draft only notes the order and moves every byte once, in the end.

use std::ops::Range;

/// A text and the changes of order that are still to be made.
#[derive(Debug, Default)]
pub(super) struct Draft {
    /// What was written so far, in the order in which it was written.
    pub(super) text: String,
    moves: Vec<Move>,
}

#[derive(Debug)]
struct Move {
    /// Where the parts stand now, from the first to the last.
    whole: Range<usize>,
    /// What is to stand there.
    parts: Vec<Range<usize>>,
}

impl Draft {
    /// Gives the members of a map another order. `members` stand one behind the other, all with the same
    /// separator between them; `order` may leave some of them out.
    pub(super) fn reorder(&mut self, members: &[Range<usize>], order: &[usize]) {
        let ([first, second, ..], Some(last)) = (members, members.last()) else { return };
        let separator = first.end..second.start;
        let mut parts = Vec::with_capacity(order.len() * 2);
        for &index in order {
            if !parts.is_empty() {
                parts.push(separator.clone());
            }
            parts.push(members[index].clone());
        }
        self.moves.push(Move { whole: first.start..last.end, parts });
    }

    /// Takes everything from `start` on out of the draft, in its final order.
    pub(super) fn take(&mut self, start: usize) -> String {
        let text = self.copy(start);
        self.text.truncate(start);
        self.moves.truncate(self.moves_before(start));
        text
    }

    /// Everything from `start` on, in its final order. A node begins there, and every map that began before
    /// is still open.
    pub(super) fn copy(&mut self, start: usize) -> String {
        let first = self.moves_before(start);
        let moves = &mut self.moves[first..];
        // No two maps begin at the same place: a key stands before every nested one.
        moves.sort_unstable_by_key(|one| one.whole.start);
        let mut out = String::with_capacity(self.text.len() - start);
        assemble(&self.text, moves, start..self.text.len(), &mut out);
        out
    }

    /// The whole text in its final order.
    pub(super) fn finish(mut self) -> String {
        if self.moves.is_empty() { self.text } else { self.copy(0) }
    }

    /// How many moves are about the text before `start`. A map's move is noted when the map is complete,
    /// so those about what follows are the last ones.
    fn moves_before(&self, start: usize) -> usize {
        self.moves.iter().rposition(|one| one.whole.start < start).map_or(0, |last| last + 1)
    }
}

/// Recursion is as deep as maps are nested, which the readers limit.
fn assemble(text: &str, moves: &[Move], range: Range<usize>, out: &mut String) {
    let mut at = range.start;
    let mut next = moves.partition_point(|one| one.whole.start < at);
    while let Some(one) = moves.get(next).filter(|one| one.whole.start < range.end) {
        // The map whose member this range is begins here, too, and ends behind it.
        if one.whole.end <= range.end {
            out.push_str(&text[at..one.whole.start]);
            for part in &one.parts {
                assemble(text, moves, part.clone(), out);
            }
            at = one.whole.end;
        }
        let from = at.max(one.whole.start + 1);
        next += 1 + moves[next + 1..].partition_point(|one| one.whole.start < from);
    }
    out.push_str(&text[at..range.end]);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nested_members_are_moved_with_their_map() {
        let mut draft = Draft { text: "{b:{d,c},a}!".into(), moves: Vec::new() };
        draft.reorder(&[4..5, 6..7], &[1, 0]);
        assert_eq!(draft.copy(3), "{c,d},a}!");
        draft.reorder(&[1..8, 9..10], &[1, 0]);
        assert_eq!(draft.finish(), "{a,b:{c,d}}!");
    }

    #[test]
    fn members_can_be_left_out_and_text_be_taken_back() {
        let mut draft = Draft { text: "{y,x}{a, a, b}".into(), moves: Vec::new() };
        draft.reorder(&[1..2, 3..4], &[1, 0]);
        draft.reorder(&[6..7, 9..10, 12..13], &[1, 2]);
        assert_eq!(draft.take(5), "{a, b}");
        assert_eq!(draft.finish(), "{x,y}");
    }
}
