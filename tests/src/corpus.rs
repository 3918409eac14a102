//! Where the corpora are, and how their files are read.
//!
//! They are not part of the project: a test that needs one passes, and says so, where it is missing.

use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use flate2::read::MultiGzDecoder;

/// A path inside the corpora: under `FORMWORK_CORPUS`, else under `../shared/corpus` beside the repository.
///
/// Prints why the caller is about to skip when there is none.
pub fn find(relative: &str) -> Option<PathBuf> {
    let root = std::env::var_os("FORMWORK_CORPUS")
        .map_or_else(|| repository().join("../shared/corpus"), PathBuf::from);
    let path = root.join(relative);
    if path.exists() {
        return Some(path);
    }
    println!("skipped: corpus not present");
    None
}

/// The root of the repository that the tests were started from.
pub fn repository() -> PathBuf {
    // Cargo says it when it runs a test; what it said when it compiled one may have been another checkout.
    let tests = std::env::var_os("CARGO_MANIFEST_DIR")
        .map_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")), PathBuf::from);
    tests.join("..")
}

/// The lines of a file of JSON lines, gzipped or not, as they stand.
///
/// # Errors
/// When the file cannot be read or is not UTF-8.
pub fn lines(path: &Path) -> Result<Vec<String>> {
    let file = File::open(path).with_context(|| format!("opening {}", path.display()))?;
    let reader: Box<dyn Read> = if path.extension().is_some_and(|extension| extension == "gz") {
        Box::new(MultiGzDecoder::new(file))
    } else {
        Box::new(file)
    };
    BufReader::new(reader)
        .lines()
        .collect::<Result<_, _>>()
        .with_context(|| format!("reading {}", path.display()))
}
