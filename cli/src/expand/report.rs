//! What is wrong with a configuration, as a compiler says it: `file:line: what (where in the hierarchy)`.
//!
//! Problems name files as they were imported; here they get the paths under which they lie, so that an editor finds
//! them.

use std::fmt::Write as _;
use std::path::Path;

use expansion::{Frame, Problem};

use super::collect::Collected;
use crate::failure::Failure;

/// The name of the configuration in problems.
const CONFIGURATION: &str = "config";

/// The failure in the form in which it is printed. `configuration` is where the configuration lies.
pub(crate) fn failure(
    failure: &expansion::Failure,
    configuration: &Path,
    collected: &Collected,
) -> anyhow::Error {
    let reporter = Reporter { configuration, collected };
    let lines = failure.problems.iter().map(|problem| reporter.problem(problem));
    Failure::Several(lines.collect()).into()
}

/// `text` with everything escaped that a terminal would obey, and all of it on one line.
pub(crate) fn printable(text: &str) -> String {
    expansion::printable(text, usize::MAX).into_owned()
}

struct Reporter<'a> {
    configuration: &'a Path,
    collected: &'a Collected,
}

impl Reporter<'_> {
    fn problem(&self, problem: &Problem) -> String {
        let mut text = String::new();
        if let Some(file) = &problem.file {
            text += &self.place(file, problem.line.unwrap_or_default());
            text += ": ";
        }
        if let Some(path) = &problem.path {
            text += &format!("{}: ", printable(path));
        }
        // Some messages of libraries have several lines.
        let message: Vec<_> = problem.message.lines().map(printable).collect();
        text += &message.join("\n    ");
        text += &format!(" (in {})", printable(&problem.place.to_string()));
        match problem.trace.as_slice() {
            // The place that is named already; the line itself is worth showing.
            [only] if only.function.is_empty() => {
                if !only.text.is_empty() {
                    text += &format!("\n    {}", printable(only.text.trim()));
                }
            }
            frames => text.extend(frames.iter().map(|frame| self.frame(frame))),
        }
        if let Some(hint) = &problem.hint {
            text += &format!("\n    hint: {}", printable(hint));
        }
        text
    }

    fn frame(&self, frame: &Frame) -> String {
        let mut text = format!("\n    at {}", self.place(&frame.file, frame.line));
        if !frame.function.is_empty() {
            text += &format!(" in {}", printable(&frame.function));
        }
        if !frame.text.is_empty() {
            text += &format!(": {}", printable(frame.text.trim()));
        }
        text
    }

    /// `file:line`; without the line where that is 0.
    fn place(&self, file: &str, line: u32) -> String {
        let mut text = match self.lies(file) {
            Some(path) => path.display().to_string(),
            None => printable(file),
        };
        if line > 0 {
            let _ = write!(text, ":{line}");
        }
        text
    }

    fn lies(&self, file: &str) -> Option<&Path> {
        if file == CONFIGURATION && !self.collected.imports.contains_key(file) {
            return Some(self.configuration);
        }
        let import = self.collected.imports.get(file)?;
        let written = if import.path.is_empty() { file } else { &import.path };
        self.collected.places.get(written).map(std::path::PathBuf::as_path)
    }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use expansion::imports::{self, File};
    use expansion::{Cause, Place};

    use super::*;

    fn collected(names: &[&str]) -> Collected {
        let file = |name: &&str| File {
            name: (*name).to_owned(),
            path: (*name).to_owned(),
            content: (*name).into(),
        };
        let files: Vec<File> = names.iter().map(file).collect();
        let place = |name: &&str| ((*name).to_owned(), PathBuf::from(format!("dir/{name}")));
        Collected {
            imports: imports::named(&files).unwrap(),
            files,
            places: names.iter().map(place).collect(),
        }
    }

    fn problem(message: &str) -> Problem {
        let place = Place { steps: vec![("rs".into(), Some("rs.py".into()))] };
        let problem = Problem::new(Cause::Template, message).at(place).in_file("rs.py");
        Problem { line: Some(3), ..problem }
    }

    fn check(problem: Problem, files: &[&str], want: &str) {
        let failed = expansion::Failure { problems: vec![problem] };
        let error = failure(&failed, Path::new("dir/app.yaml"), &collected(files));
        assert_eq!(error.to_string(), want);
    }

    #[test]
    fn a_problem_is_told_with_its_file_as_an_editor_finds_it() {
        check(problem("no"), &["lib/rs.py"], "dir/lib/rs.py:3: no (in config > rs (rs.py))");
        let problem = Problem { file: Some("config".into()), line: None, ..problem("no") };
        check(problem, &[], "dir/app.yaml: no (in config > rs (rs.py))");
    }

    #[test]
    fn how_the_template_came_there_and_what_to_do_stand_below() {
        let frame = |line, function: &str, text: &str| Frame {
            file: "rs.py".to_owned(),
            line,
            function: function.to_owned(),
            text: text.to_owned(),
        };
        let trace = vec![frame(9, "GenerateConfig", "  f(x)"), frame(0, "", "")];
        let problem = Problem { trace, hint: Some("try".into()), ..problem("no") };
        check(
            problem,
            &["rs.py"],
            "dir/rs.py:3: no (in config > rs (rs.py))\n    at dir/rs.py:9 in GenerateConfig: f(x)\
             \n    at dir/rs.py\n    hint: try",
        );
        let problem = Problem { trace: vec![frame(3, "", "  {{ x }}")], ..self::problem("no") };
        check(problem, &["rs.py"], "dir/rs.py:3: no (in config > rs (rs.py))\n    {{ x }}");
    }

    #[test]
    fn nothing_that_a_template_says_reaches_the_terminal_as_a_command() {
        assert_eq!(printable("a\u{1b}[2J\r\u{202e}é"), "a\\u{1b}[2J\\r\\u{202e}é");
        check(problem("a\nb\u{7}"), &[], "rs.py:3: a\n    b\\u{7} (in config > rs (rs.py))");
    }
}
