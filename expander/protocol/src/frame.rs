//! Frames: a length and that many bytes.

/// Bytes of the length in front of a frame.
pub const HEADER: usize = 4;

/// Why a frame is not taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FrameError {
    /// It says to be longer than is allowed.
    #[error("a frame of {length} bytes, where {limit} are allowed")]
    TooLong {
        /// What the header says.
        length: usize,
        /// What is allowed.
        limit: usize,
    },
    /// It is empty, which no message is.
    #[error("an empty frame")]
    Empty,
}

/// The frame around `body`.
///
/// # Errors
/// When `body` is empty or longer than `limit`.
pub fn encode(body: &[u8], limit: usize) -> Result<Vec<u8>, FrameError> {
    let length = check(body.len(), limit)?;
    let mut frame = Vec::with_capacity(HEADER + length);
    let header = u32::try_from(length).map_err(|_| FrameError::TooLong { length, limit })?;
    frame.extend_from_slice(&header.to_be_bytes());
    frame.extend_from_slice(body);
    Ok(frame)
}

/// How long the body behind `header` is.
///
/// # Errors
/// When that is nothing, or more than `limit`.
pub fn length(header: [u8; HEADER], limit: usize) -> Result<usize, FrameError> {
    check(u32::from_be_bytes(header) as usize, limit)
}

fn check(length: usize, limit: usize) -> Result<usize, FrameError> {
    match length {
        0 => Err(FrameError::Empty),
        length if length > limit => Err(FrameError::TooLong { length, limit }),
        length => Ok(length),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_frame_says_how_long_its_body_is() {
        let frame = encode(b"{}", 8).unwrap();
        assert_eq!(frame, [0, 0, 0, 2, b'{', b'}']);
        assert_eq!(length([0, 0, 0, 2], 8), Ok(2));
    }

    #[test]
    fn a_frame_that_lies_about_its_length_is_refused_before_memory_is_spent() {
        assert_eq!(
            length([0xff; 4], 8),
            Err(FrameError::TooLong { length: 0xffff_ffff, limit: 8 })
        );
        assert_eq!(length([0; 4], 8), Err(FrameError::Empty));
        assert_eq!(encode(&[0; 9], 8), Err(FrameError::TooLong { length: 9, limit: 8 }));
    }
}
