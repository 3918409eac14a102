//! Where CPython's modules are: told to the compiler, so that the worker starts without guessing at paths.
//!
//! The interpreter that is asked is the one that pyo3 links with. At run time `--python-path` may say otherwise.

use std::error::Error;
use std::process::Command;

/// The standard library, its extension modules, and the folders of PyYAML and six, without repetitions.
const QUESTION: &str = "
import importlib.util, os, sys, sysconfig
found = [sysconfig.get_path('stdlib'), os.path.join(sysconfig.get_path('stdlib'), 'lib-dynload')]
for name in ('yaml', 'six'):
    spec = importlib.util.find_spec(name)
    if spec is None:
        sys.exit('no module %s for %s; Debian has it as python3-%s' % (name, sys.executable, name))
    folder = os.path.dirname(spec.origin)
    found.append(os.path.dirname(folder) if spec.submodule_search_locations else folder)
print(':'.join(dict.fromkeys(found)))
";

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-env-changed=PYO3_PYTHON");
    println!("cargo::rerun-if-changed=build.rs");
    let python = std::env::var("PYO3_PYTHON").unwrap_or_else(|_| "python3".to_owned());
    let answer = Command::new(&python).args(["-I", "-c", QUESTION]).output()?;
    if !answer.status.success() {
        return Err(String::from_utf8_lossy(&answer.stderr).into());
    }
    let path = String::from_utf8(answer.stdout)?;
    println!("cargo::rustc-env=FORMWORK_PYTHON_PATH={}", path.trim());
    Ok(())
}
