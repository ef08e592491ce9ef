//! Which window has to be longer than it was: one that was no single thing, one that is short for what was under way in it, and
//! one whose mean is known less well than asked.

use host::Host;
use terms::Nanos;
use terms::layer::ArrayState;

use crate::gate::Observed;
use crate::own_work::in_state;
use crate::request::CellRequest;
use crate::{fio, guards};

/// Windows shorter than this are for trying things out and are not made longer for being unsteady.
pub(crate) const EXTENDED: Nanos = Nanos::seconds(1);
/// So many times as long a window is made at most for what is under way in it.
const LONGEST: f64 = 10.0;
/// The same to be as precise as asked: ±11 % become ±2 %. What is wider still wants more than one round.
const PRECISE: f64 = 32.0;
/// So long processors may work in a window that is made longer to be precise, by their own clock. A virtual clock jumps over
/// waiting, so this is what a window costs us: 1 s is 1 G instructions.
const WORK: Nanos = Nanos::seconds(1);

/// The window that a cell wants, if not the one it had.
pub(crate) fn longer(host: &dyn Host, request: &CellRequest<'_>, observed: &Observed, window: Nanos) -> Option<Nanos> {
    if !observed.outcome.ok() {
        return None;
    }
    let reading = fio::parse(&observed.outcome.stdout).ok()?.reading;
    let turns = guards::turns(request.workload, &reading).unwrap_or(f64::INFINITY);
    // A window that is short shows too short a latency, for long operations are not over.
    let whole = if turns < guards::TURNS { (2.0 * guards::TURNS / turns).ceil().min(LONGEST) } else { 1.0 };
    let twice = if observed.unsteady() && window >= EXTENDED { 2.0 } else { 1.0 };
    let half = observed.steadiness.as_ref().and_then(|steadiness| steadiness.half_width);
    let work = window.as_seconds() * observed.busy_share().unwrap_or(1.0);
    let precise = precision(host, request).map_or(1.0, |precision| times_as_precise(half, precision, work));
    let times = whole.max(twice).max(precise);
    (times > 1.0).then(|| Nanos::from_seconds(window.as_seconds() * times))
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
