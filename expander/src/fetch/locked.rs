//! Files that were fetched before: what is expanded again is expanded with the same ones, whatever has become of the
//! places that they came from.

use std::collections::BTreeMap;

use expansion::imports::declared;
use expansion::{Imports, Wanted};

use super::{Fetch, FetchError, Fetching};

/// Brings what is locked, and asks somebody else for the rest.
pub struct Locked<'a> {
    files: &'a Imports,
    otherwise: &'a dyn Fetch,
}

impl<'a> Locked<'a> {
    /// One that knows these files by the names that they were wanted by.
    pub fn new(files: &'a Imports, otherwise: &'a dyn Fetch) -> Self {
        Self { files, otherwise }
    }

    /// A file with its schema and what that imports. None, unless all of that is there.
    fn whole(&self, name: &str) -> Option<Imports> {
        let (mut found, mut left) = (BTreeMap::new(), vec![name.to_owned()]);
        while let Some(name) = left.pop() {
            if found.contains_key(&name) {
                continue;
            }
            let file = self.files.get(&name)?;
            let schema_name = format!("{name}.schema");
            if let Some(schema) = self.files.get(&schema_name) {
                for import in declared(&schema.content) {
                    let import = import.ok()?;
                    left.push(import.name.unwrap_or(import.path));
                }
                found.insert(schema_name, schema.clone());
            }
            found.insert(name, file.clone());
        }
        Some(found)
    }
}

impl Fetch for Locked<'_> {
    fn fetch<'a>(&'a self, wanted: &'a [Wanted]) -> Fetching<'a> {
        Box::pin(async move {
            let (mut files, mut rest) = (Imports::new(), Vec::new());
            for wanted in wanted {
                match self.whole(&wanted.name) {
                    Some(locked) => files.extend(locked),
                    None => rest.push(wanted.clone()),
                }
            }
            if rest.is_empty() {
                return Ok(files);
            }
            for (name, file) in self.otherwise.fetch(&rest).await? {
                match files.get(&name) {
                    Some(locked) if locked.path == file.path => {}
                    Some(_) => {
                        let message = "stands for two files".to_owned();
                        return Err(FetchError { name, message });
                    }
                    None => _ = files.insert(name, file),
                }
            }
            Ok(files)
        })
    }
}

#[cfg(test)]
mod tests {
    use expansion::Import;

    use super::*;

    /// Brings a file of each name that is asked for, and a helper.
    struct Anew;

    impl Fetch for Anew {
        fn fetch<'a>(&'a self, wanted: &'a [Wanted]) -> Fetching<'a> {
            let names = wanted.iter().map(|wanted| wanted.name.clone());
            let names = names.chain(["helper.py".to_owned()]);
            let files = names.map(|name| (name.clone(), import(&format!("at/{name}"), "NEW")));
            let files = files.collect();
            Box::pin(async { Ok(files) })
        }
    }

    fn import(path: &str, content: &str) -> Import {
        Import { path: path.to_owned(), content: content.into() }
    }

    fn lock(files: &[(&str, &str, &str)]) -> Imports {
        files.iter().map(|(name, path, text)| ((*name).to_owned(), import(path, text))).collect()
    }

    async fn fetched(files: &Imports, names: &[&str]) -> Result<Vec<String>, FetchError> {
        let wanted: Vec<_> = names.iter().map(|name| Wanted { name: (*name).to_owned() }).collect();
        let brought = Locked::new(files, &Anew).fetch(&wanted).await?;
        Ok(brought.iter().map(|(name, it)| format!("{name} {}", it.content)).collect())
    }

    #[tokio::test]
    async fn what_was_fetched_before_comes_with_all_that_goes_with_it_and_nothing_else() {
        let files = lock(&[
            ("https://h/a.py", "https://h/a.py", "A"),
            (
                "https://h/a.py.schema",
                "https://h/a.py.schema",
                "imports: [{path: b.py, name: b}, {path: c.txt}]",
            ),
            ("b", "https://h/b.py", "B"),
            ("b.schema", "https://h/b.py.schema", "imports: [{path: 'https://h/a.py'}]"),
            ("c.txt", "https://h/c.txt", "C"),
            ("https://h/unused.py", "https://h/unused.py", "U"),
        ]);
        let got = fetched(&files, &["https://h/a.py"]).await.unwrap();
        let names: Vec<_> = got.iter().map(|it| it.split(' ').next().unwrap()).collect();
        let want = ["b", "b.schema", "c.txt", "https://h/a.py", "https://h/a.py.schema"];
        assert_eq!(names, want);
    }

    #[tokio::test]
    async fn what_is_not_there_as_a_whole_is_fetched_anew() {
        let files = lock(&[
            ("a.py", "at/a.py", "A"),
            ("a.py.schema", "at/a.py.schema", "imports: [{path: gone.py}]"),
            ("b.py", "at/b.py", "B"),
        ]);
        let got = fetched(&files, &["a.py", "b.py"]).await.unwrap();
        assert_eq!(got, ["a.py NEW", "b.py B", "helper.py NEW"]);
    }

    #[tokio::test]
    async fn a_locked_file_stays_and_another_one_may_not_take_its_name() {
        let schema = "imports: [{path: helper.py}]";
        let mut files = lock(&[
            ("a.py", "at/a.py", "A"),
            ("a.py.schema", "at/a.py.schema", schema),
            ("helper.py", "at/helper.py", "OLD"),
        ]);
        let got = fetched(&files, &["a.py", "b.py"]).await.unwrap();
        assert_eq!(got[3], "helper.py OLD");
        files.get_mut("helper.py").unwrap().path = "elsewhere/helper.py".to_owned();
        let error = fetched(&files, &["a.py", "b.py"]).await.unwrap_err();
        assert_eq!(error.to_string(), "helper.py: stands for two files");
    }
}
