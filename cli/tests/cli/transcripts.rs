//! `dm` against what the original printed: a service that answers as the original's did gives the same text and the same
//! exit code.

use std::path::{Path, PathBuf};

use crate::run::Run;
use crate::server::{Answer, Server};

/// Where this `dm` says something else, and why.
const DIFFERENT: &[(&str, &str)] = &[
    ("", "the usage has words of its own"),
    ("--help", "the usage has words of its own"),
    ("deploy templates/nosuch.yaml", "a file that is missing is no type"),
    ("update nosuchfile.yaml", "a file that is missing is no type"),
    ("expand templates/jinja_noparams.yaml", "an import may be a text"),
    ("expand d.yaml", "an import may be a text"),
    ("--service http://127.0.0.1:1 list", "the kernel's error is told in other words"),
];

fn corpus() -> Option<PathBuf> {
    let beside = || concat!(env!("CARGO_MANIFEST_DIR"), "/../../shared/corpus").into();
    let root = std::env::var_os("FORMWORK_CORPUS").map_or_else(beside, PathBuf::from).join("dm");
    if !root.exists() {
        println!("skipped: corpus not present");
        return None;
    }
    Some(root)
}

/// A run of the original.
struct Recorded {
    args: String,
    /// What it printed, on either stream.
    said: String,
    code: i32,
}

fn recorded(transcript: &str) -> Vec<Recorded> {
    let runs = transcript.split("\n$ dm ").map(|run| run.strip_prefix("$ dm ").unwrap_or(run));
    runs.filter_map(|run| {
        let (args, rest) = run.split_once('\n')?;
        let (said, end) = rest.split_once("[exit ")?;
        let code = end.split(']').next()?.parse().ok()?;
        // What was piped in was not recorded.
        (!args.contains('<')).then(|| Recorded {
            args: args.trim().to_owned(),
            said: said.to_owned(),
            code,
        })
    })
    .collect()
}

/// The answer of a service that makes the original say that.
fn answer(run: &Recorded) -> Answer {
    if run.code == 0 {
        return Answer::ok(&yaml::to_json(&run.said).unwrap().json);
    }
    let Some((_, status)) = run.said.split_once("status code: ") else { return Answer::ok("null") };
    let (code, body) = status.split_once(" status: ").unwrap();
    let (_, body) = body.split_once(" : ").unwrap();
    Answer::status(code.parse().unwrap(), body.trim_end())
}

/// What was said without the time in front, and in the words of this `dm` where they are better.
fn message(said: &str) -> String {
    let is_time = |word: &str| word.chars().all(|c| c.is_ascii_digit() || "/:".contains(c));
    let words = said.trim_end().split_inclusive(' ').skip_while(|word| is_time(word.trim()));
    words.collect()
}

/// Times as the original printed them. Here they are in quotes, because they are texts.
fn without_quoted_times(text: &str) -> String {
    let line = |line: &str| match line.split_once("At: \"") {
        Some((key, time)) => format!("{key}At: {}\n", time.trim_end_matches('"')),
        None => format!("{line}\n"),
    };
    text.lines().map(line).collect()
}

fn check(run: &Recorded, folder: &Path) {
    let server = Server::start(&[("*", answer(run))]);
    let url = server.url();
    let args: Vec<&str> = run.args.split_whitespace().collect();
    // Behind the command, where the original did not look for it.
    let outcome = Run::dm(&[&args[..], &["-service", &url]].concat()).folder(folder).go();
    assert_eq!(outcome.code, run.code, "{}: {}", run.args, outcome.err);
    if run.code == 0 {
        assert_eq!(without_quoted_times(&outcome.out), run.said, "{}", run.args);
    } else {
        let said = outcome.err.trim_end();
        assert_eq!(
            said.strip_prefix("error: ").unwrap_or(said),
            message(&run.said),
            "{}",
            run.args
        );
    }
}

#[test]
fn the_original_is_repeated_word_for_word() {
    let Some(corpus) = corpus() else { return };
    let transcript = std::fs::read_to_string(corpus.join("transcripts/dm-cli-v1.2.1.txt")).unwrap();
    let runs = recorded(&transcript);
    let folder = corpus.join("fixtures/intended");
    let is_different = |run: &&Recorded| DIFFERENT.iter().any(|(args, _)| run.args == *args);
    let (different, same): (Vec<_>, Vec<_>) = runs.iter().partition(is_different);
    assert!(same.len() >= 30, "{}", same.len());
    assert_eq!(different.len(), DIFFERENT.len());
    for run in same {
        check(run, &folder);
    }
}
