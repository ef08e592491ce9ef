//! Going by steps: after each stack, what was predicted of it beside what came, and no further where they are too far
//! apart.

use record::RunReader;
use terms::Nanos;
use terms::event::{EventKind, Stopped};
use terms::finding::Score;
use terms::record::BuildOutcome;
use terms::units::significant;

use crate::commands::report;
use crate::exit::Failure;
use crate::runner::Runner;

/// Bytes of a megabyte, in which rates are told.
const MEGA: f64 = 1e6;

impl Runner<'_> {
    /// Says of every figure of a stack what was predicted and what came, and stops the run where one is too far off.
    pub(crate) fn judge_step(&mut self, round: u32, index: usize) -> Result<(), Failure> {
        let Some(most) = self.design.measure.stop_beyond else { return Ok(()) };
        let slug = &self.plans[index].slug;
        let scores = self.scores(slug)?;
        if scores.is_empty() {
            self.progress.note(&format!("step {}: {}: nothing was predicted", index + 1, self.plans[index].stack));
        }
        for score in &scores {
            self.progress.note(&format!("step {}: {}: {}", index + 1, self.plans[index].stack, words(score)));
        }
        let far = |score: &&Score| {
            let Some(measured) = score.measured else { return false };
            let off = (measured / score.predicted.value - 1.0).abs();
            off > most.share() && !score.predicted.ninety.holds(measured)
        };
        if let Some(score) = scores.iter().find(far) {
            let title = &self.plans[index].stack;
            let why = format!("step {} ({title}) is more than {most} off its prediction: {}", index + 1, words(score));
            let (workload, bottleneck) = (Some(score.workload.clone()), score.bottleneck.clone());
            self.stop(slug, round, Stopped { why, workload, bottleneck, ..Stopped::default() })?;
        }
        Ok(())
    }

    /// Begins no other step, and says why.
    pub(crate) fn stop(&mut self, slug: &str, round: u32, stopped: Stopped) -> Result<(), Failure> {
        self.progress.note(&format!("stopped: {}", stopped.why));
        self.stopped = Some(stopped.why.clone());
        self.event(slug, round, EventKind::Stopped(stopped))?;
        Ok(())
    }

    /// A step that is not begun, with the reason.
    pub(crate) fn leave_out(&self, round: u32, index: usize) -> Result<(), Failure> {
        let Some(why) = &self.stopped else { return Ok(()) };
        let failure = Some(format!("not begun: {why}"));
        let stack = self.plans[index].slug.clone();
        Ok(self.writer.put_build(&BuildOutcome { round, stack, build: Nanos(0), fill: Nanos(0), failure })?)
    }

    /// What was predicted of a stack and what came, from the record as it is by now.
    fn scores(&self, slug: &str) -> Result<Vec<Score>, Failure> {
        let reader = RunReader::open(self.writer.dir())?;
        let cells = report::findings(&reader)?.predicted.map(|card| card.cells).unwrap_or_default();
        Ok(cells.into_iter().filter(|score| score.stack == slug).collect())
    }
}

/// One figure: `large-reads: said 11.4 to 12.6 MB/s, came 12.1: drive a`.
fn words(score: &Score) -> String {
    let rate = |bytes: f64| significant(bytes / MEGA);
    let range = score.predicted.ninety;
    let said = format!("{}: said {} to {} MB/s", score.workload, rate(range.low), rate(range.high));
    let came = score.measured.map_or_else(|| "no figure came".to_owned(), |rate_of| format!("came {}", rate(rate_of)));
    let bottleneck = score.bottleneck.as_ref().map_or(String::new(), |limit| format!("; what should limit is {limit}"));
    format!("{said}, {came}{bottleneck}")
}
