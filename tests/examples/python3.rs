//! `kubectl-formwork expand --to-python3`, with the worker that translates.

use std::fs;
use std::process::Command;

use anyhow::{Result, ensure};

use crate::run;

const OLD: &str = "def f(d):\n  if d.has_key('a'):\n    print 1\n";
const NEW: &str = "def f(d):\n  if 'a' in d:\n    print(1)\n";

#[test]
fn a_template_in_python_2_is_shown_as_a_patch_and_then_translated_in_place() -> Result<()> {
    let Some(program) = run::command()? else {
        println!("skipped: kubectl-formwork is not built");
        return Ok(());
    };
    let folder = tempfile::tempdir()?;
    let file = folder.path().join("t.py");
    fs::write(&file, OLD)?;
    let translate = |further: &[&str]| -> Result<String> {
        let mut command = Command::new(&program);
        command.current_dir(&folder).args(["expand", "--to-python3", "t.py"]).args(further);
        let output = command.output()?;
        ensure!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        Ok(String::from_utf8(output.stdout)?)
    };

    let patch = translate(&[])?;
    assert!(patch.starts_with("--- t.py\n+++ t.py\n@@ "), "{patch}");
    assert!(patch.contains("\n-    print 1\n") && patch.contains("\n+    print(1)\n"), "{patch}");
    assert_eq!(fs::read_to_string(&file)?, OLD, "showing writes nothing");

    assert_eq!(translate(&["--in-place"])?, "");
    assert_eq!(fs::read_to_string(&file)?, NEW);
    Ok(())
}
