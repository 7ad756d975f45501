//! The command line program. The library contains all functionality.

use alir2hdl::cli;
use std::process::ExitCode;

fn main() -> ExitCode {
    cli::main()
}
