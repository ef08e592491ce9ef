//! The bare drive, first and last in every round: how much of what changed was not the stacks.

use std::collections::{BTreeMap, BTreeSet};

use terms::design::{ANCHOR_DISCARD, ANCHOR_FLAG};
use terms::finding::{AnchorAction, AnchorFinding};
use terms::record::{ANCHOR_FIRST, ANCHOR_LAST, Cell};
use terms::{Anchor, MeasurePolicy};

/// One for every round that has an anchor, by round. Of several attempts the newest counts.
pub(crate) fn find(cells: &[Cell], policy: &MeasurePolicy) -> Vec<AnchorFinding> {
    let mut ends: BTreeMap<u32, (Option<f64>, Option<f64>)> = BTreeMap::new();
    for cell in cells.iter().filter(|cell| cell.key.is_anchor()) {
        let throughput = cell.reading.as_ref().map(|reading| reading.throughput().0).filter(|value| *value > 0.0);
        let round = ends.entry(cell.key.round).or_default();
        match cell.key.workload.as_str() {
            ANCHOR_FIRST => round.0 = throughput,
            ANCHOR_LAST => round.1 = throughput,
            _ => {}
        }
    }
    ends.into_iter().map(|(round, (first, last))| finding(round, first, last, policy)).collect()
}

fn finding(round: u32, first: Option<f64>, last: Option<f64>, policy: &MeasurePolicy) -> AnchorFinding {
    let drift = first.zip(last).map(|(first, last)| last / first - 1.0);
    let action = match drift.map(f64::abs) {
        None => AnchorAction::Unknown,
        Some(drift) if drift > ANCHOR_DISCARD.share() && policy.anchor == Anchor::Discard => AnchorAction::Discarded,
        Some(drift) if drift > ANCHOR_FLAG.share() => AnchorAction::Flagged,
        Some(_) => AnchorAction::Kept,
    };
    AnchorFinding { round, first, last, drift, action }
}

/// Rounds that do not count.
pub(crate) fn discarded(anchors: &[AnchorFinding]) -> BTreeSet<u32> {
    anchors.iter().filter(|of| of.action == AnchorAction::Discarded).map(|of| of.round).collect()
}

#[cfg(test)]
mod tests {
    use terms::record::ANCHOR;

    use super::*;
    use crate::tests::cell;

    #[test]
    fn three_percent_is_told_and_six_discards_where_the_study_says_so() {
        let cells: Vec<Cell> = [(1, 1.0), (2, 0.96), (3, 1.07)]
            .into_iter()
            .flat_map(|(round, last)| {
                [cell(round, ANCHOR, ANCHOR_FIRST, 1e8), cell(round, ANCHOR, ANCHOR_LAST, 1e8 * last)]
            })
            .chain([cell(4, ANCHOR, ANCHOR_FIRST, 1e8)])
            .collect();
        let actions = |anchor| {
            let policy = MeasurePolicy { anchor, ..MeasurePolicy::default() };
            find(&cells, &policy).into_iter().map(|of| of.action).collect::<Vec<_>>()
        };
        use AnchorAction::{Discarded, Flagged, Kept, Unknown};
        assert_eq!(actions(Anchor::Note), [Kept, Flagged, Flagged, Unknown]);
        assert_eq!(actions(Anchor::Discard), [Kept, Flagged, Discarded, Unknown]);
    }
}
