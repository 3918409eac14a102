//! Nodes: the parser's events come in, one document after the other, and what a target makes of them goes out.

mod map;

use std::borrow::Cow;
use std::collections::HashMap;

use granit_parser::{Event, Parser, ScalarStyle, Span, StrInput, Tag};

use super::tag::{Scalar, go_scalar, python_collection, python_scalar};
use super::target::Target;
use super::{Loaded, ReadError};
use crate::python;
use crate::scalar::json_float;
use crate::{COPIED, DEPTH_IN, DEPTH_LOADED, LARGEST_LOADED, VALUE_LOADED};

/// Whose reading of YAML counts.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Rules {
    /// Go's: members sorted, keys as Go prints them.
    Go,
    /// PyYAML's: members and keys as they are written.
    Python,
}

impl Rules {
    /// How many lists and maps may be open at once.
    fn depth(self) -> usize {
        match self {
            Self::Go => DEPTH_IN,
            Self::Python => DEPTH_LOADED,
        }
    }

    /// How many values a document may have.
    fn values(self) -> usize {
        match self {
            // JSON text takes little more memory than the YAML.
            Self::Go => usize::MAX,
            Self::Python => LARGEST_LOADED / VALUE_LOADED,
        }
    }

    fn scalar<'a>(
        self,
        value: Cow<'a, str>,
        style: ScalarStyle,
        tag: Option<&Tag>,
        span: &Span,
    ) -> Result<Scalar<'a>, ReadError> {
        match self {
            Self::Go => go_scalar(value, style, tag, span),
            Self::Python => python_scalar(value, style, tag, span),
        }
    }

    fn collection(self, kind: &str, tag: Option<&Tag>, span: &Span) -> Result<(), ReadError> {
        match self {
            Self::Go => Ok(()),
            Self::Python => python_collection(kind, tag, span),
        }
    }

    /// A finite float as JSON.
    pub(super) fn float(self, value: f64) -> String {
        match self {
            Self::Go => json_float(value),
            Self::Python => python::print_float(value),
        }
    }
}

/// A text that is being read.
pub(super) struct Reader<'a, T: Target> {
    parser: Parser<'a, StrInput<'a>>,
    target: T,
    /// How long the text is, when no line break ends it and PyYAML's rules hold.
    unended: Option<usize>,
    /// Every complete anchored node.
    anchors: HashMap<usize, Anchored<'a, T::Kept>>,
    /// How many bytes of JSON anchors and aliases may still copy.
    allowance: usize,
    /// How many lists and maps may still be opened.
    depth: usize,
    /// How many values the document may still have.
    values: usize,
    /// For each list that is a member of the map at the top, its key and the lines of its items.
    lines: Vec<(String, Vec<usize>)>,
}

/// A node that aliases may repeat.
enum Anchored<'a, K> {
    Scalar(Scalar<'a>),
    /// A list or map, and how many values it has with itself.
    Collection {
        kept: K,
        values: usize,
    },
}

impl<'a, T: Target> Reader<'a, T> {
    pub(super) fn new(text: &'a str) -> Self {
        let depth = T::RULES.depth();
        let mut options = granit_parser::options! {
            flow_nesting_limit: depth,
            block_nesting_limit: depth,
        };
        options.set_emit_comments(false);
        let last_line = text.rsplit(['\n', '\r']).next().unwrap_or_default();
        let unended = T::RULES == Rules::Python && !last_line.trim().is_empty();
        Self {
            parser: Parser::new_from_str_with_options(text, options),
            target: T::default(),
            unended: unended.then_some(text.len()),
            anchors: HashMap::new(),
            allowance: COPIED,
            depth,
            values: T::RULES.values(),
            lines: Vec::new(),
        }
    }

    fn next(&mut self) -> Result<(Event<'a>, Span), ReadError> {
        match self.parser.next_event() {
            Some(Ok(event)) => Ok(event),
            Some(Err(error)) => {
                let line = Some(error.marker().line());
                Err(ReadError { line, message: super::shown(&error.info()) })
            }
            None => Ok((Event::StreamEnd, Span::default())),
        }
    }

    /// The next document, or `None` behind the last one.
    pub(super) fn document(&mut self) -> Result<Option<Loaded<T::Document>>, ReadError> {
        loop {
            match self.next()? {
                (Event::StreamStart | Event::DocumentStart(..), _) => {}
                (Event::StreamEnd, _) => return Ok(None),
                (Event::DocumentEnd, _) => return Ok(Some(self.null())),
                (event, span) => {
                    let node = self.node(event, &span)?;
                    // An unfinished document behind its node must be found out, too.
                    self.next()?;
                    return Ok(Some(self.loaded(node)));
                }
            }
        }
    }

    /// What an empty document says.
    pub(super) fn null(&mut self) -> Loaded<T::Document> {
        let null = self.target.scalar(Scalar::Null);
        self.loaded(null)
    }

    /// The line where another document begins, if there is one.
    pub(super) fn next_document(&mut self) -> Result<Option<usize>, ReadError> {
        loop {
            match self.next()? {
                (Event::StreamStart | Event::DocumentEnd, _) => {}
                (Event::StreamEnd, _) => return Ok(None),
                (_, span) => return Ok(Some(span.start.line())),
            }
        }
    }

    /// What was read of the document that is complete now.
    fn loaded(&mut self, node: T::Node) -> Loaded<T::Document> {
        self.anchors.clear();
        let (value, duplicates) = self.target.finish(node);
        Loaded { value, duplicates, lines: std::mem::take(&mut self.lines) }
    }

    fn node(&mut self, event: Event<'a>, span: &Span) -> Result<T::Node, ReadError> {
        if let Event::Alias(id) = event {
            return self.alias(id, span);
        }
        let before = self.values;
        self.values = before.checked_sub(1).ok_or_else(too_large)?;
        let (node, anchor) = match event {
            Event::Scalar(value, style, anchor, tag) => {
                let value = self.ended(value, style, span);
                let scalar = T::RULES.scalar(value, style, tag.as_deref(), span)?;
                finite(&scalar, span)?;
                if anchor != 0 {
                    self.keep_scalar(anchor, &scalar, span)?;
                }
                return Ok(self.target.scalar(scalar));
            }
            Event::SequenceStart(_, anchor, tag) => {
                T::RULES.collection("seq", tag.as_deref(), span)?;
                (self.nested(span, Self::list)?, anchor)
            }
            Event::MappingStart(_, anchor, tag) => {
                T::RULES.collection("map", tag.as_deref(), span)?;
                (self.nested(span, Self::map)?, anchor)
            }
            _ => return Err(ReadError::at(span, "did not find expected node content")),
        };
        if anchor != 0 {
            // Anchors may contain anchors: what they hold is bounded like what aliases write.
            self.spend(self.target.length(&node), span)?;
            let kept = self.target.keep(&node);
            let values = before - self.values;
            self.anchors.insert(anchor, Anchored::Collection { kept, values });
        }
        Ok(node)
    }

    /// Repeats an anchored node.
    fn alias(&mut self, id: usize, span: &Span) -> Result<T::Node, ReadError> {
        // Taken out, so that the reader can count while it is looked at.
        let anchored = self.anchors.remove(&id).ok_or_else(|| circular(span))?;
        let (bytes, values) = match &anchored {
            Anchored::Scalar(scalar) => (scalar.json(T::RULES).len(), 1),
            Anchored::Collection { kept, values } => (self.target.kept_length(kept), *values),
        };
        self.spend(bytes, span)?;
        self.values = self.values.checked_sub(values).ok_or_else(|| excessive(span))?;
        let node = match &anchored {
            Anchored::Scalar(scalar) => self.target.scalar(scalar.clone()),
            Anchored::Collection { kept, .. } => self.target.repeat(kept),
        };
        self.anchors.insert(id, anchored);
        Ok(node)
    }

    /// Keeps an anchored scalar, which may be a key.
    fn keep_scalar(
        &mut self,
        anchor: usize,
        scalar: &Scalar<'a>,
        span: &Span,
    ) -> Result<(), ReadError> {
        self.spend(scalar.json(T::RULES).len(), span)?;
        self.anchors.insert(anchor, Anchored::Scalar(scalar.clone()));
        Ok(())
    }

    /// A scalar's text. Where the text ends within a block's last line, PyYAML adds no line break to it. Texts that Jinja
    /// rendered end so.
    fn ended(&self, value: Cow<'a, str>, style: ScalarStyle, span: &Span) -> Cow<'a, str> {
        let at_end = || self.unended.is_some_and(|end| span.end.byte_offset() == Some(end));
        match value.strip_suffix('\n') {
            Some(unended) if is_block(style) && at_end() => unended.to_owned().into(),
            _ => value,
        }
    }

    fn nested(
        &mut self,
        span: &Span,
        inside: impl FnOnce(&mut Self) -> Result<T::Node, ReadError>,
    ) -> Result<T::Node, ReadError> {
        self.depth =
            self.depth.checked_sub(1).ok_or_else(|| ReadError::at(span, "exceeded max depth"))?;
        let node = inside(self)?;
        self.depth += 1;
        Ok(node)
    }

    /// How many lists and maps are open.
    fn levels(&self) -> usize {
        T::RULES.depth() - self.depth
    }

    fn list(&mut self) -> Result<T::Node, ReadError> {
        let mut list = self.target.open_list();
        loop {
            let (event, span) = self.next()?;
            if matches!(event, Event::SequenceEnd) {
                return Ok(self.target.close_list(list));
            }
            if self.levels() == 2
                && let Some((_, lines)) = self.lines.last_mut()
            {
                lines.push(span.start.line());
            }
            self.target.begin_item(&list);
            let item = self.node(event, &span)?;
            self.target.item(&mut list, item);
        }
    }

    /// Counts bytes that are copied.
    fn spend(&mut self, bytes: usize, span: &Span) -> Result<(), ReadError> {
        self.allowance = self.allowance.checked_sub(bytes).ok_or_else(|| excessive(span))?;
        Ok(())
    }
}

fn is_block(style: ScalarStyle) -> bool {
    matches!(style, ScalarStyle::Literal | ScalarStyle::Folded)
}

/// Refuses what is no number in JSON.
fn finite(scalar: &Scalar<'_>, span: &Span) -> Result<(), ReadError> {
    match scalar {
        Scalar::Float(value) if !value.is_finite() => {
            Err(ReadError::at(span, &format!("JSON has no number {value}")))
        }
        _ => Ok(()),
    }
}

fn circular(span: &Span) -> ReadError {
    ReadError::at(span, "anchor value contains itself")
}

fn excessive(span: &Span) -> ReadError {
    ReadError::at(span, "document contains excessive aliasing")
}

fn too_large() -> ReadError {
    let message = format!("it says more than the {LARGEST_LOADED} bytes that are allowed");
    ReadError { line: None, message }
}
