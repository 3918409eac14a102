//! Nodes as JSON: the parser's events come in, one document after the other, and text goes out.

mod map;

use std::borrow::Cow;
use std::collections::HashMap;

use granit_parser::{Event, Parser, ScalarStyle, Span, StrInput, Tag};
use schema::json::write_string;

use super::tag::{Scalar, go_scalar, python_collection, python_scalar};
use super::{Loaded, ReadError};
use crate::draft::Draft;
use crate::python;
use crate::scalar::{Plain, json_float};
use crate::{COPIED, DEPTH_IN, DEPTH_LOADED};

/// How many repeated keys are told: a text may repeat millions, and each is a sentence in memory.
const DUPLICATES: usize = 1000;

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

    fn float(self, value: f64) -> String {
        match self {
            Self::Go => json_float(value),
            Self::Python => python::print_float(value),
        }
    }
}

/// A text that is being read.
pub(super) struct Reader<'a> {
    parser: Parser<'a, StrInput<'a>>,
    rules: Rules,
    /// How long the text is, when no line break ends it and PyYAML's rules hold.
    unended: Option<usize>,
    /// The JSON so far.
    draft: Draft,
    /// The JSON of every complete anchored node.
    anchors: HashMap<usize, String>,
    /// How many bytes anchors and aliases may still copy.
    allowance: usize,
    /// How many lists and maps may still be opened.
    depth: usize,
    /// Where the value ends in the draft, its line, and the key; of very many repeated keys the first [`DUPLICATES`].
    duplicates: Vec<(usize, usize, String)>,
    /// For each list that is a member of the map at the top, its key and the lines of its items.
    lines: Vec<(String, Vec<usize>)>,
}

impl<'a> Reader<'a> {
    pub(super) fn new(text: &'a str, rules: Rules) -> Self {
        let mut options = granit_parser::options! {
            flow_nesting_limit: rules.depth(),
            block_nesting_limit: rules.depth(),
        };
        options.set_emit_comments(false);
        let last_line = text.rsplit(['\n', '\r']).next().unwrap_or_default();
        let unended = rules == Rules::Python && !last_line.trim().is_empty();
        Self {
            parser: Parser::new_from_str_with_options(text, options),
            rules,
            unended: unended.then_some(text.len()),
            draft: Draft::default(),
            anchors: HashMap::new(),
            allowance: COPIED,
            depth: rules.depth(),
            duplicates: Vec::new(),
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
    pub(super) fn document(&mut self) -> Result<Option<Loaded>, ReadError> {
        loop {
            match self.next()? {
                (Event::StreamStart | Event::DocumentStart(..), _) => {}
                (Event::StreamEnd, _) => return Ok(None),
                (Event::DocumentEnd, _) => return Ok(Some(Loaded::null())),
                (event, span) => {
                    self.node(event, &span)?;
                    // An unfinished document behind its node must be found out, too.
                    self.next()?;
                    return Ok(Some(self.loaded()));
                }
            }
        }
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
    fn loaded(&mut self) -> Loaded {
        self.anchors.clear();
        let mut duplicates = std::mem::take(&mut self.duplicates);
        // In the order in which the values end, as upstream reads them.
        duplicates.sort_by_key(|(place, ..)| *place);
        let sentence = |(_, line, key)| format!("line {line}: key {key} already set in map");
        Loaded {
            json: std::mem::take(&mut self.draft).finish(),
            duplicates: duplicates.into_iter().map(sentence).collect(),
            lines: std::mem::take(&mut self.lines),
        }
    }

    /// Writes a node's JSON.
    fn node(&mut self, event: Event<'a>, span: &Span) -> Result<(), ReadError> {
        let start = self.draft.text.len();
        let anchor = match event {
            Event::Alias(id) => {
                let text = self.anchors.get(&id).ok_or_else(|| circular(span))?;
                self.allowance = spend(self.allowance, text.len(), span)?;
                self.draft.text.push_str(text);
                return Ok(());
            }
            Event::Scalar(mut value, style, anchor, tag) => {
                if is_block(style)
                    && self.unended.is_some_and(|end| span.end.byte_offset() == Some(end))
                {
                    // Where the text ends within a block's last line, PyYAML adds no line break to it. Texts that Jinja
                    // rendered end so.
                    value = value.strip_suffix('\n').unwrap_or(&value).to_owned().into();
                }
                let scalar = self.rules.scalar(value, style, tag.as_deref(), span)?;
                self.scalar(&scalar, span)?;
                anchor
            }
            Event::SequenceStart(_, anchor, tag) => {
                self.rules.collection("seq", tag.as_deref(), span)?;
                self.nested(span, Self::list)?;
                anchor
            }
            Event::MappingStart(_, anchor, tag) => {
                self.rules.collection("map", tag.as_deref(), span)?;
                self.nested(span, Self::map)?;
                anchor
            }
            _ => return Err(ReadError::at(span, "did not find expected node content")),
        };
        if anchor != 0 {
            // Anchors may contain anchors: what they hold is bounded like what aliases write.
            self.allowance = spend(self.allowance, self.draft.text.len() - start, span)?;
            let text = self.draft.copy(start);
            self.anchors.insert(anchor, text);
        }
        Ok(())
    }

    fn nested(
        &mut self,
        span: &Span,
        inside: impl FnOnce(&mut Self) -> Result<(), ReadError>,
    ) -> Result<(), ReadError> {
        self.depth =
            self.depth.checked_sub(1).ok_or_else(|| ReadError::at(span, "exceeded max depth"))?;
        inside(self)?;
        self.depth += 1;
        Ok(())
    }

    /// How many lists and maps are open.
    fn levels(&self) -> usize {
        self.rules.depth() - self.depth
    }

    fn list(&mut self) -> Result<(), ReadError> {
        self.draft.text.push('[');
        let start = self.draft.text.len();
        loop {
            let (event, span) = self.next()?;
            if event == Event::SequenceEnd {
                self.draft.text.push(']');
                return Ok(());
            }
            if self.draft.text.len() > start {
                self.draft.text.push(',');
            }
            if self.levels() == 2
                && let Some((_, lines)) = self.lines.last_mut()
            {
                lines.push(span.start.line());
            }
            self.node(event, &span)?;
        }
    }

    fn scalar(&mut self, scalar: &Scalar<'_>, span: &Span) -> Result<(), ReadError> {
        let text = &mut self.draft.text;
        match scalar {
            Scalar::Text(value) => write_string(text, value),
            Scalar::Plain(Plain::Bool(value)) => text.push_str(&value.to_string()),
            Scalar::Plain(Plain::Int(value)) => text.push_str(&value.to_string()),
            Scalar::Plain(Plain::Uint(value)) => text.push_str(&value.to_string()),
            Scalar::Plain(Plain::Float(value)) if value.is_finite() => {
                text.push_str(&self.rules.float(*value));
            }
            Scalar::Plain(Plain::Float(value)) => {
                return Err(ReadError::at(span, &format!("JSON has no number {value}")));
            }
            Scalar::Plain(Plain::Null | Plain::Text) => text.push_str("null"),
        }
        Ok(())
    }
}

fn is_block(style: ScalarStyle) -> bool {
    matches!(style, ScalarStyle::Literal | ScalarStyle::Folded)
}

fn circular(span: &Span) -> ReadError {
    ReadError::at(span, "anchor value contains itself")
}

fn spend(allowance: usize, bytes: usize, span: &Span) -> Result<usize, ReadError> {
    allowance
        .checked_sub(bytes)
        .ok_or_else(|| ReadError::at(span, "document contains excessive aliasing"))
}
