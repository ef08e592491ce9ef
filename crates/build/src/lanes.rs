//! Which steps of a plan may be done side by side. Checksums for a drive of 12 TB take a day to write; for eight drives
//! one after the other they take a week.

use terms::plan::{Plan, Step};
use terms::{LayerNode, Name, Ref};

/// Steps of one layer, in order.
pub type Lane<'a> = &'a [Step];

/// The plan's steps as waves, each begun when the one before it is through. Lanes of a wave do not rest on one another.
#[must_use]
pub fn waves(plan: &Plan) -> Vec<Vec<Lane<'_>>> {
    let mut waves: Vec<Vec<Lane<'_>>> = Vec::new();
    for lane in plan.steps.chunk_by(|one, next| one.layer == next.layer) {
        match waves.last_mut() {
            Some(wave) if wave.iter().all(|other| may_be_beside(&plan.nodes, &other[0].layer, &lane[0].layer)) => {
                wave.push(lane);
            }
            _ => waves.push(vec![lane]),
        }
    }
    waves
}

/// May the later layer be made while the earlier one is?
fn may_be_beside(nodes: &[LayerNode], earlier: &Name, later: &Name) -> bool {
    let find = |name: &Name| nodes.iter().find(|node| &node.name == name);
    match (find(earlier), find(later)) {
        (Some(earlier), Some(later)) => {
            let both_take_long = earlier.layer.traits().written_whole && later.layer.traits().written_whole;
            both_take_long && !rests_on(nodes, &later.name, &earlier.name)
        }
        // Setting drives up has no layers: what is done to each is that drive's own.
        (None, None) => true,
        _ => false,
    }
}

/// Is the lower layer somewhere beneath the upper one?
pub(crate) fn rests_on(nodes: &[LayerNode], upper: &Name, lower: &Name) -> bool {
    let Some(upper) = nodes.iter().find(|node| &node.name == upper) else { return false };
    upper.below().any(|below| match below {
        Ref::Drive(_) => false,
        Ref::Layer(name) => name == lower || rests_on(nodes, name, lower),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const STUDY: &str = r#"
        question = "Which steps are done side by side?"

        [lab]
        drives = [
            { name = "a", size = "1 GiB" }, { name = "b", size = "1 GiB" },
            { name = "c", size = "1 GiB" }, { name = "d", size = "1 GiB" },
        ]

        [[stack]]
        name = "checksums below a mirror"
        layers = [{ integrity = {}, on = ["a", "b"] }, { raid = { level = 1 } }, { xfs = {} }]

        [[stack]]
        name = "encryption below a mirror"
        layers = [{ luks = { pbkdf = "pbkdf2" }, on = ["a", "b"] }, { raid = { level = 1 } }, { xfs = {} }]

        [[stack]]
        name = "a stripe over mirrors"
        layers = [
            { name = "left", raid = { level = 1 }, on = ["a", "b"] },
            { name = "right", raid = { level = 1 }, on = ["c", "d"] },
            { name = "both", raid = { level = 0 }, on = ["left", "right"] },
            { xfs = {} },
        ]
    "#;

    fn told(stack: usize) -> Vec<Vec<String>> {
        let (design, notes) = spec::parse(STUDY);
        let design = design.unwrap_or_else(|| panic!("{notes:?}"));
        let plan = plan::plan(&design.stacks[stack], &plan::DriveSize::of_lab(&design.lab)).unwrap();
        let layers = |wave: Vec<Lane<'_>>| wave.iter().map(|lane| lane[0].layer.to_string()).collect();
        waves(&plan).into_iter().map(layers).collect()
    }

    #[test]
    fn siblings_that_write_every_block_are_made_side_by_side() {
        assert_eq!(told(0), [vec!["integrity-a", "integrity-b"], vec!["raid"], vec!["xfs"]]);
        assert_eq!(told(2), [vec!["left", "right"], vec!["both"], vec!["xfs"]]);
    }

    #[test]
    fn key_derivations_do_not_stand_in_each_others_way() {
        assert_eq!(told(1), [vec!["luks-a"], vec!["luks-b"], vec!["raid"], vec!["xfs"]]);
    }

    #[test]
    fn no_step_is_lost_or_moved() {
        let (design, _) = spec::parse(STUDY);
        let design = design.unwrap();
        for stack in &design.stacks {
            let plan = plan::plan(stack, &plan::DriveSize::of_lab(&design.lab)).unwrap();
            let steps: Vec<&Step> = waves(&plan).into_iter().flatten().flatten().collect();
            assert_eq!(steps, plan.steps.iter().collect::<Vec<_>>());
        }
    }
}
