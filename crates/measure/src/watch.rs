//! The machine's counters, read now and then while a job runs.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use host::{Host, HostError};
use terms::record::MemberDelta;
use terms::{Nanos, Node};

use crate::counters::{Snapshot, snapshot};
use crate::own_work::{self, Busy};

/// Longest time between two readings.
const LOOK: Duration = Duration::from_secs(2);

/// What is looked at.
#[derive(Clone, Copy)]
pub(crate) struct Watch<'a> {
    pub(crate) host: &'a dyn Host,
    pub(crate) nodes: &'a [Node],
    pub(crate) drives: &'a [(String, String)],
    /// Does the job write?
    pub(crate) writes: bool,
    /// Time between two readings.
    pub(crate) pause: Duration,
}

/// What was seen.
#[derive(Default)]
pub(crate) struct Watched {
    pub(crate) snapshots: Vec<Snapshot>,
    /// The machine's own work.
    pub(crate) busy: Vec<Busy>,
}

/// Three readings fall into a window; more would only cost, but in a long one somebody may be looking.
pub(crate) fn pause(window: Nanos) -> Duration {
    (window.to_duration() * 3 / 10).clamp(Duration::from_millis(200), LOOK)
}

impl Watch<'_> {
    /// Reads until it is over; `told` gets what each drive did since it was last looked at.
    pub(crate) fn until(&self, over: &AtomicBool, told: &dyn Fn(&[MemberDelta], Nanos)) -> Result<Watched, HostError> {
        let Watched { mut snapshots, mut busy } = Watched::default();
        while !over.load(Ordering::Relaxed) {
            snapshots.push(snapshot(self.host, self.drives, self.writes)?);
            if let [.., earlier, now] = snapshots.as_slice() {
                told(&now.members_since(earlier), Nanos(now.at().0.saturating_sub(earlier.at().0)));
            }
            // Every other time: it was looked at just before fio began, and will be just after it ended.
            if busy.is_empty() && snapshots.len() % 2 == 0 {
                busy.extend(own_work::md(self.host, self.nodes)?);
                busy.extend(own_work::in_step(self.host, self.nodes)?);
            }
            // Under a clock of its own the guest is read as often in every window, however busy this machine is.
            if self.host.has_own_clock() {
                self.host.wait(self.pause.into())?;
            } else {
                wait(over, self.pause);
            }
        }
        Ok(Watched { snapshots, busy })
    }
}

fn wait(over: &AtomicBool, pause: Duration) {
    let start = Instant::now();
    while start.elapsed() < pause && !over.load(Ordering::Relaxed) {
        thread::sleep(Duration::from_millis(10));
    }
}
