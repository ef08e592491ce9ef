//! Everything that is printed: data on standard output, everything else on standard error.

use std::io::{IsTerminal, Write};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use terms::spelling::{spell, spell_inline};

use crate::exit::Failure;
use crate::paint::{keep_colours, tell};

/// Prints.
#[derive(Debug, Clone)]
pub(crate) struct Printer {
    quiet: bool,
    start: Instant,
}

impl Printer {
    pub(crate) fn new(quiet: bool) -> Self {
        Self { quiet, start: Instant::now() }
    }

    /// Data, on standard output, spelt.
    pub(crate) fn data(&self, text: &str) -> Result<(), Failure> {
        put(&spell(text))
    }

    /// Data that we drew, on standard output: its colours stay, where it has any.
    pub(crate) fn drawn(&self, drawing: &str) -> Result<(), Failure> {
        put(&keep_colours(drawing))
    }

    /// Something for a person, on standard error, spelt.
    pub(crate) fn say(&self, text: &str) {
        if !self.quiet {
            tell(&spell(text));
        }
    }

    /// Something that we drew for a person, on standard error.
    pub(crate) fn show(&self, drawing: &str) {
        if !self.quiet {
            tell(&keep_colours(drawing));
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

/// Writes text that is spelt on standard output, ended by a line end.
fn put(text: &str) -> Result<(), Failure> {
    let mut stdout = std::io::stdout().lock();
    let end = if text.ends_with('\n') { "" } else { "\n" };
    let put = stdout.write_all(text.as_bytes()).and_then(|()| stdout.write_all(end.as_bytes()));
    put.and_then(|()| stdout.flush()).map_err(Failure::output)
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
        self.detail(text);
        if self.lines {
            let seconds = self.start.elapsed().as_secs();
            tell(&format!("{:>3}:{:02}  {}", seconds / 60, seconds % 60, spell(text)));
        }
    }

    /// A detail of it, shown only on the bar.
    pub(crate) fn detail(&self, text: &str) {
        self.bar.set_message(spell_inline(text).into_owned());
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
            self.bar.suspend(|| tell(&spell(text)));
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}
