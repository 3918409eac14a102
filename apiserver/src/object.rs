//! Objects as the machinery holds them: typed metadata, and the rest as the JSON text it came as.
//!
//! A stored value is the text of the metadata and the fields, without kind, apiVersion and
//! resourceVersion: the first two belong to the resource it is read through, the third is the
//! revision of the store. It says where the third goes, so that reading is a copy and no parsing.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::OnceLock;

use schema::Member;
use schema::json::Scanner;
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::value::RawValue;
use storage::Revision;

use crate::meta::ObjectMeta;
use crate::status::Error;

/// An object between decoding and encoding.
#[derive(Clone, Debug, PartialEq)]
pub struct Object {
    /// Its metadata.
    pub meta: ObjectMeta,
    /// Everything but apiVersion, kind and metadata.
    pub fields: Fields,
}

/// The members of an object besides apiVersion, kind and metadata: JSON text, joined by commas,
/// without the braces, as the schema's normal form wants it (no unknown and no repeated member).
#[derive(Clone, Debug, Default)]
pub struct Fields {
    text: String,
    /// Where the members stand; found by the decoder, or when somebody asks.
    members: OnceLock<Vec<Member>>,
}

impl Fields {
    /// Takes text that a decoder has proven, or that was written from typed values.
    pub fn new(text: String) -> Self {
        Self { text, members: OnceLock::new() }
    }

    /// Takes text in which the decoder has found these members.
    pub(crate) fn decoded(text: String, members: Vec<Member>) -> Self {
        Self { text, members: members.into() }
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// The members in their order: key, and value as JSON text.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        let members = self.members.get_or_init(|| find_members(&self.text));
        let of = |place: &Range<usize>| &self.text[place.clone()];
        members.iter().map(move |member| (of(&member.name), of(&member.value)))
    }

    /// One member's value as JSON text.
    pub fn get(&self, key: &str) -> Option<&str> {
        self.iter().find(|(name, _)| *name == key).map(|(_, value)| value)
    }

    /// What stands at a path such as `spec.type`, as text: a string, a number or a truth value.
    pub fn scalar(&self, path: &str) -> Option<String> {
        let (first, rest) = path.split_once('.').map_or((path, None), |(a, b)| (a, Some(b)));
        let mut value = self.get(first)?;
        for key in rest.into_iter().flat_map(|rest| rest.split('.')) {
            let members: BTreeMap<Cow<'_, str>, &RawValue> = serde_json::from_str(value).ok()?;
            value = members.get(key)?.get();
        }
        match serde_json::from_str(value).ok()? {
            serde_json::Value::String(text) => Some(text),
            serde_json::Value::Number(_) | serde_json::Value::Bool(_) => Some(value.to_owned()),
            _ => None,
        }
    }

    /// The members as one JSON object.
    pub fn to_json(&self) -> String {
        format!("{{{}}}", self.text)
    }
}

impl PartialEq for Fields {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

impl Eq for Fields {}

/// Finds the members of a text; those before the first mistake, if it has one.
fn find_members(text: &str) -> Vec<Member> {
    let mut members: Vec<Member> = Vec::new();
    let next =
        |members: &[Member]| find_member(text, members.last().map_or(0, |last| last.value.end));
    while let Some(member) = next(&members) {
        members.push(member);
    }
    members
}

/// The first member that begins at or after an offset.
fn find_member(text: &str, from: usize) -> Option<Member> {
    let rest = text[from..].trim_start_matches(|c: char| c.is_ascii_whitespace() || c == ',');
    // A key of a schema holds nothing that JSON escapes.
    let (name, rest) = rest.strip_prefix('"')?.split_once('"')?;
    let value = rest.trim_start().strip_prefix(':')?.trim_start();
    let name_end = text.len() - rest.len() - "\"".len();
    let start = text.len() - value.len();
    let value = Scanner::new(value, usize::MAX).skip().ok()?;
    Some(Member { name: name_end - name.len()..name_end, value: start..start + value.len() })
}

impl Object {
    /// The value to store. The resourceVersion is left out: it is not known before the commit.
    pub fn to_stored(&self) -> Vec<u8> {
        let unrevised;
        let meta = if self.meta.resource_version.is_empty() {
            &self.meta
        } else {
            unrevised = ObjectMeta { resource_version: String::new(), ..self.meta.clone() };
            &unrevised
        };
        let identity = serde_json::to_vec(&Identity::of(meta)).expect("strings are always JSON");
        let gap = u32::try_from(identity.len() - 1).expect("names are short");
        let mut out = Vec::with_capacity(self.fields.text.len() + 512);
        out.push(FORMAT);
        out.extend_from_slice(&gap.to_le_bytes());
        self.write_from_metadata(meta, &mut out);
        out
    }

    /// Appends the object as clients see it. `head` is [`crate::resource::Definition::head`].
    pub fn write(&self, head: &str, out: &mut Vec<u8>) {
        out.extend_from_slice(head.as_bytes());
        self.write_from_metadata(&self.meta, out);
    }

    fn write_from_metadata(&self, meta: &ObjectMeta, out: &mut Vec<u8>) {
        serde_json::to_writer(&mut *out, meta).expect("metadata is always JSON");
        if !self.fields.text.is_empty() {
            out.push(b',');
            out.extend_from_slice(self.fields.text.as_bytes());
        }
        out.push(b'}');
    }

    /// The object as clients see it. `head` is [`crate::resource::Definition::head`].
    pub fn to_bytes(&self, head: &str) -> Vec<u8> {
        let mut out = Vec::with_capacity(head.len() + self.fields.text.len() + 512);
        self.write(head, &mut out);
        out
    }

    /// As [`Object::to_bytes`].
    pub fn to_text(&self, head: &str) -> String {
        String::from_utf8(self.to_bytes(head)).expect("written from text")
    }
}

/// The members of the metadata that precede resourceVersion.
#[derive(serde::Serialize)]
#[serde(rename_all = "camelCase")]
struct Identity<'a> {
    #[serde(skip_serializing_if = "str::is_empty")]
    name: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    generate_name: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    namespace: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    self_link: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    uid: &'a str,
}

impl<'a> Identity<'a> {
    fn of(meta: &'a ObjectMeta) -> Self {
        Self {
            name: &meta.name,
            generate_name: &meta.generate_name,
            namespace: &meta.namespace,
            self_link: &meta.self_link,
            uid: &meta.uid,
        }
    }
}

/// The first byte of a stored value: the version of its layout. Four bytes follow, the length of
/// the text before the gap into which the resourceVersion goes, little-endian; then the text.
const FORMAT: u8 = 1;
const HEADER: usize = 5;

/// A stored value, read where it lies. At [`Revision::ZERO`] it is one that was never stored.
#[derive(Clone, Copy, Debug)]
pub struct Stored<'a> {
    /// From the `{` of the metadata to the `}` of the object; text since it came in, which is not
    /// proven again to send it.
    text: &'a [u8],
    gap: usize,
    revision: Revision,
}

impl<'a> Stored<'a> {
    /// A view on a value of the store.
    ///
    /// # Errors
    /// 500, when the store holds something that this server did not write.
    pub fn new(value: &'a [u8], revision: Revision) -> Result<Self, Error> {
        let unreadable = || Error::internal("a stored value is not readable");
        let (header, text) = value.split_first_chunk::<HEADER>().ok_or_else(unreadable)?;
        let [FORMAT, gap @ ..] = *header else { return Err(unreadable()) };
        let gap = u32::from_le_bytes(gap) as usize;
        if !text.starts_with(b"{") || !(1..=text.len()).contains(&gap) {
            return Err(unreadable());
        }
        Ok(Self { text, gap, revision })
    }

    /// The revision at which the object was last written.
    pub fn revision(&self) -> Revision {
        self.revision
    }

    /// The metadata, or a part of it, as a typed value; the fields are not looked at.
    ///
    /// # Errors
    /// 500, when the stored metadata is not readable.
    pub fn metadata<T: Deserialize<'a>>(&self) -> Result<T, Error> {
        self.split_metadata().map(|(metadata, _)| metadata)
    }

    /// The whole object, parsed as far as [`Object`] goes.
    ///
    /// # Errors
    /// 500, when the stored metadata is not readable.
    pub fn to_object(&self) -> Result<Object, Error> {
        let (mut meta, rest): (ObjectMeta, _) = self.split_metadata()?;
        meta.resource_version = self.revision.to_string();
        Ok(Object { meta, fields: fields_in(rest)? })
    }

    /// Everything but the metadata.
    ///
    /// # Errors
    /// 500, when the stored metadata is not readable.
    pub fn fields(&self) -> Result<Fields, Error> {
        let (_, rest): (IgnoredAny, _) = self.split_metadata()?;
        fields_in(rest)
    }

    /// The metadata, and the text that follows it.
    fn split_metadata<T: Deserialize<'a>>(&self) -> Result<(T, &'a [u8]), Error> {
        let mut values = serde_json::Deserializer::from_slice(self.text).into_iter::<T>();
        match values.next() {
            Some(Ok(metadata)) => Ok((metadata, &self.text[values.byte_offset()..])),
            Some(Err(error)) => Err(Error::internal(format_args!("stored metadata: {error}"))),
            None => Err(Error::internal("a stored value has no metadata")),
        }
    }

    /// Appends the object as clients see it. `head` is [`crate::resource::Definition::head`].
    pub fn write(&self, head: &str, out: &mut Vec<u8>) {
        out.reserve(head.len() + self.text.len() + 40);
        out.extend_from_slice(head.as_bytes());
        self.write_revised(self.text, out);
    }

    /// Appends only the metadata, as a JSON object with its resourceVersion.
    ///
    /// # Errors
    /// 500, when the stored metadata is not readable.
    pub fn write_metadata(&self, out: &mut Vec<u8>) -> Result<(), Error> {
        let metadata: &RawValue = self.metadata()?;
        self.write_revised(metadata.get().as_bytes(), out);
        Ok(())
    }

    fn write_revised(&self, text: &[u8], out: &mut Vec<u8>) {
        use std::io::Write as _;
        if self.revision == Revision::ZERO {
            return out.extend_from_slice(text);
        }
        let (before, after) = text.split_at(self.gap.min(text.len()));
        out.extend_from_slice(before);
        let (lead, trail): (&[u8], &[u8]) = match (before == b"{", after.starts_with(b"}")) {
            (false, _) => (b",", b""),
            (true, true) => (b"", b""),
            (true, false) => (b"", b","),
        };
        out.extend_from_slice(lead);
        // Writing to a Vec cannot fail.
        let _ = write!(out, "\"resourceVersion\":\"{}\"", self.revision);
        out.extend_from_slice(trail);
        out.extend_from_slice(after);
    }
}

/// The fields, in the text that follows the metadata of an object up to its end.
fn fields_in(rest: &[u8]) -> Result<Fields, Error> {
    let rest = std::str::from_utf8(rest).map_err(Error::internal)?;
    let fields = rest.strip_prefix(',').unwrap_or(rest).strip_suffix('}').unwrap_or_default();
    Ok(Fields::new(fields.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEAD: &str = "{\"kind\":\"K\",\"apiVersion\":\"g/v\",\"metadata\":";

    fn object(name: &str) -> Object {
        let labels = [("l".to_owned(), "1".to_owned())].into();
        Object {
            meta: ObjectMeta { name: name.into(), labels, ..ObjectMeta::default() },
            fields: Fields::new("\"x\":[1, {\"y\":\"}\"}],\"z\":null".into()),
        }
    }

    #[test]
    fn a_stored_object_reads_back_with_its_revision_where_the_original_has_it() {
        for name in ["a", "é\"", ""] {
            let bytes = object(name).to_stored();
            let stored = Stored::new(&bytes, Revision::new(7)).unwrap();
            let mut expected = object(name);
            expected.meta.resource_version = "7".into();
            assert_eq!(stored.to_object().unwrap(), expected);

            let mut direct = Vec::new();
            stored.write(HEAD, &mut direct);
            assert_eq!(String::from_utf8(direct).unwrap(), expected.to_text(HEAD));
            let mut metadata = Vec::new();
            stored.write_metadata(&mut metadata).unwrap();
            assert_eq!(metadata, serde_json::to_vec(&expected.meta).unwrap());
            assert_eq!(expected.to_stored(), bytes);
        }
    }

    #[test]
    fn members_are_found_whatever_stands_in_their_values() {
        let object = object("a");
        assert_eq!(object.fields.get("x"), Some("[1, {\"y\":\"}\"}]"));
        assert_eq!(object.fields.get("z"), Some("null"));
        assert_eq!(object.fields.get("y"), None);
        let spaced = Fields::new(" \"a\" : {\"b\":\",\"} ,\n\t\"c\":[]".into());
        let members: Vec<_> = spaced.iter().collect();
        assert_eq!(members, [("a", "{\"b\":\",\"}"), ("c", "[]")]);
    }

    #[test]
    fn scalars_are_found_by_their_path_and_nothing_else_is_one() {
        let fields = Fields::new(
            r#""a":"x\u0041","b":{"c":{"d":1.50,"e":[],"f":null,"\u0067":true}},"h.i":2"#.into(),
        );
        for (path, want) in [
            ("a", Some("xA")),
            ("b.c.d", Some("1.50")),
            ("b.c.g", Some("true")),
            ("b.c", None),
            ("b.c.e", None),
            ("b.c.f", None),
            ("b.c.z", None),
            ("a.b", None),
            ("z", None),
            ("h.i", None),
        ] {
            assert_eq!(fields.scalar(path).as_deref(), want, "{path}");
        }
    }

    #[test]
    fn an_object_without_fields_and_metadata_is_still_an_object() {
        let empty = Object { meta: ObjectMeta::default(), fields: Fields::default() };
        let mut out = Vec::new();
        empty.write(HEAD, &mut out);
        assert_eq!(out, b"{\"kind\":\"K\",\"apiVersion\":\"g/v\",\"metadata\":{}}");
    }

    #[test]
    fn a_foreign_value_is_an_internal_error_and_no_panic() {
        for value in [&b"{}"[..], b"", b"\x01\x01\0\0\0{", b"\x01\xff\xff\xff\xff{}", b"\xff"] {
            if let Ok(stored) = Stored::new(value, Revision::new(1)) {
                stored.to_object().unwrap_err();
            }
        }
    }
}
