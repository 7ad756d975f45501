//! Opening a written page in the user's browser, by the program that the system has for that.

use super::Failure;
use crate::diag::{Diagnostic, Place};
use crate::verify::MISSING_TOOL;
use std::env;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// The programs that open a file in what the user has chosen for it, the best first. Windows has a command of its
/// shell.
const OPENERS: &[&str] = if cfg!(target_os = "macos") {
    &["open"]
} else if cfg!(windows) {
    &["explorer.exe"]
} else {
    &["xdg-open", "gio", "sensible-browser", "wslview"]
};

/// Time that an opener has to report failure. One that still runs then is the browser itself.
const PATIENCE: Duration = Duration::from_secs(3);

/// A program that opens pages.
pub(super) struct Browser {
    program: PathBuf,
    arguments: &'static [&'static str],
}

impl Browser {
    /// The first that there is.
    ///
    /// # Errors
    /// If there is none (exit code 3).
    pub(super) fn find() -> Result<Browser, Failure> {
        let folders: Vec<PathBuf> = env::split_paths(&env::var_os("PATH").unwrap_or_default()).collect();
        let found = OPENERS.iter().find_map(|&name| {
            let program = folders.iter().map(|folder| folder.join(name)).find(|path| path.is_file())?;
            Some(Browser { program, arguments: if name == "gio" { &["open"] } else { &[] } })
        });
        found.ok_or_else(|| {
            let message = format!("--open needs one of {} to open a page, and none is in PATH", OPENERS.join(", "));
            let help = "leave --open out and open the page in a browser yourself (on Debian: apt install xdg-utils)";
            Failure::missing_tool(
                Diagnostic::error(MISSING_TOOL, Place::Flag("--open".into()), message).with_help(help),
            )
        })
    }

    /// Opens a page. The browser goes on by itself.
    ///
    /// # Errors
    /// If the program cannot be started (exit code 3), or says that it could not open the page (exit code 2).
    pub(super) fn open(&self, page: &Path) -> Result<(), Failure> {
        let page = page.canonicalize().map_err(|e| Failure::io(page, "open", &e))?;
        let mut command = Command::new(&self.program);
        command.args(self.arguments).arg(&page).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let place = || Place::Flag("--open".into());
        let name = self.program.display();
        let status = ended(&mut command).map_err(|e| {
            Failure::missing_tool(Diagnostic::error(MISSING_TOOL, place(), format!("{name} cannot be started: {e}")))
        })?;
        // The file manager of Windows ends with 1 whatever happened.
        let Some(status) = status.filter(|status| !status.success() && !cfg!(windows)) else { return Ok(()) };
        let message = format!("{name} did not open the page ({status}); it is written: {}", page.display());
        Err(Failure::input(Diagnostic::error("E0814", place(), message).with_help("open it in a browser yourself")))
    }
}

/// Returns the exit status of a command, if it ended within the time limit of openers.
fn ended(command: &mut Command) -> io::Result<Option<ExitStatus>> {
    let mut child = command.spawn()?;
    let start = Instant::now();
    loop {
        let status = child.try_wait()?;
        if status.is_some() || start.elapsed() > PATIENCE {
            return Ok(status);
        }
        thread::sleep(Duration::from_millis(20));
    }
}
