//! `alir2hdl-check`, the certificate checker: the command line of the library in this folder.

use std::io::Write;
use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (code, output) = alir2hdl_check::run(&arguments);
    let mut out: Box<dyn Write> = if code == 2 { Box::new(std::io::stderr()) } else { Box::new(std::io::stdout()) };
    let _ = out.write_all(output.as_bytes());
    ExitCode::from(code)
}
