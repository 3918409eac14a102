//! Each folder of `tests/golden` is a run of `process --local` or `parameters`: `args` is its
//! command line, `want.out` its output, `want.err` what it says beside. Without `want.out` the
//! command is expected to fail. `UPDATE_GOLDEN=1` writes what comes out; read the diff.

use std::fs;
use std::path::{Path, PathBuf};

use crate::run::Run;

#[test]
fn every_golden_folder_gives_what_it_wants() {
    let golden = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/golden");
    let mut folders: Vec<PathBuf> =
        fs::read_dir(golden).unwrap().map(|entry| entry.unwrap().path()).collect();
    folders.sort();
    assert!(folders.len() >= 10);
    for folder in folders {
        check(&folder);
    }
}

fn check(folder: &Path) {
    let args = fs::read_to_string(folder.join("args")).unwrap();
    let args: Vec<&str> = args.split_whitespace().collect();
    let outcome = Run::new(&args).folder(folder).go();
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        write(&folder.join("want.out"), &outcome.out);
        write(&folder.join("want.err"), &outcome.err);
    }
    let want = |name| fs::read_to_string(folder.join(name)).unwrap_or_default();
    assert_eq!(outcome.out, want("want.out"), "{}: {}", folder.display(), outcome.err);
    assert_eq!(outcome.err, want("want.err"), "{}", folder.display());
    assert_eq!(outcome.code, i32::from(outcome.out.is_empty()), "{}", folder.display());
}

fn write(path: &Path, text: &str) {
    if text.is_empty() {
        let _ = fs::remove_file(path);
    } else {
        fs::write(path, text).unwrap();
    }
}
