//! `alir2hdl-check`: see the library of this folder.

use std::io::Write;
use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    // An expression may nest, and a table is taken apart by recursion: a thread of its own has the stack for both.
    let work = std::thread::Builder::new().stack_size(1 << 28).spawn(move || alir2hdl_check::run(&arguments));
    let (code, said) = match work.map(std::thread::JoinHandle::join) {
        Ok(Ok(answer)) => answer,
        _ => (2, "unreadable: the program ended early\n".to_owned()),
    };
    let mut out: Box<dyn Write> = if code == 2 { Box::new(std::io::stderr()) } else { Box::new(std::io::stdout()) };
    let _ = out.write_all(said.as_bytes());
    ExitCode::from(code)
}
