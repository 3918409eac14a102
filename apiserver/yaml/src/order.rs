//! The order of a map's keys in YAML: Go's, which counts as people do.

use std::cmp::Ordering;

/// Go's order: letters behind everything else, runs of digits by their number. It is no order at all
/// for some keys (`a10 < a1b < a2 < a10`), hence [`sorted`].
pub(super) fn compare(a: &str, b: &str) -> Ordering {
    let common = a.char_indices().zip(b.chars()).find_map(|((at, x), y)| (x != y).then_some(at));
    let Some(at) = common else { return a.len().cmp(&b.len()) };
    let (Some(x), Some(y)) = (a[at..].chars().next(), b[at..].chars().next()) else {
        return a.len().cmp(&b.len());
    };
    match (x.is_alphabetic(), y.is_alphabetic()) {
        (true, true) => return x.cmp(&y),
        (true, false) => return Ordering::Greater,
        (false, true) => return Ordering::Less,
        (false, false) => {}
    }
    let digits = |text: &str| text.bytes().take_while(u8::is_ascii_digit).count();
    let (p, q) = (&a[at..at + digits(&a[at..])], &b[at..at + digits(&b[at..])]);
    // Zeros count unless nothing but zeros stands before them.
    let counts = a[..at].bytes().rev().take_while(u8::is_ascii_digit).any(|digit| digit != b'0');
    let value = |run: &str| {
        let significant = if counts { run } else { run.trim_start_matches('0') };
        (significant.len(), significant.to_owned())
    };
    value(p).cmp(&value(q)).then(p.len().cmp(&q.len())).then(x.cmp(&y))
}

/// A merge sort. The standard one may panic when the comparison is no total order.
pub(super) fn sorted(
    mut items: Vec<usize>,
    compare: &impl Fn(usize, usize) -> Ordering,
) -> Vec<usize> {
    if items.len() < 2 {
        return items;
    }
    let right = sorted(items.split_off(items.len() / 2), compare);
    let left = sorted(items, compare);
    let mut merged = Vec::with_capacity(left.len() + right.len());
    let (mut left, mut right) = (left.into_iter().peekable(), right.into_iter().peekable());
    while let (Some(&a), Some(&b)) = (left.peek(), right.peek()) {
        let side = if compare(b, a) == Ordering::Less { &mut right } else { &mut left };
        merged.extend(side.next());
    }
    merged.extend(left.chain(right));
    merged
}
