//! Which window has to be longer than it was: one that was no single thing, one that is short for what was under way in it, one in which
//! jobs worked at different times, and one that has to be longer for what it is to decide, as the caller's rule says. And which has to settle longer: one that began before its queues were full.

use terms::Nanos;
use terms::layer::ArrayState;

use crate::counted::counted;
use crate::gate::Observed;
use crate::own_work::in_state;
use crate::request::CellRequest;
use crate::{fio, guards};

/// Windows shorter than this are for trying things out and are not made longer for being unsteady.
pub(crate) const EXTENDED: Nanos = Nanos::seconds(1);
/// So many times as long a window or settling is made at most for what is under way in it.
const LONGEST: f64 = 10.0;
/// The same to be as precise as asked: ±11 % become ±1 %. What is wider still wants more than one round.
const PRECISE: f64 = 128.0;
/// So long processors may work in a window that is made longer to be precise, by their own clock. A virtual clock jumps over
/// waiting, so this is what a window costs us: 1 s is 1 G instructions.
const WORK: Nanos = Nanos::seconds(4);

/// Windows of a cell that is measured until it is known well enough: a short one may think itself surer than it is, so that the next
/// is too short again.
const WINDOWS: usize = 4;

/// So many times as long as its queues take to be done over a load settles, and at most [`LONGEST`] times as long as it did. Each job fills its
/// queue one by one, as fast as the kernel takes requests, and fio counts operations as they begin: while queues fill more begin than
/// end. After three times, fio's rate and the drive's own count agree within 1.5 % (random writes in the kept record of
/// `crates/bedplate/tests/studies/hard-disk-rounds.toml`).
const SETTLED: f64 = 3.0;
/// A window whose load settled at least so many times that long is not measured again for it.
const ENOUGH: f64 = 2.0;

/// How long a load settles and how long it is measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Times {
    pub(crate) settle: Nanos,
    pub(crate) window: Nanos,
}

impl Times {
    /// As a cell is asked for.
    pub(crate) fn of(request: &CellRequest<'_>) -> Self {
        Self { settle: request.policy.settle, window: request.window() }
    }
}

/// What a cell wants in the place of the last of the windows that it had.
pub(crate) fn longer(request: &CellRequest<'_>, observed: &Observed, had: Times, windows: usize) -> Option<Times> {
    let window = had.window;
    let most = if request.longer.is_some() { WINDOWS } else { 2 };
    if !observed.outcome.ok() || windows >= most {
        return None;
    }
    let output = counted(request.workload, observed, fio::parse(&observed.outcome.stdout).ok()?, window);
    let reading = fio::of_window(request.workload, output.reading);
    let queued = guards::queue_time(request.workload, &reading);
    let turns = queued.and_then(|time| guards::turns(&reading, time)).unwrap_or(f64::INFINITY);
    // A window that is short shows too short a latency, for long operations are not over.
    let short = if turns < guards::TURNS { 2.0 } else { 1.0 };
    let settle = settling(had.settle, queued, short);
    let whole = if turns < guards::TURNS { (short * guards::TURNS / turns).ceil().min(LONGEST) } else { 1.0 };
    let twice = if observed.unsteady() && window >= EXTENDED { 2.0 } else { 1.0 };
    // A resync would be over before a longer window is.
    let rule = request.longer.filter(|_| !in_state(request.nodes, ArrayState::Resync));
    // Their rate is known, and nothing of how well; a lost path holds jobs up on purpose.
    let is_apart = rule.is_some() && observed.steadiness.is_none() && request.workload.path_lost.is_none();
    let apart = observed.worked.filter(|_| is_apart).map_or(1.0, |worked| together(worked, window));
    let wanted = rule.zip(observed.steadiness.as_ref()).map(|(times, of)| times(reading.throughput().0, of));
    let work = window.as_seconds() * observed.busy_share().unwrap_or(1.0);
    let precise = wanted.map_or(1.0, |wanted| affordable(wanted, work));
    let times = whole.max(twice).max(apart).max(precise);
    let wanted = Times { settle, window: Nanos::from_seconds(window.as_seconds() * times) };
    let settled = settle.as_seconds() * ENOUGH <= had.settle.as_seconds() * SETTLED;
    (!settled || times > 1.0).then_some(wanted)
}

/// How long a load settles whose operations wait for a queue so long, or so many times as long.
fn settling(had: Nanos, queued: Option<Nanos>, times: f64) -> Nanos {
    let wanted = queued.map_or(0.0, |time| SETTLED * times * time.as_seconds()).min(LONGEST * had.as_seconds());
    had.max(Nanos::from_seconds(wanted))
}

/// How many times as long a window is made if all jobs were never at work together: a full queue may keep one waiting for longer than
/// others' windows take. From the first job's begin to the last one's end it took `worked`.
fn together(worked: Nanos, window: Nanos) -> f64 {
    (2.0 * (worked.as_seconds() / window.as_seconds() - 1.0)).clamp(1.0, LONGEST)
}

/// How many times as long a window is made that would have to be `wanted` times as long, and in which processors worked for so
/// many seconds.
fn affordable(wanted: f64, work: f64) -> f64 {
    wanted.ceil().min((WORK.as_seconds() / work).floor()).clamp(1.0, PRECISE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_load_settles_until_its_queues_were_done_over() {
        for (had, queued, times, settles) in [
            (300, Some(5), 1.0, 300),
            (300, Some(150), 1.0, 450),
            (300, Some(150), 2.0, 900),
            (300, Some(4000), 1.0, 3000),
            (300, None, 1.0, 300),
            (0, Some(9), 1.0, 0),
        ] {
            let settled = settling(Nanos::millis(had), queued.map(Nanos::millis), times);
            assert_eq!(settled, Nanos::millis(settles), "{queued:?}");
        }
    }

    #[test]
    fn jobs_that_worked_one_after_another_get_a_window_for_all() {
        for (worked, window, times) in [(51, 26, 1.923), (30, 26, 1.0), (26, 26, 1.0), (104, 26, 6.0), (900, 26, 10.0)]
        {
            let found = together(Nanos::seconds(worked), Nanos::seconds(window));
            assert!((found - times).abs() < 1e-3, "{worked} of {window}: {found}");
        }
    }

    #[test]
    fn a_window_is_as_much_longer_as_it_has_to_be_and_as_its_work_allows() {
        // Times as long as wanted, work of the window in seconds, times as long as it is made.
        for (wanted, work, times) in [
            (1.0, 0.1, 1.0),
            (9.0, 0.1, 9.0),
            (1.1, 0.1, 2.0),
            (9.0, 2.0, 2.0),
            (9.0, 5.0, 1.0),
            (2000.0, 0.001, PRECISE),
            (f64::INFINITY, 0.1, 40.0),
            (f64::INFINITY, 0.0, PRECISE),
        ] {
            let found = affordable(wanted, work);
            assert!((found - times).abs() < 1e-9, "{wanted}, {work}: {found}");
        }
    }
}
