//! The machine's counters, read now and then while a job runs.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use host::{CounterSample, Host, HostError, Sampling};
use terms::record::MemberDelta;
use terms::{Cmd, LayerNode, Nanos, Outcome};

use crate::counters::{self, Snapshot, snapshot};
use crate::own_work::{self, Busy};

/// Longest time between two readings.
const LOOK: Duration = Duration::from_secs(2);
/// Shortest time between two readings by this machine's clock, where a reading can come late on a busy machine.
const BUSY: Duration = Duration::from_millis(200);
/// Shortest time between two readings by a guest's own clock, where no reading comes late.
const OWN_CLOCK: Duration = Duration::from_millis(30);

/// What is looked at.
#[derive(Clone, Copy)]
pub(crate) struct Watch<'a> {
    pub(crate) host: &'a dyn Host,
    pub(crate) nodes: &'a [LayerNode],
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
pub(crate) fn pause(window: Nanos, own_clock: bool) -> Duration {
    let least = if own_clock { OWN_CLOCK } else { BUSY };
    (window.to_duration() * 3 / 10).clamp(least, LOOK)
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
                busy.extend(own_work::amid_now(self.host, self.nodes)?);
            }
            wait(over, self.pause);
        }
        Ok(Watched { snapshots, busy })
    }

    /// Runs a program in a guest with a clock of its own, and has the guest read its counters by that clock: the same
    /// number of times in every window, however busy this machine is, and nothing is asked of the guest meanwhile.
    pub(crate) fn along(&self, cmd: &Cmd) -> Result<(Outcome, Watched), HostError> {
        let counters = counters::files(self.writes);
        let paths = counters.iter().chain(&[own_work::MDSTAT]).map(|path| (*path).to_owned()).collect();
        let sampling = Sampling { paths, pause: self.pause.into() };
        let (outcome, samples) = self.host.run_sampled(cmd, &sampling)?;
        let mut watched = Watched::default();
        for CounterSample { at, files } in samples {
            let mut texts = files.into_iter().map(|file| file.map(|text| String::from_utf8_lossy(&text).into_owned()));
            let [disks, processors, agent] = [(); 3].map(|()| texts.next().flatten().unwrap_or_default());
            let pages = if self.writes { texts.next().flatten() } else { None };
            let arrays = texts.next().flatten().unwrap_or_default();
            watched.snapshots.push(Snapshot::of(at, self.drives, &[disks, processors, agent], pages.as_deref()));
            if watched.busy.is_empty() {
                watched.busy.extend(own_work::amid(&arrays, self.nodes));
            }
        }
        Ok((outcome, watched))
    }
}

fn wait(over: &AtomicBool, pause: Duration) {
    let start = Instant::now();
    while start.elapsed() < pause && !over.load(Ordering::Relaxed) {
        thread::sleep(Duration::from_millis(10));
    }
}
