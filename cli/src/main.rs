//! The program `kubectl-formwork`; what it does is in the library.

use std::process::ExitCode;

fn main() -> ExitCode {
    cli::kubectl_formwork()
}
