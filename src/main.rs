//! The program: parse, run, exit code. Everything else is in the library.

use alir2hdl::cli;
use std::process::ExitCode;

fn main() -> ExitCode {
    cli::main()
}
