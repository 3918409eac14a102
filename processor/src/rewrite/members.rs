//! The members of a map, and which of them are left when keys repeat.
//!
//! JSON may repeat a key, and substitution may make two keys equal. The last one counts. (Where
//! substitution makes keys collide, upstream's winner depends on Go's map order.) The check sorts
//! large maps, so a map of a hundred thousand keys costs little more than reading it.

use std::borrow::Cow;
use std::cmp::Reverse;
use std::collections::BTreeSet;

use super::{Result, Rewriter, Wrote};

/// A member of a map, by its places in the output.
pub(super) struct Member<'a> {
    /// The key after substitution.
    pub(super) name: Cow<'a, str>,
    /// The key before substitution, where that changed it.
    pub(super) renamed: Option<Box<str>>,
    /// Where the key starts.
    pub(super) start: usize,
    /// Where the value starts.
    pub(super) value: usize,
    /// Where the value ends.
    pub(super) end: usize,
    pub(super) wrote: Wrote,
    /// Whether it is in the result: not when it removes itself, nor, once the map is settled, when
    /// another one has its name.
    pub(super) alive: bool,
}

/// A map that has been read; its members are on the stack.
pub(super) struct Map {
    /// Index of its first member on the stack.
    pub(super) first: usize,
    /// Where a new member goes, after all that are there.
    pub(super) end: usize,
    is_empty: bool,
    /// Whether members have been cut out.
    pub(super) is_thinned: bool,
}

/// Up to here comparing every pair is cheaper than sorting.
const FEW: usize = 16;

impl<'a> Rewriter<'a> {
    /// Decides which members of a complete map are left and cuts the others out.
    pub(super) fn settle(&mut self, first: usize, inside: usize) -> Map {
        let members = &mut self.members[first..];
        let end = members.last().map_or(inside, |last| last.end);
        // In an object that has an outline keys are known to differ.
        let is_clear = self.outline.is_some() && members.iter().all(|member| member.alive);
        if is_clear || !choose(members) {
            let is_empty = members.is_empty();
            return Map { first, end, is_empty, is_thinned: false };
        }
        let kept = members.iter().rposition(|member| member.alive);
        let tail = kept.map_or(0, |last| last + 1);
        for pair in members[..tail].windows(2) {
            if !pair[0].alive {
                self.edits.cut(pair[0].start..pair[1].start);
            }
        }
        if tail < members.len() {
            self.edits.cut(kept.map_or(inside, |last| members[last].end)..end);
        }
        let is_empty = kept.is_none();
        Map { first, end, is_empty, is_thinned: true }
    }

    /// The member of that name that is left.
    pub(super) fn find(&self, map: &Map, name: &str) -> Option<&Member<'a>> {
        let members = self.members[map.first..].iter();
        members.rev().find(|member| member.alive && member.name == name)
    }

    /// Adds members at the end of a map: `write` appends `"key":value`.
    pub(super) fn insert(&mut self, map: &mut Map, write: impl FnOnce(&mut String)) -> Result<()> {
        let comma = if std::mem::replace(&mut map.is_empty, false) { "" } else { "," };
        if map.end < self.out.len() {
            return self.put(map.end..map.end, |text| {
                text.push_str(comma);
                write(text);
            });
        }
        self.copy_until(map.end);
        self.out.push_str(comma);
        write(&mut self.out);
        let before = std::mem::replace(&mut map.end, self.out.len());
        self.spend(self.out.len() - before)
    }
}

/// Marks the members that are left; true when there are others.
fn choose(members: &mut [Member]) -> bool {
    if members.len() <= FEW && !has_pair(members) {
        return members.iter().any(|member| !member.alive);
    }
    let mut order: Vec<usize> = (0..members.len()).collect();
    order.sort_unstable_by(|&a, &b| {
        (&members[a].name, Reverse(a)).cmp(&(&members[b].name, Reverse(b)))
    });
    // From the last to the first of equal names. A member that removes itself takes along those
    // that it had replaced before substitution, not those that substitution gave its name.
    let (mut won, mut gone) = (false, BTreeSet::new());
    let mut lost = Vec::new();
    for (place, &index) in order.iter().enumerate() {
        let member = &members[index];
        if place == 0 || members[order[place - 1]].name != member.name {
            won = false;
            gone.clear();
        }
        if member.wrote == Wrote::Nothing {
            gone.insert(&member.renamed);
            lost.push(index);
        } else if won || gone.contains(&member.renamed) {
            lost.push(index);
        } else {
            won = true;
        }
    }
    for &index in &lost {
        members[index].alive = false;
    }
    !lost.is_empty()
}

fn has_pair(members: &[Member]) -> bool {
    let mut rest = members;
    while let [member, others @ ..] = rest {
        if others.iter().any(|other| other.name == member.name) {
            return true;
        }
        rest = others;
    }
    false
}
