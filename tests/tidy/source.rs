//! The repository's Rust files, and their text without what is not code.

pub(crate) use ::tests::corpus::repository as root;
use anyhow::{Context, Result};

/// One Rust file.
#[derive(Clone, Debug)]
pub(crate) struct Source {
    /// From the root of the repository, with `/`.
    pub path: String,
    pub text: String,
    /// Declared by a module that only tests see.
    tests_only: bool,
}

/// Every file below `folder` with this extension; build output and hidden folders are passed over.
pub(crate) fn files(folder: &str, extension: &str) -> Result<Vec<Source>> {
    let (root, mut found) = (root(), Vec::new());
    let mut folders = vec![root.join(folder)];
    while let Some(folder) = folders.pop() {
        let entries = std::fs::read_dir(&folder)
            .with_context(|| format!("reading the folder {}", folder.display()))?;
        for entry in entries {
            let path = entry?.path();
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            if path.is_dir() {
                if !name.starts_with('.') && name != "target" {
                    folders.push(path);
                }
            } else if path.extension().is_some_and(|found| found == extension) {
                let text = std::fs::read_to_string(&path)?;
                let path = path.strip_prefix(&root)?.to_string_lossy().replace('\\', "/");
                let path = path.trim_start_matches("./").to_owned();
                found.push(Source { path, text, tests_only: false });
            }
        }
    }
    found.sort_by(|a, b| a.path.cmp(&b.path));
    let tests: Vec<_> = found.iter().flat_map(test_modules).collect();
    for file in &mut found {
        file.tests_only = tests.iter().any(|prefix| file.path.starts_with(prefix.as_str()));
    }
    Ok(found)
}

/// The folder of every crate, as the paths of its files begin.
pub(crate) fn crates() -> Result<Vec<String>> {
    let manifests = files(".", "toml")?;
    let folders = manifests.iter().filter_map(|file| file.path.strip_suffix("/Cargo.toml"));
    Ok(folders.map(str::to_owned).collect())
}

/// How the paths of the files begin that `file` declares under `#[cfg(test)]`.
fn test_modules(file: &Source) -> Vec<String> {
    let (code, folder) = (file.code(), module_folder(&file.path));
    let declared = code.match_indices("#[cfg(test)]").filter_map(|(at, marker)| {
        let mut words = code[at + marker.len()..].split_whitespace();
        let name = words.find(|word| *word != "pub" && *word != "pub(crate)")?;
        (name == "mod").then(|| words.next())?.and_then(|name| name.strip_suffix(';'))
    });
    declared.flat_map(|name| [format!("{folder}/{name}.rs"), format!("{folder}/{name}/")]).collect()
}

/// Where the modules that a file declares lie.
pub(crate) fn module_folder(path: &str) -> String {
    let (folder, file) = path.rsplit_once('/').unwrap_or(("", path));
    match file {
        "lib.rs" | "main.rs" | "mod.rs" => folder.to_owned(),
        file => format!("{folder}/{}", file.trim_end_matches(".rs")),
    }
}

impl Source {
    #[cfg(test)]
    pub(crate) fn new(path: &str, text: &str) -> Self {
        Self { path: path.to_owned(), text: text.to_owned(), tests_only: false }
    }

    /// Whether the file is compiled for tests only.
    pub(crate) fn is_test(&self) -> bool {
        let folders = ["tests", "benches", "conformance"];
        self.tests_only || self.path.split('/').any(|part| folders.contains(&part))
    }

    /// The text with comments blanked out, line by line as before.
    pub(crate) fn code(&self) -> String {
        blanked(&self.text, Blank::Comments)
    }

    /// As [`Source::code`], with the contents of strings blanked out too, and without items that only tests see.
    pub(crate) fn shipped(&self) -> String {
        without_tests(&blanked(&self.text, Blank::CommentsAndStrings)).replace(CUT, " ")
    }

    /// As [`Source::code`], without items that only tests see; strings stay.
    pub(crate) fn shipped_with_strings(&self) -> String {
        // Blanking keeps every character's place, so what is cut from one text is cut from the other.
        let kept = without_tests(&blanked(&self.text, Blank::CommentsAndStrings));
        let code = self.code();
        code.chars().zip(kept.chars()).map(|(c, kept)| if kept == CUT { ' ' } else { c }).collect()
    }
}

/// Stands for a character of an item that only tests see.
const CUT: char = '\0';

#[derive(Clone, Copy, PartialEq, Eq)]
enum Blank {
    Comments,
    CommentsAndStrings,
}

/// Replaces what is not code by blanks; lines and the places of everything else stay.
fn blanked(text: &str, blank: Blank) -> String {
    let characters: Vec<char> = text.chars().collect();
    let mut out = characters.clone();
    let mut erase = |from: usize, to: usize| {
        for c in &mut out[from..to] {
            if *c != '\n' {
                *c = ' ';
            }
        }
    };
    let at = |i: usize, word: &str| {
        word.chars().enumerate().all(|(k, c)| characters.get(i + k) == Some(&c))
    };
    let mut i = 0;
    while i < characters.len() {
        let start = i;
        if at(i, "//") {
            while i < characters.len() && characters[i] != '\n' {
                i += 1;
            }
            erase(start, i);
        } else if at(i, "/*") {
            let mut depth = 0;
            while i < characters.len() {
                if at(i, "/*") {
                    depth += 1;
                    i += 2;
                } else if at(i, "*/") {
                    depth -= 1;
                    i += 2;
                    if depth == 0 {
                        break;
                    }
                } else {
                    i += 1;
                }
            }
            i = i.min(characters.len());
            erase(start, i);
        } else if let Some(end) = string_end(&characters, i) {
            if blank == Blank::CommentsAndStrings {
                erase(i, end);
            }
            i = end;
        } else {
            i += 1;
        }
    }
    out.into_iter().collect()
}

/// Where the string or character literal that begins at `i` ends, if one does.
fn string_end(characters: &[char], i: usize) -> Option<usize> {
    let previous = i.checked_sub(1).and_then(|k| characters.get(k)).copied().unwrap_or(' ');
    match characters[i] {
        'r' if !(previous.is_alphanumeric() || previous == '_') || previous == 'b' => {
            let hashes = characters[i + 1..].iter().take_while(|c| **c == '#').count();
            if characters.get(i + 1 + hashes) != Some(&'"') {
                return None;
            }
            let mut k = i + 2 + hashes;
            while k < characters.len() {
                let closing = characters[k] == '"'
                    && characters[k + 1..].iter().take_while(|c| **c == '#').count() >= hashes;
                if closing {
                    return Some(k + 1 + hashes);
                }
                k += 1;
            }
            Some(k)
        }
        '"' => Some(quoted_end(characters, i, '"')),
        // A lifetime has no closing quote two or more characters on.
        '\'' if characters.get(i + 1) == Some(&'\\') => Some(quoted_end(characters, i, '\'')),
        '\'' if characters.get(i + 2) == Some(&'\'') => Some(i + 3),
        _ => None,
    }
}

fn quoted_end(characters: &[char], i: usize, quote: char) -> usize {
    let mut k = i + 1;
    while k < characters.len() && characters[k] != quote {
        k += if characters[k] == '\\' { 2 } else { 1 };
    }
    (k + 1).min(characters.len())
}

/// Blanks out every item under `#[cfg(test)]` or `#[test]`; `code` has no comments or strings.
fn without_tests(code: &str) -> String {
    let mut out: Vec<char> = code.chars().collect();
    let text: String = code.to_owned();
    for marker in ["#[cfg(test)]", "#[test]", "#[cfg(any(test"] {
        for (byte, _) in text.match_indices(marker) {
            let start = text[..byte].chars().count();
            let mut depth = 0;
            let mut k = start + marker.chars().count();
            while k < out.len() {
                match out[k] {
                    '{' => depth += 1,
                    '}' => {
                        depth -= 1;
                        if depth == 0 {
                            k += 1;
                            break;
                        }
                    }
                    ';' if depth == 0 => break,
                    _ => {}
                }
                k += 1;
            }
            let end = k.min(out.len());
            for c in &mut out[start..end] {
                if *c != '\n' {
                    *c = CUT;
                }
            }
        }
    }
    out.into_iter().collect()
}

#[test]
fn comments_strings_and_tests_are_told_from_code() {
    let source = Source::new(
        "a.rs",
        "// one\nlet a = \"// two\"; /* th/* r */ee */ let b = 'x'; fn f<'a>() {}\n\
         let r = r#\"fo\"ur\"#;\n#[cfg(test)]\nmod tests { fn five() { \"}\"; } }\nlet six;\n",
    );
    let code = source.code();
    assert!(!code.contains("one") && !code.contains("ee") && code.contains("// two"));
    assert!(code.contains("let b = 'x'; fn f<'a>() {}") && code.contains("fo\"ur"));
    let shipped = source.shipped();
    assert!(!shipped.contains("two") && !shipped.contains("ur") && !shipped.contains("five"));
    assert!(shipped.contains("let six;"));
    assert_eq!(shipped.lines().count(), source.text.lines().count());
    assert!(source.shipped_with_strings().contains("// two"));
    assert!(!source.shipped_with_strings().contains("five"));
}

#[test]
fn the_repository_has_sources() {
    let found = files("processor", "rs").unwrap();
    assert!(found.iter().any(|file| file.path == "processor/src/lib.rs"), "{found:?}");
}

#[test]
fn a_file_that_only_tests_declare_is_known() {
    let file = Source::new(
        "a/src/b.rs",
        "#[cfg(test)]\nmod vectors;\nmod other;\n#[cfg(test)]\nfn f() {}",
    );
    assert_eq!(test_modules(&file), ["a/src/b/vectors.rs", "a/src/b/vectors/"]);
}
