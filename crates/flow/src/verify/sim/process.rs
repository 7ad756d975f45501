//! Execution of tools, with limits on their time and output.
//!
//! Output goes to files of the job's folder (no pipe can fill up, and the log remains for the user) and standard input
//! is closed. After the deadline the tool and all its descendants are ended. Tools stay in the process group of this
//! program, so that an interrupt from the terminal reaches them too.

use super::{Deadline, SimError};
use alir_core::diag::shell_word;
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Number of bytes of a log that an error contains: the end of the log, where tools report errors.
const LOG_TAIL: u64 = 4000;

/// One command of a job.
#[derive(Clone, Debug)]
pub(crate) struct Invocation {
    /// Path of the program.
    pub(crate) program: PathBuf,
    /// Arguments of the program.
    pub(crate) args: Vec<OsString>,
    /// Additional environment variables.
    pub(crate) env: Vec<(&'static str, OsString)>,
}

impl Invocation {
    /// Creates a command without arguments.
    pub(crate) fn new(program: impl Into<PathBuf>) -> Invocation {
        Invocation { program: program.into(), args: Vec::new(), env: Vec::new() }
    }

    /// Adds an argument.
    #[must_use]
    pub(crate) fn arg(mut self, arg: impl Into<OsString>) -> Invocation {
        self.args.push(arg.into());
        self
    }

    /// Adds arguments.
    #[must_use]
    pub(crate) fn args<A: Into<OsString>>(mut self, args: impl IntoIterator<Item = A>) -> Invocation {
        self.args.extend(args.into_iter().map(Into::into));
        self
    }

    /// Returns the command in shell syntax.
    pub(crate) fn shell(&self) -> String {
        let mut words: Vec<String> =
            self.env.iter().map(|(name, value)| format!("{name}={}", shell_word(&value.to_string_lossy()))).collect();
        words.push(shell_word(&self.program.to_string_lossy()));
        words.extend(self.args.iter().map(|a| shell_word(&a.to_string_lossy())));
        words.join(" ")
    }
}

/// Runs a command in `dir`, with its output in the file `log` of `dir`. Returns its exit status.
///
/// # Errors
/// [`SimError::Timeout`] after the deadline, [`SimError::Io`] if the command cannot be started or the log cannot be
/// written.
pub(crate) fn run(what: &Invocation, dir: &Path, log: &str, deadline: Deadline) -> Result<ExitStatus, SimError> {
    let out = File::create(dir.join(log)).map_err(SimError::Io)?;
    let both = out.try_clone().map_err(SimError::Io)?;
    start(what, dir, out, both, deadline)
}

/// Runs a command in `dir`, with its standard output in the file `out` and its messages in `log`. Returns its exit
/// status.
///
/// # Errors
/// As [`run`].
pub(crate) fn run_apart(
    what: &Invocation,
    dir: &Path,
    out: &Path,
    log: &Path,
    deadline: Deadline,
) -> Result<ExitStatus, SimError> {
    let out = File::create(out).map_err(SimError::Io)?;
    let log = File::create(log).map_err(SimError::Io)?;
    start(what, dir, out, log, deadline)
}

fn start(what: &Invocation, dir: &Path, out: File, log: File, deadline: Deadline) -> Result<ExitStatus, SimError> {
    let child = Command::new(&what.program)
        .args(&what.args)
        .envs(what.env.iter().map(|(n, v)| (n, v)))
        .current_dir(dir)
        .stdin(Stdio::null())
        .stdout(out)
        .stderr(log)
        .spawn()
        .map_err(SimError::Io)?;
    wait(child, deadline)
}

/// Process ids of running tools, for [`end_all`].
static RUNNING: Mutex<BTreeSet<u32>> = Mutex::new(BTreeSet::new());

fn running() -> MutexGuard<'static, BTreeSet<u32>> {
    RUNNING.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Ends every running tool and its descendants. For a process that is about to end: an interrupt from a terminal also
/// reaches the tools, a signal to this process alone does not.
pub fn end_all() {
    running().iter().for_each(|id| end_tree(*id));
}

/// A running tool, which [`end_all`] ends as long as this value exists.
pub struct RunningTool(u32);

impl RunningTool {
    /// Records a process for [`end_all`].
    pub fn new(child: &Child) -> RunningTool {
        running().insert(child.id());
        RunningTool(child.id())
    }
}

impl Drop for RunningTool {
    fn drop(&mut self) {
        running().remove(&self.0);
    }
}

/// Waits for the end of a process; ends it after the deadline.
fn wait(child: Child, deadline: Deadline) -> Result<ExitStatus, SimError> {
    let _running = RunningTool::new(&child);
    wait_until(child, deadline)
}

fn wait_until(mut child: Child, deadline: Deadline) -> Result<ExitStatus, SimError> {
    let mut pause = Duration::from_millis(1);
    loop {
        if let Some(status) = child.try_wait().map_err(SimError::Io)? {
            return Ok(status);
        }
        if deadline.passed() {
            end_tree(child.id());
            let _ = child.kill();
            let _ = child.wait();
            return Err(SimError::Timeout { after: deadline.allowed });
        }
        std::thread::sleep(pause);
        pause = (pause * 2).min(Duration::from_millis(20));
    }
}

/// Ends a process and its descendants, if the system lists them (`/proc`).
fn end_tree(root: u32) {
    let mut doomed = vec![root];
    let parents = parents();
    let mut next = 0;
    while next < doomed.len() {
        let parent = doomed[next];
        doomed.extend(parents.iter().filter(|(_, p)| *p == parent).map(|(child, _)| *child));
        next += 1;
    }
    for id in doomed {
        if let Some(id) = i32::try_from(id).ok().and_then(rustix::process::Pid::from_raw) {
            // The process may have ended in the meantime.
            let _ = rustix::process::kill_process(id, rustix::process::Signal::KILL);
        }
    }
}

/// Returns each process with its parent. Empty on systems without `/proc`, where only the tool itself is ended.
fn parents() -> Vec<(u32, u32)> {
    let Ok(entries) = std::fs::read_dir("/proc") else { return Vec::new() };
    let of = |entry: std::fs::DirEntry| {
        let id: u32 = entry.file_name().to_str()?.parse().ok()?;
        let stat = std::fs::read_to_string(entry.path().join("stat")).ok()?;
        // The second field is the command in brackets and may contain any character; the parent is the second field
        // after it.
        let parent = stat.rsplit(')').next()?.split_whitespace().nth(1)?.parse().ok()?;
        Some((id, parent))
    };
    entries.filter_map(|e| of(e.ok()?)).collect()
}

/// Returns the end of a log, for an error message.
pub(crate) fn log_tail(path: &Path) -> String {
    let read = || -> std::io::Result<String> {
        let mut file = File::open(path)?;
        let len = file.metadata()?.len();
        file.seek(SeekFrom::Start(len.saturating_sub(LOG_TAIL)))?;
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes)?;
        Ok(String::from_utf8_lossy(&bytes).trim_end().to_owned())
    };
    read().unwrap_or_else(|e| format!("(its log cannot be read: {e})"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tool_that_hangs_is_ended_with_what_it_started() {
        let dir = tempfile::tempdir().unwrap();
        let hang = Invocation::new("sh").args(["-c", "sleep 1000 & echo $!; wait"]);
        let deadline = Deadline::after(Duration::from_millis(300));
        let outcome = run(&hang, dir.path(), "log", deadline);
        assert!(matches!(outcome, Err(SimError::Timeout { .. })), "{outcome:?}");
        let grandchild = log_tail(&dir.path().join("log"));
        // A killed process disappears or becomes a zombie after a short time; a running one sleeps far longer.
        let gone = || {
            let stat = std::fs::read_to_string(format!("/proc/{grandchild}/stat")).unwrap_or_default();
            stat.is_empty() || stat.contains(") Z")
        };
        let limit = Deadline::after(Duration::from_secs(100));
        while !gone() {
            assert!(!limit.passed(), "process {grandchild} is still there");
            std::thread::yield_now();
        }
    }

    #[test]
    fn output_and_exit_status_are_kept() {
        let dir = tempfile::tempdir().unwrap();
        let fail = Invocation::new("sh").args(["-c", "echo out; echo err >&2; exit 3"]);
        let status = run(&fail, dir.path(), "log", Deadline::after(Duration::from_secs(60))).unwrap();
        assert_eq!(status.code(), Some(3));
        assert_eq!(log_tail(&dir.path().join("log")), "out\nerr");
    }

    #[test]
    fn commands_are_shown_as_a_shell_takes_them() {
        let mut shown = Invocation::new("vvp").arg("-n").arg("it's here");
        shown.env.push(("A", "b c".into()));
        assert_eq!(shown.shell(), "A='b c' vvp -n 'it'\\''s here'");
    }
}
