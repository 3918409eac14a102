//! HTTP/2 written by hand, for what no client library sends.

/// A header or a pseudo-header: its name and its value, as they go on the wire.
pub(super) type Field<'a> = (&'a str, &'a str);

const DATA: u8 = 0;
const HEADERS: u8 = 1;
const RESET: u8 = 3;
const SETTINGS: u8 = 4;
const GO_AWAY: u8 = 7;
const END_STREAM: u8 = 0x1;
const END_HEADERS: u8 = 0x4;
/// What stands behind the stream in a GOAWAY.
const NO_ERROR: [u8; 4] = [0; 4];
/// Of a frame.
const HEAD: usize = 9;

/// What every request begins with.
pub(super) fn pseudo<'a>(method: &'a str, path: &'a str) -> Vec<Field<'a>> {
    vec![(":method", method), (":scheme", "https"), (":authority", "x"), (":path", path)]
}

/// A connection with one request.
pub(super) fn request(fields: &[Field<'_>]) -> Vec<u8> {
    let mut bytes = preface();
    frame(&mut bytes, HEADERS, END_HEADERS | END_STREAM, 1, &block(fields));
    bytes
}

/// A connection with one request that has headers behind its empty body.
pub(super) fn request_with_trailers(fields: &[Field<'_>], trailers: &[Field<'_>]) -> Vec<u8> {
    let mut bytes = preface();
    frame(&mut bytes, HEADERS, END_HEADERS, 1, &block(fields));
    frame(&mut bytes, DATA, 0, 1, b"");
    frame(&mut bytes, HEADERS, END_HEADERS | END_STREAM, 1, &block(trailers));
    bytes
}

/// Whether the request was answered in full, or refused, or the connection was.
pub(super) fn is_answered(mut bytes: &[u8]) -> bool {
    while let [a, b, c, kind, flags, ..] = *bytes {
        let end = HEAD + usize::from(a) * 65536 + usize::from(b) * 256 + usize::from(c);
        if bytes.len() < end {
            return false;
        }
        let is_last = matches!(kind, DATA | HEADERS) && flags & END_STREAM != 0;
        // A connection that ends in peace says so before its last answer.
        let is_refused = kind == GO_AWAY && bytes[HEAD + 4..HEAD + 8] != NO_ERROR;
        if is_last || kind == RESET || is_refused {
            return true;
        }
        bytes = &bytes[end..];
    }
    false
}

fn preface() -> Vec<u8> {
    let mut bytes = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".to_vec();
    frame(&mut bytes, SETTINGS, 0, 0, b"");
    bytes
}

fn frame(bytes: &mut Vec<u8>, kind: u8, flags: u8, stream: u8, payload: &[u8]) {
    let length = u16::try_from(payload.len()).expect("tests send little").to_be_bytes();
    bytes.extend([0, length[0], length[1], kind, flags, 0, 0, 0, stream]);
    bytes.extend(payload);
}

/// HPACK: every field a literal that is not to be remembered, and no Huffman coding.
fn block(fields: &[Field<'_>]) -> Vec<u8> {
    const LONGEST_IN_ONE_BYTE: u8 = 126;
    let mut bytes = Vec::new();
    for (name, value) in fields {
        bytes.push(0);
        for text in [name, value] {
            let length = u8::try_from(text.len()).expect("tests send little");
            assert!(length <= LONGEST_IN_ONE_BYTE, "{text}");
            bytes.push(length);
            bytes.extend(text.bytes());
        }
    }
    bytes
}
