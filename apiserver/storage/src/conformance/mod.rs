//! What a backend must do, as tests.
