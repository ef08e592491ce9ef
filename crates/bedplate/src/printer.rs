//! Everything that is printed: data on standard output, everything else on standard error.

use std::io::{IsTerminal, Write};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::exit::Failure;

/// Prints.
#[derive(Debug)]
pub(crate) struct Printer {
    quiet: bool,
    start: Instant,
}

impl Printer {
    pub(crate) fn new(quiet: bool) -> Self {
        Self { quiet, start: Instant::now() }
    }

    /// Data, on standard output.
    pub(crate) fn data(&self, text: &str) -> Result<(), Failure> {
        let mut stdout = anstream::stdout().lock();
        stdout.write_all(text.as_bytes())?;
        if !text.ends_with('\n') {
            stdout.write_all(b"\n")?;
        }
        stdout.flush()?;
        Ok(())
    }

    /// Something for a person, on standard error.
    pub(crate) fn say(&self, text: &str) {
        if !self.quiet {
            let _ = writeln!(anstream::stderr(), "{text}");
        }
    }

    /// Progress over `weight` seconds of expected work: a bar on a terminal, a line for each event otherwise.
    pub(crate) fn progress(&self, weight: f64) -> Progress {
        let terminal = std::io::stderr().is_terminal();
        let bar = if self.quiet || !terminal {
            ProgressBar::with_draw_target(None, ProgressDrawTarget::hidden())
        } else {
            ProgressBar::new(ticks(weight)).with_style(bar_style())
        };
        if terminal {
            bar.enable_steady_tick(Duration::from_millis(250));
        }
        Progress { bar, lines: !self.quiet && !terminal, start: self.start }
    }
}

fn bar_style() -> ProgressStyle {
    ProgressStyle::with_template("{elapsed:>4} {bar:24.green} {percent:>3} %  {wide_msg} {eta:>6}")
        .unwrap_or_else(|_| ProgressStyle::default_bar())
        .progress_chars("━╸ ")
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "expected seconds are small and positive")]
fn ticks(seconds: f64) -> u64 {
    (seconds.max(0.0) * 10.0).round() as u64
}

/// Progress of one piece of work.
#[derive(Debug)]
pub(crate) struct Progress {
    bar: ProgressBar,
    lines: bool,
    start: Instant,
}

impl Progress {
    /// What is being done now. One event: a line where there is no terminal.
    pub(crate) fn now(&self, text: &str) {
        self.bar.set_message(text.to_owned());
        if self.lines {
            let seconds = self.start.elapsed().as_secs();
            let _ = writeln!(anstream::stderr(), "{:>3}:{:02}  {text}", seconds / 60, seconds % 60);
        }
    }

    /// A detail of it, shown only on the bar.
    pub(crate) fn detail(&self, text: &str) {
        self.bar.set_message(text.to_owned());
    }

    /// So many seconds of the expected work are done.
    pub(crate) fn done(&self, weight: f64) {
        self.bar.inc(ticks(weight));
    }

    /// So many seconds of work have been added to what was expected.
    pub(crate) fn extend(&self, weight: f64) {
        self.bar.inc_length(ticks(weight));
    }

    /// Something that must stay on the screen.
    pub(crate) fn note(&self, text: &str) {
        if self.lines {
            self.now(text);
        } else {
            self.bar.suspend(|| {
                let _ = writeln!(anstream::stderr(), "{text}");
            });
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}
