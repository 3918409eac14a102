//! What can be wrong with a body. The texts are those of Go's JSON decoder, because clients and
//! their users have learnt to read them.

use thiserror::Error;

/// Why a body could not be decoded.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum DecodeError {
    /// The text is not JSON.
    #[error(transparent)]
    Syntax(#[from] SyntaxError),
    /// `apiVersion` or `kind` cannot be read, or the body is not an object at all: it is not known
    /// what the body is.
    #[error("{0}")]
    TypeMeta(String),
    /// A value has the wrong JSON type for its field.
    #[error(transparent)]
    Type(#[from] TypeError),
}

impl DecodeError {
    /// Whether the body failed before its kind was known. Kubernetes then says `couldn't get
    /// version/kind; json parse error: ...`.
    pub fn is_unrecognized(&self) -> bool {
        match self {
            Self::Syntax(_) | Self::TypeMeta(_) => true,
            Self::Type(_) => false,
        }
    }
}

/// A field whose value has the wrong type, or a time that is not RFC 3339.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{message}")]
pub struct TypeError {
    /// Where, as in `parameters[0].value`.
    pub path: String,
    /// What, in the words of Go's decoder.
    pub message: String,
}

/// Text that is not JSON, with the byte offset where that became certain.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{message}")]
pub struct SyntaxError {
    /// The text of Go's scanner: `invalid character 'x' looking for beginning of value`.
    pub message: String,
    /// Byte offset of the offending character.
    pub offset: usize,
}

impl SyntaxError {
    pub(crate) fn unexpected(found: u8, context: &str, offset: usize) -> Self {
        // Go quotes the byte as if it were a code point, so that the first byte of `é` prints as
        // 'Ã'.
        let found = match found {
            b'\'' => r"'\''".to_owned(),
            b'"' => "'\"'".to_owned(),
            byte => {
                let quoted = crate::go_quote(&char::from(byte).to_string());
                format!("'{}'", &quoted[1..quoted.len() - 1])
            }
        };
        Self { message: format!("invalid character {found} {context}"), offset }
    }

    pub(crate) fn end(offset: usize) -> Self {
        Self { message: "unexpected end of JSON input".to_owned(), offset }
    }

    pub(crate) fn too_deep(offset: usize) -> Self {
        Self { message: "exceeded max depth".to_owned(), offset }
    }
}
