//! A configuration on standard input: its text, or a tar archive of it and the files it imports.

use std::io::{Cursor, Read as _};

use anyhow::{Context, anyhow, bail};
use expansion::Limits;
use expansion::imports::{self, File};

/// Where a tar archive says that it is one, and what it says.
const MAGIC: (usize, &[u8]) = (257, b"ustar");

/// What standard input had.
#[derive(Debug)]
pub(super) enum Piped {
    /// The configuration alone.
    Text(String),
    /// The configuration, and all other files of an archive.
    Archive(String, Vec<File>),
}

/// Reads `input`, in which the configuration is called `name`.
///
/// # Errors
/// When an archive has no such file, or one that is no text; or all is longer than a configuration with its files may be.
pub(super) fn read(name: &str, input: Vec<u8>) -> anyhow::Result<Piped> {
    if input.len() > Limits::default().input * 2 {
        bail!("standard input has more than {} bytes", Limits::default().input * 2);
    }
    let (at, magic) = MAGIC;
    if input.get(at..at + magic.len()) == Some(magic) {
        return unpack(name, input);
    }
    let text = String::from_utf8(input).ok().context("standard input is no text in UTF-8")?;
    Ok(Piped::Text(text))
}

fn unpack(name: &str, input: Vec<u8>) -> anyhow::Result<Piped> {
    let (mut configuration, mut files) = (None, Vec::new());
    let folder = &plain(name)[..plain(name).rfind('/').map_or(0, |slash| slash + 1)];
    for entry in tar::Archive::new(Cursor::new(input)).entries()? {
        let mut entry = entry.context("reading the archive")?;
        if !entry.header().entry_type().is_file() {
            continue;
        }
        let path = String::from_utf8_lossy(&entry.path_bytes()).into_owned();
        let mut text = String::new();
        entry.read_to_string(&mut text).with_context(|| format!("{path} in the archive"))?;
        if plain(&path) == plain(name) {
            configuration = Some(text);
            continue;
        }
        let path = plain(&path);
        let path = path.strip_prefix(folder).unwrap_or(path).to_owned();
        files.push(File { name: String::new(), path, content: text.into() });
    }
    let configuration = configuration.ok_or_else(|| anyhow!("cannot find {name} in archive"))?;
    rename(&configuration, &mut files);
    Ok(Piped::Archive(configuration, files))
}

/// Gives files the names that the configuration has for them.
fn rename(configuration: &str, files: &mut [File]) {
    // What is wrong with an import, the expansion says.
    for import in imports::declared(configuration).into_iter().flatten() {
        let Some(name) = import.name else { continue };
        if let Some(file) = files.iter_mut().find(|file| file.path == plain(&import.path)) {
            file.name = name;
        }
    }
}

/// A path as archives have it, without a dot in front.
fn plain(path: &str) -> &str {
    path.strip_prefix("./").unwrap_or(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn archive(files: &[(&str, &str)]) -> Vec<u8> {
        let mut builder = tar::Builder::new(Vec::new());
        for (path, text) in files {
            let mut header = tar::Header::new_ustar();
            header.set_size(text.len() as u64);
            header.set_mode(0o644);
            builder.append_data(&mut header, path, text.as_bytes()).unwrap();
        }
        builder.into_inner().unwrap()
    }

    fn unpacked(name: &str, files: &[(&str, &str)]) -> anyhow::Result<(String, Vec<String>)> {
        match read(name, archive(files))? {
            Piped::Archive(text, files) => Ok((
                text,
                files.iter().map(|file| format!("{}={}", file.known_as(), file.content)).collect(),
            )),
            Piped::Text(text) => panic!("{text}"),
        }
    }

    #[test]
    fn an_archive_has_the_configuration_and_its_imports() {
        let (text, files) = unpacked(
            "a.yaml",
            &[("./a.yaml", "resources: []"), ("lib/b.py", "1"), ("b.py.schema", "2")],
        )
        .unwrap();
        assert_eq!(text, "resources: []");
        assert_eq!(files, ["lib/b.py=1", "b.py.schema=2"]);
    }

    #[test]
    fn files_go_by_the_names_that_the_configuration_gives_them() {
        let text = "imports: [{path: t.jinja, name: mine}]";
        let (_, files) =
            unpacked("dir/a.yaml", &[("dir/t.jinja", "1"), ("dir/a.yaml", text)]).unwrap();
        assert_eq!(files, ["mine=1"]);
    }

    #[test]
    fn an_archive_without_the_configuration_is_refused() {
        let error = unpacked("a.yaml", &[("b.yaml", "")]).unwrap_err();
        assert_eq!(error.to_string(), "cannot find a.yaml in archive");
    }

    #[test]
    fn what_is_no_archive_is_the_configuration_however_short() {
        for text in ["", "resources: []", &"#".repeat(600)] {
            match read("x", text.as_bytes().to_vec()).unwrap() {
                Piped::Text(read) => assert_eq!(read, text),
                other => panic!("{other:?}"),
            }
        }
        assert!(read("x", vec![0xff]).is_err());
    }
}
