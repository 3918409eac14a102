//! CPython: started without looking at its surroundings, loaded with what templates may use, and closed.
//!
//! It never runs a template in this process: the zygote has the interpreter ready, its children use it.

use std::ffi::{CStr, CString};
use std::io;
use std::mem::zeroed;

use anyhow::{Result, anyhow, bail};
use pyo3::exceptions::PyMemoryError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use pyo3::{ffi, wrap_pyfunction};

use crate::clock;
use crate::fork::{Fork, fork};
use crate::jail::limits;
use crate::memory;

/// The modules around a call, in the order in which they are loaded.
const HARNESS: [(&CStr, &CStr, &str); 8] = [
    (c"formwork_quick", c"<formwork:quick>", include_str!("python/quick.py")),
    (c"formwork_preload", c"<formwork:preload>", include_str!("python/preload.py")),
    (c"formwork_results", c"<formwork:results>", include_str!("python/results.py")),
    (c"formwork_python2", c"<formwork:python2>", include_str!("python/python2.py")),
    (c"formwork_code", c"<formwork:code>", include_str!("python/code.py")),
    (c"formwork_imports", c"<formwork:imports>", include_str!("python/imports.py")),
    (c"formwork_faults", c"<formwork:faults>", include_str!("python/faults.py")),
    (c"formwork_harness", c"<formwork:harness>", include_str!("python/harness.py")),
];

/// A CPython that has all its modules and loads no more.
pub(crate) struct Interpreter {
    answer: Py<PyAny>,
    release: Py<PyAny>,
}

/// Why the harness itself did not answer. A template's own errors are answers.
pub(crate) enum Broken {
    /// There was no memory left to report with.
    Memory,
    /// The template broke what reports its errors.
    Otherwise,
}

impl Interpreter {
    /// Starts CPython in this process, once. `path` is where modules are loaded from, with colons in between; `convert`
    /// loads what translates Python 2. Returns the files that were loaded as well.
    ///
    /// # Errors
    /// When CPython does not start, a module is missing, or a template does not render as it should.
    pub(crate) fn start(path: &str, convert: bool) -> Result<(Self, Vec<String>)> {
        initialize(path)?;
        Python::attach(|py| {
            check_clocks(py)?;
            let load = |(name, file, source)| {
                PyModule::from_code(py, &CString::new::<&str>(source)?, file, name)
            };
            let mut modules: Vec<_> = HARNESS.into_iter().map(load).collect::<PyResult<_>>()?;
            let harness = modules.pop().expect("it is the last of them");
            let files = harness.getattr("prepare")?.call1((convert,))?.extract()?;
            memory::settle(py);
            let ready = Self {
                answer: harness.getattr("answer")?.unbind(),
                release: wrap_pyfunction!(release, py)?.into_any().unbind(),
            };
            Ok((ready, files))
        })
        .map_err(|error: PyErr| describe(&error))
    }

    /// Renders what `body` asks, in at most `limit` bytes, and hands the answer to `send`.
    ///
    /// # Errors
    /// When the harness could not answer.
    pub(crate) fn answer<T>(
        &self,
        body: &[u8],
        limit: usize,
        send: impl FnOnce(&[u8]) -> T,
    ) -> Result<T, Broken> {
        Python::attach(|py| {
            let arguments = (PyBytes::new(py, body), limit, &self.release);
            let answer = self.answer.bind(py).call1(arguments).map_err(|error| {
                limits::release();
                if error.is_instance_of::<PyMemoryError>(py) {
                    Broken::Memory
                } else {
                    Broken::Otherwise
                }
            })?;
            let answer = answer.cast::<PyBytes>().map_err(|_| Broken::Otherwise)?;
            Ok(send(answer.as_bytes()))
        })
    }

    /// Forks a process that has an interpreter in order as well.
    ///
    /// # Errors
    /// When there may be no more processes.
    pub(crate) fn fork(&self) -> io::Result<Fork> {
        Python::attach(|_| {
            // SAFETY: the interpreter is attached, which these three ask for; they frame exactly one fork.
            unsafe { ffi::PyOS_BeforeFork() };
            let forked = fork();
            match forked {
                // SAFETY: as above, in the new process.
                Ok(Fork::Child) => unsafe { ffi::PyOS_AfterFork_Child() },
                // SAFETY: as above, in the old process.
                _ => unsafe { ffi::PyOS_AfterFork_Parent() },
            }
            forked
        })
    }
}

/// Gives templates that ran out of memory a little, to say so.
#[pyfunction]
fn release() {
    limits::release();
}

/// Isolated: no environment, no command line, no `site`, no guesses at paths, no signal handlers, the hash seed 0.
fn initialize(path: &str) -> Result<()> {
    // Without a time zone the C library would read the machine's.
    // SAFETY: there is one thread.
    unsafe { std::env::set_var("TZ", "UTC0") };
    // SAFETY: zeros are such a structure, which the next call fills in.
    let mut early: ffi::PyPreConfig = unsafe { zeroed() };
    // SAFETY: the structure is ours and CPython is not running yet.
    unsafe { ffi::PyPreConfig_InitIsolatedConfig(&raw mut early) };
    early.utf8_mode = 1;
    early.configure_locale = 0;
    early.coerce_c_locale = 0;
    // SAFETY: as above.
    check(unsafe { ffi::Py_PreInitialize(&raw const early) })?;

    // SAFETY: zeros are such a structure, which the next call fills in.
    let mut config: ffi::PyConfig = unsafe { zeroed() };
    // SAFETY: the structure is ours.
    unsafe { ffi::PyConfig_InitIsolatedConfig(&raw mut config) };
    config.use_hash_seed = 1;
    config.hash_seed = 0;
    for off in [
        &mut config.install_signal_handlers,
        &mut config.faulthandler,
        &mut config.tracemalloc,
        &mut config.site_import,
        &mut config.user_site_directory,
        &mut config.write_bytecode,
        &mut config.parse_argv,
        &mut config.configure_c_stdio,
        &mut config.pathconfig_warnings,
    ] {
        *off = 0;
    }
    set_paths(&mut config, path)?;
    // SAFETY: the structure is complete; the one thread there is holds the interpreter from here on.
    check(unsafe { ffi::Py_InitializeFromConfig(&raw const config) })?;
    // SAFETY: CPython has taken copies.
    unsafe { ffi::PyConfig_Clear(&raw mut config) };
    Ok(())
}

fn set_paths(config: &mut ffi::PyConfig, path: &str) -> Result<()> {
    config.module_search_paths_set = 1;
    for folder in path.split(':').filter(|folder| !folder.is_empty()) {
        let wide = wide(folder);
        // SAFETY: the list belongs to the structure, and the text ends with a zero and is copied.
        check(unsafe {
            ffi::PyWideStringList_Append(&raw mut config.module_search_paths, wide.as_ptr())
        })?;
    }
    let config: *mut ffi::PyConfig = config;
    let (none, name) = (wide(""), wide("formwork-expander"));
    // SAFETY: both fields belong to the structure, and the texts end with a zero and are copied.
    unsafe {
        check(ffi::PyConfig_SetString(config, &raw mut (*config).executable, none.as_ptr()))?;
        check(ffi::PyConfig_SetString(config, &raw mut (*config).program_name, name.as_ptr()))
    }
}

/// Text as C's wide characters, which are Unicode here, with a zero behind it.
fn wide(text: &str) -> Vec<libc::wchar_t> {
    // Signed on some processors and not on others.
    let wide = |one| libc::wchar_t::from_ne_bytes(u32::from(one).to_ne_bytes());
    text.chars().map(wide).chain([0]).collect()
}

fn check(status: ffi::PyStatus) -> Result<()> {
    // SAFETY: a status is a plain value.
    if unsafe { ffi::PyStatus_Exception(status) } == 0 {
        return Ok(());
    }
    if status.err_msg.is_null() {
        bail!("CPython does not start");
    }
    // SAFETY: a message is a constant of CPython's.
    let message = unsafe { CStr::from_ptr(status.err_msg) };
    Err(anyhow!("CPython does not start: {}", message.to_string_lossy()))
}

/// That the dynamic linker gave CPython our clocks is nothing to take for granted.
fn check_clocks(py: Python<'_>) -> PyResult<()> {
    clock::stop(1);
    let read = py.import("time")?.call_method0("time")?.extract::<f64>();
    clock::run();
    if read? == 1.0 {
        Ok(())
    } else {
        Err(pyo3::exceptions::PyRuntimeError::new_err("clocks cannot be stopped"))
    }
}

fn describe(error: &PyErr) -> anyhow::Error {
    anyhow!("the modules of templates cannot be loaded: {error}")
}
