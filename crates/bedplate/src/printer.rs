//! Everything that is printed: data on standard output, everything else on standard error.

use std::io::{IsTerminal, Write};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};

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

    /// Something for a person, on standard error, spelt; in lines that fit where that is a terminal.
    pub(crate) fn say(&self, text: &str) {
        if !self.quiet {
            tell(&fitted(text));
        }
    }

    /// Something that we drew for a person, on standard error.
    pub(crate) fn show(&self, drawing: &str) {
        if !self.quiet {
            tell(&keep_colours(drawing));
        }
    }

    /// Progress over `weight` seconds of expected work: a line that is drawn anew on a terminal, a line for each event
    /// otherwise.
    pub(crate) fn progress(&self, weight: f64) -> Progress {
        self.progress_in_lanes(weight, 1)
    }

    /// The same of work that is done in so many places at once.
    #[expect(clippy::cast_precision_loss, reason = "no machine has 2^53 processors")]
    pub(crate) fn progress_in_lanes(&self, weight: f64, lanes: usize) -> Progress {
        let terminal = std::io::stderr().is_terminal();
        let work = Arc::new(Mutex::new(Work::begun(Instant::now(), weight, 1.0 / lanes.max(1) as f64)));
        let bar = if self.quiet || !terminal {
            ProgressBar::with_draw_target(None, ProgressDrawTarget::hidden())
        } else {
            ProgressBar::new_spinner().with_style(style(Arc::clone(&work)))
        };
        if terminal {
            bar.enable_steady_tick(Duration::from_millis(250));
        }
        Progress { bar, work, lines: !self.quiet && !terminal, start: self.start }
    }
}

/// Columns of the terminal that standard error is; `None` where it is none.
fn columns() -> Option<usize> {
    let stderr = std::io::stderr();
    let size = stderr.is_terminal().then(|| rustix::termios::tcgetwinsize(&stderr));
    size.map(|size| size.map_or(0, |size| usize::from(size.ws_col)))
        .map(|columns| if columns == 0 { 80 } else { columns })
}

/// The text spelt, its lines broken at blanks where the terminal is too narrow for them. Commands are to be copied and
/// stay whole, and a log has one line for each event.
fn fitted(text: &str) -> String {
    let text = spell(text);
    let Some(columns) = columns() else { return text.into_owned() };
    let is_command =
        |line: &str| line.trim_start().starts_with(['$', '#']) || line.trim_start().starts_with("bedplate ");
    let lines = text.lines().map(|line| match line.chars().count() > columns && !is_command(line) {
        true => report::paragraph("", line, columns).trim_end().to_owned(),
        false => line.to_owned(),
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// Writes text that is spelt on standard output, ended by a line end.
fn put(text: &str) -> Result<(), Failure> {
    let mut stdout = std::io::stdout().lock();
    let end = if text.ends_with('\n') { "" } else { "\n" };
    let put = stdout.write_all(text.as_bytes()).and_then(|()| stdout.write_all(end.as_bytes()));
    put.and_then(|()| stdout.flush()).map_err(Failure::output)
}

fn style(work: Arc<Mutex<Work>>) -> ProgressStyle {
    let line = move |_: &ProgressState, out: &mut dyn std::fmt::Write| {
        // If that fails there is nobody to tell.
        let _ = out.write_str(&locked(&work).line(columns().unwrap_or(80), Instant::now()));
    };
    ProgressStyle::with_template("{line}").unwrap_or_else(|_| ProgressStyle::default_spinner()).with_key("line", line)
}

/// A poisoned lock still holds what was last said.
fn locked(work: &Mutex<Work>) -> MutexGuard<'_, Work> {
    work.lock().unwrap_or_else(PoisonError::into_inner)
}

/// So much of the expected work weighs what was expected of its pace against what is seen of it.
const PRIOR: f64 = 0.1;

/// What is done, what is being done, and how long the rest may take.
#[derive(Debug)]
struct Work {
    begun: Instant,
    /// Seconds that are expected for all, and for what is done.
    weight: f64,
    done: f64,
    /// When the last piece was done.
    since: Instant,
    /// Seconds that a second of expected work takes, as far as is known before the first piece is done.
    pace: f64,
    /// Pieces begun, and how many there are; 0 where they are not counted.
    pieces: (usize, usize),
    /// On what; shortened where there is no room for it.
    subject: String,
    /// What.
    doing: String,
    /// How fast.
    rate: String,
}

impl Work {
    fn begun(now: Instant, weight: f64, pace: f64) -> Self {
        let [subject, doing, rate] = [const { String::new() }; 3];
        Self { begun: now, weight, done: 0.0, since: now, pace, pieces: (0, 0), subject, doing, rate }
    }

    /// Seconds that are left. They run down while a piece is worked on, and are judged anew when one is done.
    fn left(&self, now: Instant) -> f64 {
        let prior = (self.weight * PRIOR).max(1.0);
        let elapsed = self.since.duration_since(self.begun).as_secs_f64();
        let pace = prior.mul_add(self.pace, elapsed) / (prior + self.done);
        let left = (self.weight - self.done).max(0.0) * pace;
        (left - now.duration_since(self.since).as_secs_f64()).max(0.0)
    }

    /// `[12/40] ext4 on RAID-1: RND 4 KiB Q32 T1 read   a 72 r, b 71 r MB/s   1:42 left`: rate and time are never cut off,
    /// the subject is, in its middle.
    fn line(&self, columns: usize, now: Instant) -> String {
        let counter = match self.pieces {
            (_, 0) => format!("{:>4}", clock(now.duration_since(self.begun).as_secs_f64())),
            (at, all) => format!("[{:>2$}/{}]", at.min(all), all, all.to_string().len()),
        };
        let gap = if self.rate.is_empty() { "" } else { "   " };
        let left = self.left(now);
        let left = if left > 0.0 { format!("{} left", clock(left)) } else { OVERDUE.to_owned() };
        let end = format!("{}{gap}{left}", self.rate);
        // The last column stays free: some terminals begin a new line behind it.
        let room = columns.saturating_sub(1 + counter.len() + 1 + 2 + end.chars().count());
        let colon = if self.subject.is_empty() { "" } else { ": " };
        let rest = room.saturating_sub(self.doing.chars().count() + colon.len());
        let subject = report::shorten_middle(&self.subject, rest.max(SUBJECT));
        let middle = report::shorten_middle(&format!("{subject}{colon}{}", self.doing), room);
        let blanks = " ".repeat(room.saturating_sub(middle.chars().count()) + 2);
        format!("{counter} {middle}{blanks}{end}")
    }
}

/// What stands in place of a time that has run down.
const OVERDUE: &str = "longer than expected";

/// Fewest columns of a subject that is still known.
const SUBJECT: usize = 7;

/// `4:07`, `1:04:07`.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "seconds of a run are small and positive")]
fn clock(seconds: f64) -> String {
    let whole = seconds.round() as u64;
    match (whole / 3600, whole / 60 % 60, whole % 60) {
        (0, minutes, seconds) => format!("{minutes}:{seconds:02}"),
        (hours, minutes, seconds) => format!("{hours}:{minutes:02}:{seconds:02}"),
    }
}

/// Progress of one piece of work.
#[derive(Debug)]
pub(crate) struct Progress {
    bar: ProgressBar,
    work: Arc<Mutex<Work>>,
    lines: bool,
    start: Instant,
}

impl Progress {
    /// What is being done now. One event: a line where there is no terminal.
    pub(crate) fn now(&self, text: &str) {
        self.detail(text);
        self.line(text);
    }

    /// The same of work on something, which is named before it.
    pub(crate) fn now_on(&self, before: &str, subject: &str, doing: &str) {
        self.set(subject, doing);
        self.line(&format!("{before}{subject}: {doing}"));
    }

    /// A line where there is no terminal.
    fn line(&self, text: &str) {
        if self.lines {
            let seconds = self.start.elapsed().as_secs();
            tell(&format!("{:>3}:{:02}  {}", seconds / 60, seconds % 60, spell(text)));
        }
    }

    /// A detail of it, shown only on the bar.
    pub(crate) fn detail(&self, text: &str) {
        self.set("", text);
    }

    fn set(&self, subject: &str, doing: &str) {
        let mut work = locked(&self.work);
        work.subject = spell_inline(subject).into_owned();
        work.doing = spell_inline(doing).into_owned();
        work.rate.clear();
    }

    /// How fast it goes.
    pub(crate) fn rate(&self, text: &str) {
        locked(&self.work).rate = spell_inline(text).into_owned();
    }

    /// So many pieces more are to be done.
    pub(crate) fn expect(&self, pieces: usize) {
        locked(&self.work).pieces.1 += pieces;
    }

    /// So many more of them were begun.
    pub(crate) fn begin(&self, pieces: usize) {
        locked(&self.work).pieces.0 += pieces;
    }

    /// So many seconds of the expected work are done.
    pub(crate) fn done(&self, weight: f64) {
        let mut work = locked(&self.work);
        work.done += weight.max(0.0);
        work.since = Instant::now();
    }

    /// So many seconds of work have been added to what was expected.
    pub(crate) fn extend(&self, weight: f64) {
        locked(&self.work).weight += weight.max(0.0);
    }

    /// Something that must stay on the screen.
    pub(crate) fn note(&self, text: &str) {
        if self.lines {
            self.now(text);
        } else {
            self.bar.suspend(|| tell(&fitted(text)));
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_never_cuts_its_rate_and_its_time_falls() {
        let begin = Instant::now();
        let after = |seconds| begin + Duration::from_secs(seconds);
        let mut work = Work::begun(begin, 100.0, 1.0);
        work.pieces = (3, 40);
        work.subject = "ext4 on LVM on dm-raid (RAID 1) on dm-integrity on dm-crypt".to_owned();
        work.doing = "RND 4 KiB Q32 T16 write".to_owned();
        work.rate = "a 72 r 0.1 w, b 71 r MB/s".to_owned();
        for columns in [60, 80, 100, 200] {
            let line = work.line(columns, after(10));
            assert!(line.chars().count() < columns, "{columns}: {line}");
            assert!(line.ends_with("a 72 r 0.1 w, b 71 r MB/s   1:30 left"), "{line}");
        }
        assert!(work.line(80, begin).starts_with("[ 3/40] ext"), "{}", work.line(80, begin));
        assert!(work.line(80, after(101)).ends_with("MB/s   longer than expected"), "{}", work.line(80, after(101)));
        let left: Vec<f64> = (0..120).map(|at| work.left(after(at))).collect();
        assert!(left.windows(2).all(|two| two[1] < two[0] || two[1] == 0.0), "{left:?}");
        // Twice as slow as expected: so will the rest be.
        (work.done, work.since) = (50.0, after(100));
        assert!((90.0..=100.0).contains(&work.left(after(100))), "{}", work.left(after(100)));
    }
}
