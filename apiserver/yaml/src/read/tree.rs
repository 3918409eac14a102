//! A caller's values as a target, by PyYAML's rules: members stay in the order in which they are written.

use std::marker::PhantomData;

use super::node::Rules;
use super::tag::Scalar;
use super::target::{DUPLICATES, Key, Target, repeated};

/// A value that YAML is read into, with everything in it. Nothing but `safe_load` makes one of YAML.
pub trait Tree: Clone {
    /// A map's members by key.
    type Members: Default + IntoIterator<Item = (String, Self)>;

    /// A scalar; its floats are finite.
    fn scalar(scalar: Scalar<'_>) -> Self;
    /// A list.
    fn list(items: Vec<Self>) -> Self;
    /// A map.
    fn map(members: Self::Members) -> Self;

    /// Adds a member behind all others. A key that is there keeps its place and takes the new value, and is answered.
    fn insert(members: &mut Self::Members, key: String, value: Self) -> Option<&str>;
    /// The items of a list; anything else is given back.
    ///
    /// # Errors
    /// The value, when it is no list.
    fn into_list(self) -> Result<Vec<Self>, Self>;
    /// The members of a map.
    fn into_map(self) -> Option<Self::Members>;

    /// How many bytes it takes as JSON without white space. Copies by aliases are bounded by that.
    fn json_length(&self) -> usize;
}

/// Makes a caller's values.
pub(super) struct Values<V> {
    duplicates: Vec<String>,
    made: PhantomData<V>,
}

/// A Python dictionary: what is merged comes first and yields to what the map says itself. Of equal keys the first one has
/// the place and the last one the value.
pub(super) struct Dictionary<M> {
    merged: Option<M>,
    own: M,
}

impl<V> Default for Values<V> {
    fn default() -> Self {
        Self { duplicates: Vec::new(), made: PhantomData }
    }
}

impl<V: Tree> Target for Values<V> {
    const RULES: Rules = Rules::Python;
    type Node = V;
    type Kept = V;
    type List = Vec<V>;
    type Map = Dictionary<V::Members>;
    type Key = (String, bool);
    type Document = V;

    fn scalar(&mut self, scalar: Scalar<'_>) -> V {
        V::scalar(scalar)
    }

    fn open_list(&mut self) -> Vec<V> {
        Vec::new()
    }

    fn item(&mut self, list: &mut Vec<V>, item: V) {
        list.push(item);
    }

    fn close_list(&mut self, list: Vec<V>) -> V {
        V::list(list)
    }

    fn open_map(&mut self) -> Self::Map {
        Dictionary { merged: None, own: V::Members::default() }
    }

    fn key(&mut self, _: &Self::Map, key: Key<'_>) -> (String, bool) {
        (key.text.into_owned(), key.bare)
    }

    fn member(&mut self, map: &mut Self::Map, (key, bare): (String, bool), value: V, line: usize) {
        let known = V::insert(&mut map.own, key, value);
        if let Some(key) = known.filter(|_| self.duplicates.len() < DUPLICATES) {
            self.duplicates.push(repeated(key, bare, line));
        }
    }

    fn merge(&mut self, map: &mut Self::Map, from: V, _: usize) -> Option<()> {
        let maps = match from.into_list() {
            Ok(items) => items.into_iter().map(V::into_map).collect::<Option<Vec<_>>>()?,
            Err(one) => vec![one.into_map()?],
        };
        let merged = map.merged.get_or_insert_default();
        for (key, value) in maps.into_iter().rev().flatten() {
            V::insert(merged, key, value);
        }
        Some(())
    }

    fn close_map(&mut self, map: Self::Map) -> V {
        let Some(mut merged) = map.merged else { return V::map(map.own) };
        for (key, value) in map.own {
            V::insert(&mut merged, key, value);
        }
        V::map(merged)
    }

    fn length(&self, node: &V) -> usize {
        node.json_length()
    }

    fn keep(&mut self, node: &V) -> V {
        node.clone()
    }

    fn kept_length(&self, kept: &V) -> usize {
        kept.json_length()
    }

    fn repeat(&mut self, kept: &V) -> V {
        kept.clone()
    }

    fn finish(&mut self, node: V) -> (V, Vec<String>) {
        (node, std::mem::take(&mut self.duplicates))
    }
}
