//! Which window has to be longer than it was: one that was no single thing, one that is short for what was under way in it, and
//! one whose mean is known less well than asked. And which has to settle longer: one that began before its queues were full.

use host::Host;
use terms::Nanos;
use terms::layer::ArrayState;

use crate::gate::Observed;
use crate::own_work::in_state;
use crate::request::CellRequest;
use crate::{fio, guards};

/// Windows shorter than this are for trying things out and are not made longer for being unsteady.
pub(crate) const EXTENDED: Nanos = Nanos::seconds(1);
/// So many times as long a window or settling is made at most for what is under way in it.
const LONGEST: f64 = 10.0;
/// The same to be as precise as asked: ±11 % become ±2 %. What is wider still wants more than one round.
const PRECISE: f64 = 32.0;
/// So long processors may work in a window that is made longer to be precise, by their own clock. A virtual clock jumps over
/// waiting, so this is what a window costs us: 1 s is 1 G instructions.
const WORK: Nanos = Nanos::seconds(1);

/// So many times as long as an operation takes a load settles, and at most [`LONGEST`] times as long as it did. Each job fills its
/// queue one by one, as fast as the kernel takes requests, and fio counts operations as they begin: while queues fill more begin than
/// end. After three times, fio's rate and the drive's own count agree within 1.5 % (random writes in the kept record of
/// `crates/bedplate/tests/studies/hard-disk-rounds.toml`).
const SETTLED: f64 = 3.0;

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

/// What a cell wants in the place of what it had.
pub(crate) fn longer(host: &dyn Host, request: &CellRequest<'_>, observed: &Observed, had: Times) -> Option<Times> {
    let window = had.window;
    if !observed.outcome.ok() {
        return None;
    }
    let reading = fio::parse(&observed.outcome.stdout).ok()?.reading;
    let queued = guards::queue_time(request.workload, &reading);
    let turns = queued.and_then(|time| guards::turns(&reading, time)).unwrap_or(f64::INFINITY);
    let settle = settling(had.settle, queued);
    // A window that is short shows too short a latency, for long operations are not over.
    let whole = if turns < guards::TURNS { (2.0 * guards::TURNS / turns).ceil().min(LONGEST) } else { 1.0 };
    let twice = if observed.unsteady() && window >= EXTENDED { 2.0 } else { 1.0 };
    let half = observed.steadiness.as_ref().and_then(|steadiness| steadiness.half_width);
    let work = window.as_seconds() * observed.busy_share().unwrap_or(1.0);
    let precise = precision(host, request).map_or(1.0, |precision| times_as_precise(half, precision, work));
    let times = whole.max(twice).max(precise);
    let wanted = Times { settle, window: Nanos::from_seconds(window.as_seconds() * times) };
    (wanted.settle > had.settle || times > 1.0).then_some(wanted)
}

/// How long a load settles whose operations wait for a queue so long.
fn settling(had: Nanos, queued: Option<Nanos>) -> Nanos {
    let wanted = queued.map_or(0.0, |time| SETTLED * time.as_seconds()).min(LONGEST * had.as_seconds());
    had.max(Nanos::from_seconds(wanted))
}

/// The half-width that a window has to come to by itself. Where the clock is virtual and there is one round, its interval is that
/// of the cell. A resync would be over before a longer window is.
fn precision(host: &dyn Host, request: &CellRequest<'_>) -> Option<f64> {
    let CellRequest { policy, nodes, .. } = request;
    let is_alone = host.has_own_clock() && policy.most_rounds() == 1 && !in_state(nodes, ArrayState::Resync);
    (is_alone && !policy.any_precision).then(|| policy.precision.share())
}

/// How many times as long a window has to be whose mean is known to `half`, if at all, and in which processors worked for so many
/// seconds. The error of a mean falls as the square root of the time.
fn times_as_precise(half: Option<f64>, precision: f64, work: f64) -> f64 {
    let wanted = half.map_or(PRECISE, |half| (half / precision).powi(2));
    wanted.ceil().min((WORK.as_seconds() / work).floor()).clamp(1.0, PRECISE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_load_settles_until_its_queues_were_done_over() {
        for (had, queued, settles) in
            [(300, Some(5), 300), (300, Some(150), 450), (300, Some(4000), 3000), (300, None, 300), (0, Some(9), 0)]
        {
            assert_eq!(settling(Nanos::millis(had), queued.map(Nanos::millis)), Nanos::millis(settles), "{queued:?}");
        }
    }

    #[test]
    fn a_window_is_as_much_longer_as_it_has_to_be_and_as_its_work_allows() {
        // Half-width found, work of the window in seconds, times as long for 2 %.
        for (half, work, times) in [
            (Some(0.02), 0.1, 1.0),
            (Some(0.01), 0.1, 1.0),
            (Some(0.06), 0.1, 9.0),
            (Some(0.021), 0.1, 2.0),
            (Some(0.06), 0.5, 2.0),
            (Some(0.06), 5.0, 1.0),
            (Some(0.9), 0.001, 32.0),
            (None, 0.1, 10.0),
            (None, 0.0, 32.0),
        ] {
            let found = times_as_precise(half, 0.02, work);
            assert!((found - times).abs() < 1e-9, "{half:?}, {work}: {found}");
        }
    }
}
