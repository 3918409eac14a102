//! What the worker is told when it is started. The expander writes these, so there is no help and no abbreviation.

use std::time::Duration;

use anyhow::{Context as _, Result, bail};

/// The options of a worker.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Options {
    /// Address space that a child may use beyond what the worker has, in bytes.
    pub(crate) memory: u64,
    /// Processor time that a call may use.
    pub(crate) cpu: Duration,
    /// Whether namespaces are tried.
    pub(crate) namespaces: bool,
    /// Whether Python 2 can be translated.
    pub(crate) convert: bool,
    /// Folders that Python's modules are loaded from, with colons in between.
    pub(crate) python_path: String,
    /// Only say which files Python's modules are in: whoever packs this program packs them with it.
    pub(crate) files: bool,
}

impl Options {
    /// Reads the arguments behind the program's name. `None`: somebody started it by hand.
    ///
    /// # Errors
    /// When there is an argument that is none.
    pub(crate) fn parse(mut arguments: impl Iterator<Item = String>) -> Result<Option<Self>> {
        if arguments.next().as_deref() != Some("--worker") {
            return Ok(None);
        }
        let mut options = Self {
            memory: 256 << 20,
            cpu: Duration::from_secs(1),
            namespaces: true,
            convert: false,
            python_path: env!("FORMWORK_PYTHON_PATH").to_owned(),
            files: false,
        };
        while let Some(name) = arguments.next() {
            let mut value = || arguments.next().with_context(|| format!("{name} needs a value"));
            match name.as_str() {
                "--memory" => options.memory = value()?.parse::<u64>()? << 20,
                "--cpu" => options.cpu = Duration::from_millis(value()?.parse()?),
                "--python-path" => options.python_path = value()?,
                "--no-namespaces" => options.namespaces = false,
                "--convert" => options.convert = true,
                "--files" => options.files = true,
                _ => bail!("{name} is no option"),
            }
        }
        Ok(Some(options))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(arguments: &str) -> Result<Option<Options>> {
        Options::parse(arguments.split(' ').map(str::to_owned))
    }

    #[test]
    fn a_worker_is_told_how_much_its_children_may_take() {
        let options = parse("--worker --memory 64 --cpu 250 --no-namespaces").unwrap().unwrap();
        assert_eq!(options.memory, 64 << 20);
        assert_eq!(options.cpu, Duration::from_millis(250));
        assert!(!options.namespaces && !options.convert);
    }

    #[test]
    fn what_is_no_option_is_refused() {
        assert!(parse("--worker --unsafe").is_err());
        assert!(parse("--worker --memory").is_err());
        assert_eq!(parse("--help").unwrap(), None);
    }
}
