//! The program `dm`; what it does is in the library.

use std::process::ExitCode;

fn main() -> ExitCode {
    cli::dm()
}
