//! URLs of templates, paths relative to them, and the folders that they stay in.

use http::uri::{PathAndQuery, Uri};

/// What `reference` means where it stands in the file at `base`: another URL, or a path from the folder of `base`.
pub(crate) fn join(base: &Uri, reference: &str) -> Option<Uri> {
    if reference.starts_with("https://") || reference.starts_with("http://") {
        return absolute(reference);
    }
    if reference.is_empty() || reference.contains("://") || reference.contains('#') {
        return None;
    }
    let (path, query) = reference.split_once('?').map_or((reference, None), |(a, b)| (a, Some(b)));
    let folder = base.path().rsplit_once('/').map_or("", |(folder, _)| folder);
    let whole = if path.starts_with('/') { path.to_owned() } else { format!("{folder}/{path}") };
    let mut segments: Vec<&str> = Vec::new();
    for segment in whole.strip_prefix('/')?.split('/') {
        match segment {
            "." => {}
            ".." => _ = segments.pop()?,
            segment => segments.push(segment),
        }
    }
    let query = query.map(|query| format!("?{query}")).unwrap_or_default();
    with_path(base, &format!("/{}{query}", segments.join("/")))
}

/// Reads the URL of a file. What is behind `#` is for browsers, and nobody is named in it.
pub(crate) fn absolute(text: &str) -> Option<Uri> {
    let url: Uri = text.parse().ok()?;
    let is_http = matches!(url.scheme_str(), Some("https" | "http"));
    let has_user = url.authority()?.as_str().contains('@');
    (is_http && !has_user && !text.contains('#')).then_some(url)
}

/// The URL of the schema beside a file.
pub(crate) fn schema(url: &Uri) -> Option<Uri> {
    let query = url.query().map(|query| format!("?{query}")).unwrap_or_default();
    with_path(url, &format!("{}.schema{query}", url.path()))
}

/// A folder on a server, and everything below it.
#[derive(Clone, Debug)]
pub(crate) struct Folder {
    top: Uri,
    /// Its path, without a slash at its end.
    path: String,
}

impl Folder {
    /// Reads a folder's URL.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let top = absolute(text).filter(|url| url.query().is_none())?;
        let path = top.path().trim_end_matches('/').to_owned();
        Some(Self { top, path })
    }

    /// The URL of a file in it.
    pub(crate) fn file(&self, path: &str) -> Option<Uri> {
        with_path(&self.top, &format!("{}/{path}", self.path))
    }

    /// The path in it that a URL has. None for one that leads elsewhere, and for one that a server may take for another:
    /// what is escaped, and steps upwards that were not taken here.
    pub(crate) fn path_of<'a>(&self, url: &'a Uri) -> Option<&'a str> {
        let there = (url.scheme(), url.authority()) == (self.top.scheme(), self.top.authority());
        let path = url.path().strip_prefix(&self.path)?.strip_prefix('/')?;
        let plain = url.query().is_none()
            && !path.contains(['%', '\\'])
            && !path.split('/').any(|segment| matches!(segment, "." | ".."));
        (there && plain).then_some(path)
    }

    /// Whether a URL leads to something in it.
    pub(crate) fn has(&self, url: &Uri) -> bool {
        self.path_of(url).is_some()
    }

    /// Whether a URL leads to the same server.
    pub(crate) fn is_beside(&self, url: &Uri) -> bool {
        url.authority() == self.top.authority()
    }
}

fn with_path(base: &Uri, path: &str) -> Option<Uri> {
    let mut parts = base.clone().into_parts();
    parts.path_and_query = Some(path.parse::<PathAndQuery>().ok()?);
    Uri::from_parts(parts).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_relative_to_the_folder_of_the_file_that_names_it() {
        let base = absolute("https://h:8443/a/b/t.py?x=1").unwrap();
        for (reference, want) in [
            ("helper.py", "https://h:8443/a/b/helper.py"),
            ("./c/helper.py", "https://h:8443/a/b/c/helper.py"),
            ("../helper.py", "https://h:8443/a/helper.py"),
            ("../../helper.py", "https://h:8443/helper.py"),
            ("/lib/x.py?y=2", "https://h:8443/lib/x.py?y=2"),
            ("http://other/x.py", "http://other/x.py"),
        ] {
            assert_eq!(join(&base, reference).unwrap().to_string(), want, "{reference}");
        }
        for bad in
            ["", "../../../x", "a b.py", "ftp://h/x", "x.py#y", "a\nb", "https://u@h/x", "https://"]
        {
            assert_eq!(join(&base, bad), None, "{bad:?}");
        }
        assert_eq!(schema(&base).unwrap().to_string(), "https://h:8443/a/b/t.py.schema?x=1");
    }

    #[test]
    fn a_folder_has_what_is_below_it_and_is_written_plainly() {
        for text in ["https://h:8443/a/b", "https://h:8443/a/b/"] {
            let folder = Folder::parse(text).unwrap();
            assert_eq!(folder.file("c/t.py").unwrap().to_string(), "https://h:8443/a/b/c/t.py");
            let path = |url: &str| folder.path_of(&absolute(url).unwrap()).map(str::to_owned);
            for (url, want) in [
                ("https://h:8443/a/b/t.py", "t.py"),
                ("https://H:8443/a/b/c/t..py", "c/t..py"),
                ("https://h:8443/a/b/", ""),
            ] {
                assert_eq!(path(url).as_deref(), Some(want), "{url}");
            }
            for url in [
                "https://h:8443/a/b",
                "https://h:8443/a/bc/t.py",
                "https://h:8443/a/B/t.py",
                "https://h:8443/t.py",
                "https://h/a/b/t.py",
                "http://h:8443/a/b/t.py",
                "https://other:8443/a/b/t.py",
                "https://h:8443/a/b/../t.py",
                "https://h:8443/a/b/c/../../../t.py",
                "https://h:8443/a/b/./t.py",
                "https://h:8443/a/b/%2e%2e/t.py",
                "https://h:8443/a/b/..\\t.py",
                "https://h:8443/a/b/t.py?x=/../..",
            ] {
                assert_eq!(path(url), None, "{url}");
            }
        }
        assert_eq!(
            Folder::parse("https://h").unwrap().file("t").unwrap().to_string(),
            "https://h/t"
        );
        assert!(Folder::parse("https://h/a?b").is_none() && Folder::parse("h/a").is_none());
    }
}
