//! Maps: their keys, their members, and what is merged into them.

use granit_parser::{Event, ScalarStyle, Span};

use super::super::ReadError;
use super::super::tag::Scalar;
use super::super::target::{Key, Target};
use super::{Anchored, Reader, Rules, circular, finite, is_block};
use crate::scalar::key_float;

impl<'a, T: Target> Reader<'a, T> {
    pub(super) fn map(&mut self) -> Result<T::Node, ReadError> {
        let mut map = self.target.open_map();
        loop {
            let (event, span) = self.next()?;
            if matches!(event, Event::MappingEnd) {
                return Ok(self.target.close_map(map));
            }
            if is_merge(&event) {
                self.merge(&mut map)?;
                continue;
            }
            let key = self.key(event, &span)?;
            let (event, value) = self.next()?;
            if self.levels() == 1 && matches!(event, Event::SequenceStart(..)) {
                self.lines.push((key.text.clone().into_owned(), Vec::new()));
            }
            // The span of a block begins behind its `|`; what counts is the line of that.
            let block = matches!(event, Event::Scalar(_, style, _, _) if is_block(style));
            let line = if block { span.end.line() } else { value.start.line() };
            let key = self.target.key(&map, key);
            let value = self.node(event, &value)?;
            self.target.member(&mut map, key, value, line);
        }
    }

    fn merge(&mut self, map: &mut T::Map) -> Result<(), ReadError> {
        let (event, span) = self.next()?;
        let lines = std::mem::take(&mut self.lines);
        let from = self.node(event, &span)?;
        self.lines = lines;
        let merged = self.target.merge(map, from, span.start.line());
        let message = "map merge requires map or sequence of maps as the value";
        merged.ok_or_else(|| ReadError::at(&span, message))
    }

    fn key(&mut self, event: Event<'a>, span: &Span) -> Result<Key<'a>, ReadError> {
        let (value, style, anchor, tag) = match event {
            Event::Scalar(value, style, anchor, tag) => (value, style, anchor, tag),
            Event::Alias(id) => return self.key_by_alias(id, span),
            _ => return Err(invalid(span)),
        };
        let as_written = T::RULES == Rules::Python;
        if as_written && anchor == 0 && tag.is_none() {
            // What it would mean as a value does not matter: `=` is a key like any other.
            return Ok(Key { text: value, bare: false });
        }
        let written = as_written.then(|| value.clone());
        let scalar = T::RULES.scalar(value, style, tag.as_deref(), span)?;
        if anchor != 0 {
            finite(&scalar, span)?;
            self.keep_scalar(anchor, &scalar, span)?;
        }
        match (written, scalar) {
            (Some(text), _) | (None, Scalar::Text(text)) => Ok(Key { text, bare: false }),
            (None, Scalar::Null) => Err(ReadError::at(span, "unsupported map key of type: null")),
            (None, Scalar::Float(key)) => Ok(Key { text: key_float(key).into(), bare: true }),
            (None, other) => Ok(Key { text: other.json(T::RULES).into(), bare: true }),
        }
    }

    fn key_by_alias(&mut self, id: usize, span: &Span) -> Result<Key<'a>, ReadError> {
        let key = match self.anchors.get(&id).ok_or_else(|| circular(span))? {
            Anchored::Scalar(Scalar::Text(text)) => Key { text: text.clone(), bare: false },
            Anchored::Scalar(Scalar::Null) | Anchored::Collection { .. } => {
                return Err(invalid(span));
            }
            Anchored::Scalar(other) => Key { text: other.json(T::RULES).into(), bare: true },
        };
        self.spend(key.text.len(), span)?;
        Ok(key)
    }
}

fn invalid(span: &Span) -> ReadError {
    ReadError::at(span, "invalid map key")
}

fn is_merge(event: &Event<'_>) -> bool {
    matches!(event, Event::Scalar(value, ScalarStyle::Plain, _, None) if value == "<<")
}
