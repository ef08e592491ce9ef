//! The bare drive, first and last in every round: how much of what changed was not the stacks.

use std::collections::{BTreeMap, BTreeSet};

use terms::design::{CONTROL_DISCARD, CONTROL_FLAG};
use terms::finding::{ControlAction, ControlFinding};
use terms::record::{CONTROL_FIRST, CONTROL_LAST, Cell};
use terms::{Control, MeasurePolicy};

/// One for every round that has a control, by round. Of several attempts the newest counts.
pub(crate) fn find(cells: &[Cell], policy: &MeasurePolicy) -> Vec<ControlFinding> {
    let mut ends: BTreeMap<u32, (Option<f64>, Option<f64>)> = BTreeMap::new();
    for cell in cells.iter().filter(|cell| cell.key.is_control()) {
        let throughput = cell.reading.as_ref().map(|reading| reading.throughput().0).filter(|value| *value > 0.0);
        let round = ends.entry(cell.key.round).or_default();
        match cell.key.workload.as_str() {
            CONTROL_FIRST => round.0 = throughput,
            CONTROL_LAST => round.1 = throughput,
            _ => {}
        }
    }
    ends.into_iter().map(|(round, (first, last))| finding(round, first, last, policy)).collect()
}

fn finding(round: u32, first: Option<f64>, last: Option<f64>, policy: &MeasurePolicy) -> ControlFinding {
    let drift = first.zip(last).map(|(first, last)| last / first - 1.0);
    let action = match drift.map(f64::abs) {
        None => ControlAction::Unknown,
        Some(drift) if drift > CONTROL_DISCARD.share() && policy.control == Control::Discard => {
            ControlAction::Discarded
        }
        Some(drift) if drift > CONTROL_FLAG.share() => ControlAction::Flagged,
        Some(_) => ControlAction::Kept,
    };
    ControlFinding { round, first, last, drift, action }
}

/// Rounds that do not count.
pub(crate) fn discarded(controls: &[ControlFinding]) -> BTreeSet<u32> {
    controls.iter().filter(|of| of.action == ControlAction::Discarded).map(|of| of.round).collect()
}

#[cfg(test)]
mod tests {
    use terms::record::CONTROL;

    use super::*;
    use crate::tests::cell;

    #[test]
    fn three_percent_is_told_and_six_discards_where_the_study_says_so() {
        let cells: Vec<Cell> = [(1, 1.0), (2, 0.96), (3, 1.07)]
            .into_iter()
            .flat_map(|(round, last)| {
                [cell(round, CONTROL, CONTROL_FIRST, 1e8), cell(round, CONTROL, CONTROL_LAST, 1e8 * last)]
            })
            .chain([cell(4, CONTROL, CONTROL_FIRST, 1e8)])
            .collect();
        let actions = |control| {
            let policy = MeasurePolicy { control, ..MeasurePolicy::default() };
            find(&cells, &policy).into_iter().map(|of| of.action).collect::<Vec<_>>()
        };
        use ControlAction::{Discarded, Flagged, Kept, Unknown};
        assert_eq!(actions(Control::Note), [Kept, Flagged, Flagged, Unknown]);
        assert_eq!(actions(Control::Discard), [Kept, Flagged, Discarded, Unknown]);
    }
}
