//! URLs of templates, and paths relative to them.

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
}
