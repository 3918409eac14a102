//! Collecting from folders made for it.

use super::*;

/// A folder with files, each given by its path and text.
struct Folder(tempfile::TempDir);

impl Folder {
    fn new(files: &[(&str, &str)]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        for (path, text) in files {
            let path = folder.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        Folder(folder)
    }

    fn collect(&self, configuration: &str) -> anyhow::Result<Collected> {
        let path = self.0.path().join("app.yaml");
        collect(configuration, &path, self.0.path())
    }

    /// The names that are reachable; each file's text is expected to be its path.
    fn check(&self, configuration: &str, want: &[&str]) {
        let collected = self.collect(configuration).unwrap();
        assert_eq!(collected.imports.keys().collect::<Vec<_>>(), want);
    }

    fn error(&self, configuration: &str) -> String {
        let error = format!("{:#}", self.collect(configuration).unwrap_err());
        error.replace(&format!("{}/", self.0.path().display()), "")
    }
}

#[test]
fn a_file_is_known_by_its_path_and_by_its_base_name() {
    let folder = Folder::new(&[("lib/vm.py", "1"), ("start.sh", "2")]);
    folder.check(
        "imports:\n- path: lib/vm.py\n- path: start.sh\n  name: start\n- start.sh\n",
        &["lib/vm.py", "start", "start.sh", "vm.py"],
    );
    let collected = folder.collect("imports: [lib/vm.py]").unwrap();
    assert_eq!(collected.imports["vm.py"].path, "lib/vm.py");
    assert_eq!(collected.places["lib/vm.py"], folder.0.path().join("lib/vm.py"));
}

#[test]
fn schemas_come_along_and_bring_their_imports_from_where_they_lie() {
    let folder = Folder::new(&[
        ("lib/vm.py", "1"),
        ("lib/vm.py.schema", "imports:\n- path: deep/net.jinja\n- path: ../common.py\n"),
        ("lib/deep/net.jinja", "2"),
        ("lib/deep/net.jinja.schema", "imports: [{path: net.txt, name: words}]"),
        ("lib/deep/net.txt", "3"),
        ("common.py", "4"),
        ("unnamed.py", "5"),
    ]);
    let collected = folder.collect("imports: [lib/vm.py]").unwrap();
    let paths: Vec<_> = collected.files.iter().map(|file| (&*file.name, &*file.path)).collect();
    assert_eq!(
        paths,
        [
            ("lib/vm.py", "lib/vm.py"),
            ("lib/vm.py.schema", "lib/vm.py.schema"),
            ("deep/net.jinja", "lib/deep/net.jinja"),
            ("deep/net.jinja.schema", "lib/deep/net.jinja.schema"),
            ("words", "lib/deep/net.txt"),
            ("../common.py", "common.py"),
        ]
    );
    assert!(collected.imports.contains_key("common.py"));
    assert!(collected.imports.contains_key("net.jinja.schema"));
}

#[test]
fn templates_that_import_each_other_are_collected_once() {
    let folder = Folder::new(&[
        ("a.py", "1"),
        ("a.py.schema", "imports: [b.py, a.py]"),
        ("b.py", "2"),
        ("b.py.schema", "imports: [a.py]"),
    ]);
    folder.check("imports: [a.py]", &["a.py", "a.py.schema", "b.py", "b.py.schema"]);
}

#[test]
fn a_pattern_stands_for_the_files_that_match_it() {
    let folder =
        Folder::new(&[("h/a.py", "1"), ("h/b.py", "2"), ("h/.c.py", ""), ("h/d/e.py", "")]);
    folder.check("imports: [h/*.py]", &["a.py", "b.py", "h/a.py", "h/b.py"]);
    assert_eq!(folder.error("imports: [h/*.js]"), "app.yaml:1: no file matches h/*.js");
    let error = folder.error("imports: [{path: h/*.py, name: x}]");
    assert!(error.starts_with("app.yaml:1: h/*.py may be several files"), "{error}");
}

#[test]
fn a_file_whose_name_looks_like_a_pattern_is_that_file() {
    let folder = Folder::new(&[("a[1].py", "1"), ("a1.py", "2")]);
    folder.check("imports: ['a[1].py']", &["a[1].py"]);
}

#[test]
fn a_missing_file_is_an_error_with_the_line_that_names_it() {
    let folder =
        Folder::new(&[("lib/vm.py", "1"), ("lib/vm.py.schema", "a: 1\nimports:\n- x.py\n")]);
    assert_eq!(
        folder.error("resources: []\nimports:\n- path: nosuch.py\n"),
        "app.yaml:3: nosuch.py: there is no such file"
    );
    assert_eq!(
        folder.error("imports:\n- path: lib/vm.py\n"),
        "app.yaml:2: lib/vm.py.schema:3: lib/x.py: there is no such file"
    );
    assert_eq!(
        folder.error("imports: [lib]"),
        "app.yaml:1: lib: cannot be read: Is a directory (os error 21)"
    );
}

#[test]
fn two_files_of_one_name_are_an_error_that_names_both() {
    let folder = Folder::new(&[
        ("a/vm.py", "1"),
        ("a/vm.py.schema", "imports: [common.py]"),
        ("a/common.py", "a"),
        ("b/vm.py", "2"),
        ("b/vm.py.schema", "imports: [common.py]"),
        ("b/common.py", "b"),
    ]);
    let error = folder.error("imports:\n- a/vm.py\n- b/vm.py\n");
    assert_eq!(
        error,
        "app.yaml:3: b/vm.py.schema:1: b/common.py and a/common.py are different files that are \
         both imported as common.py"
    );
    // Nothing is called by the base name that both have.
    let folder = Folder::new(&[("a/vm.py", "1"), ("b/vm.py", "2")]);
    folder.check("imports: [a/vm.py, b/vm.py]", &["a/vm.py", "b/vm.py"]);
}

#[test]
fn what_cannot_be_read_is_left_to_the_expansion() {
    let folder = Folder::new(&[("a.py", "1"), ("a.py.schema", "imports: [\n")]);
    folder.check("imports: [a.py, 'https://example.com/t.py']", &["a.py", "a.py.schema"]);
    folder.check("- a\n- [", &[]);
}

#[test]
fn paths_are_written_the_short_way() {
    for (prefix, path, want) in [
        ("", "../a", "../a"),
        ("lib/", "a", "lib/a"),
        ("lib/x/", "../a", "lib/a"),
        ("lib/", "../../a", "../a"),
        ("../lib/", "../../a", "../../a"),
        ("/abs/", "../a", "/a"),
        ("lib/", "/a", "/a"),
        ("lib/", "./a", "lib/a"),
    ] {
        assert_eq!(joined(prefix, path), want, "{prefix} {path}");
    }
}
