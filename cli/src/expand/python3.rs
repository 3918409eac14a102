//! `--to-python3`: templates of Deployment Manager were written in Python 2; this translates them.
//!
//! The translation is lib2to3's, run in the worker. It is shown as a patch, or written into the files. It is meant to be
//! done once and read: what a template does with bytes or with division, no program knows for certain.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use std::{fs, io};

use anyhow::{Context, bail};
use expander::Terms;
use expansion::{Call, Fault, Import, Language, Limits, Map, Outcome, Rendered};
use similar::TextDiff;
use tokio::time::Instant;

use super::collect;
use super::render::Renderer;
use super::report::printable;
use crate::args::Expand;
use crate::failure::Failure;
use crate::output;

/// How long a file may take, the start of the worker included.
const PATIENCE: Duration = Duration::from_secs(60);

/// Translates the files, each by itself.
///
/// # Errors
/// When a file cannot be read, translated or written. Those before it are done.
pub(super) async fn run(args: &Expand) -> anyhow::Result<()> {
    let renderer = Renderer::new(args.expander.clone(), &["--convert"]);
    for file in &args.arguments {
        let path = Path::new(file);
        let old = collect::read(path).with_context(|| file.clone())?;
        let new = translate(&renderer, file, &old).await?;
        if old == new {
            continue;
        }
        if args.in_place {
            write(path, &new).with_context(|| file.clone())?;
            eprintln!("{file}: translated");
        } else {
            output::to_stdout(&patch(file, &old, &new))?;
        }
    }
    Ok(())
}

async fn translate(renderer: &Renderer, file: &str, text: &str) -> anyhow::Result<String> {
    let import = Import { path: file.to_owned(), content: text.into() };
    let call = Call {
        id: 0,
        language: Language::Python,
        template: file.to_owned(),
        resource: Map::new(),
        env: Map::new(),
        imports: Arc::new(BTreeMap::from([(file.to_owned(), import)])),
    };
    let terms = Terms::new(&Limits::default(), Instant::now() + PATIENCE);
    match renderer.convert(call, terms).await? {
        Outcome::Rendered(Rendered::Text { text, .. }) => Ok(text),
        Outcome::Rendered(Rendered::Data { .. }) => bail!("{file}: the worker gave no text"),
        Outcome::Failed(fault) => Err(refused(file, &fault)),
    }
}

/// `file:line: what is wrong`.
fn refused(file: &str, fault: &Fault) -> anyhow::Error {
    let line = fault.frames.iter().rev().find(|frame| frame.file == file && frame.line > 0);
    let line = line.map(|frame| format!(":{}", frame.line)).unwrap_or_default();
    let message = printable(&fault.message);
    Failure::Several(vec![format!("{file}{line}: {message}")]).into()
}

/// The difference as `patch -p0` reads it.
fn patch(file: &str, old: &str, new: &str) -> String {
    TextDiff::from_lines(old, new).unified_diff().header(file, file).to_string()
}

/// Writes into the file that is there, which keeps its owner and its mode.
fn write(path: &Path, text: &str) -> io::Result<()> {
    fs::write(path, text)
}

#[cfg(test)]
mod tests {
    use expansion::Frame;

    use super::*;

    #[test]
    fn a_translation_is_shown_as_a_patch() {
        let old = "a = 1\nfor x in d.iteritems():\n  pass\n";
        let new = "a = 1\nfor x in d.items():\n  pass\n";
        assert_eq!(
            patch("lib/t.py", old, new),
            "--- lib/t.py\n+++ lib/t.py\n@@ -1,3 +1,3 @@\n a = 1\n-for x in d.iteritems():\n\
             +for x in d.items():\n   pass\n"
        );
    }

    #[test]
    fn what_cannot_be_read_as_python_2_is_told_with_its_line() {
        let frame = |file: &str, line| Frame { file: file.into(), line, ..Frame::default() };
        let fault = Fault {
            message: "bad\u{1b} input".into(),
            frames: vec![frame("t.py", 3), frame("<python:lib2to3>", 9)],
            ..Fault::default()
        };
        assert_eq!(refused("t.py", &fault).to_string(), "t.py:3: bad\\u{1b} input");
        assert_eq!(refused("u.py", &fault).to_string(), "u.py: bad\\u{1b} input");
    }
}
