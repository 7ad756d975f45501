//! Progress display on a terminal: finished share and remaining time.

use super::Global;
use crate::prove::progress::ProgressCounter;
use indicatif::{MultiProgress, ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::{self, IsTerminal, Write};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// Time between two updates.
const EVERY: Duration = Duration::from_millis(250);
/// Number of steps of a bar that shows a fraction.
const STEPS: u64 = 1_000;
/// Template with the finished share and the estimated remaining time.
const SHARE: &str = "{spinner} {msg} {bar:24} {percent:>3} %, {eta} left";
/// Template with the elapsed time.
const ELAPSED: &str = "{spinner} {msg} {elapsed}";

/// Returns `true` if progress is visible to a user.
fn is_shown(global: Global) -> bool {
    !global.quiet && io::stderr().is_terminal()
}

fn style(template: &str) -> ProgressStyle {
    ProgressStyle::with_template(template).unwrap_or(ProgressStyle::default_spinner())
}

/// Thread that updates a display periodically, until the value is dropped.
struct Repeated {
    stop: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Repeated {
    fn new(mut look: impl FnMut() + Send + 'static) -> Repeated {
        let (stop, stopped) = mpsc::channel();
        let thread = thread::spawn(move || {
            while stopped.recv_timeout(EVERY) == Err(RecvTimeoutError::Timeout) {
                look();
            }
        });
        Repeated { stop: Some(stop), thread: Some(thread) }
    }
}

impl Drop for Repeated {
    fn drop(&mut self) {
        drop(self.stop.take());
        // The thread only draws, so a panic in it is ignored.
        let _ = self.thread.take().map(JoinHandle::join);
    }
}

/// Progress bars, one below the other.
pub(super) struct Bars(Option<MultiProgress>);

/// Bar of [`Bars`], which is removed when the value is dropped.
pub(super) struct Bar {
    bar: ProgressBar,
    _looking: Repeated,
}

impl Bars {
    pub(super) fn new(global: Global) -> Bars {
        Bars(is_shown(global).then(|| MultiProgress::with_draw_target(ProgressDrawTarget::stderr())))
    }

    /// Executes a job that prints, and hides the bars during it.
    pub(super) fn suspended<T>(&self, job: impl FnOnce() -> T) -> T {
        match &self.0 {
            Some(bars) => bars.suspend(job),
            None => job(),
        }
    }

    /// Adds the bar of a simulation: first with the elapsed time, then with the share of the vectors that it has read.
    pub(super) fn simulation(&self, name: &str, folder: PathBuf) -> Option<Bar> {
        let bar = self.0.as_ref()?.add(ProgressBar::new(STEPS));
        bar.set_style(style(ELAPSED));
        bar.set_message(name.to_owned());
        bar.enable_steady_tick(Duration::from_millis(100));
        let (shown, mut is_reading) = (bar.clone(), false);
        let looking = Repeated::new(move || {
            let Some(share) = crate::verify::share_read(&folder) else { return };
            if !is_reading {
                is_reading = true;
                shown.set_style(style(SHARE));
                shown.reset_eta();
            }
            shown.set_position((share * STEPS as f64) as u64);
        });
        Some(Bar { bar, _looking: looking })
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

/// Shows the progress of a proof: number of proved outputs, used share of the budget, and an upper bound of the
/// remaining time.
pub(super) fn proof(progress: &Arc<ProgressCounter>, global: Global) -> Option<Bar> {
    if !is_shown(global) {
        return None;
    }
    let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
    bar.set_style(style("{spinner} {msg}"));
    let (shown, progress, begun) = (bar.clone(), Arc::clone(progress), Instant::now());
    let looking = Repeated::new(move || {
        let now = progress.read();
        let share = now.spent as f64 / now.work.max(1) as f64;
        let mut text = match now.outputs {
            0 => "proving".to_owned(),
            all => format!("proved {} of {all} outputs", now.proved),
        };
        if share > 0.0 {
            let left = begun.elapsed().as_secs_f64() * (1.0 - share).max(0.0) / share;
            text.push_str(&format!(
                ", {:.0} % of the budget (--prove-effort), at most {left:.0} s left",
                share * 100.0
            ));
        }
        shown.set_message(text);
        shown.tick();
    });
    Some(Bar { bar, _looking: looking })
}

/// Writer of an RTL file that shows the progress in lines.
pub(super) struct Lines<'a> {
    out: &'a mut dyn Write,
    bar: Option<ProgressBar>,
}

impl<'a> Lines<'a> {
    pub(super) fn new(out: &'a mut dyn Write, what: &str, lines: usize, global: Global) -> Lines<'a> {
        let bar = is_shown(global).then(|| {
            let bar = ProgressBar::with_draw_target(Some(lines as u64), ProgressDrawTarget::stderr());
            bar.set_style(style(SHARE));
            bar.set_message(format!("writing {what}"));
            bar
        });
        Lines { out, bar }
    }
}

impl Write for Lines<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.out.write(bytes)?;
        if let Some(bar) = &self.bar {
            let lines = bytes[..written].iter().filter(|&&byte| byte == b'\n').count() as u64;
            // The number of lines is an estimate, so the bar stops before its end.
            let most = bar.length().unwrap_or(0).saturating_sub(1);
            bar.set_position((bar.position() + lines).min(most));
        }
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

impl Drop for Lines<'_> {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}
