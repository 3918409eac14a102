//! What a type says behind the prefix of its registry.

/// A template of a registry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Entry<'a> {
    pub(crate) collection: Option<&'a str>,
    pub(crate) template: &'a str,
    pub(crate) version: Option<&'a str>,
}

impl<'a> Entry<'a> {
    /// Reads what stands behind a prefix, `[COLLECTION/]TEMPLATE[:VERSION]`.
    pub(crate) fn parse(rest: &'a str) -> Option<Self> {
        let (path, version) = rest.split_once(':').map_or((rest, None), |(a, b)| (a, Some(b)));
        let (collection, template) = match path.split_once('/') {
            Some((collection, template)) => (Some(collection), template),
            None => (None, path),
        };
        let parts = [Some(template), collection, version];
        let well = parts.into_iter().flatten().all(is_name);
        well.then_some(Self { collection, template, version })
    }
}

/// One part of a type. It becomes part of a URL, so that only what means itself there is a name.
pub(crate) fn is_name(name: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-');
    !name.is_empty() && name.bytes().all(plain) && !name.bytes().all(|byte| byte == b'.')
}

/// What is said where a registry has no such template.
pub(crate) fn missing() -> String {
    "the registry does not have it".to_owned()
}

/// What is said where no version fits.
pub(crate) fn unversioned(version: Option<&str>) -> String {
    match version {
        Some(version) => format!("the registry has no version {version} of it"),
        None => "the registry has no version of it".to_owned(),
    }
}

/// What is said where a version is named and there are none.
pub(crate) fn versionless() -> String {
    "its registry has no versions".to_owned()
}
