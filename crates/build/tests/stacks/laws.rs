//! What holds for any stack that can be planned.

use build::{Authority, MemoryJournal};
use proptest::prelude::*;

use crate::yard::{Watching, Yard, apply};

/// Layers with a device above one device.
const MIDDLE: [&str; 6] = [
    "{ luks = { pbkdf = \"pbkdf2\" } }",
    "{ luks = { pbkdf = \"pbkdf2\", integrity = \"hmac-sha256\" } }",
    "{ crypt = {} }",
    "{ integrity = { sector = \"4 KiB\" } }",
    "{ lvm = {} }",
    "{ lvm = { thin_chunk = \"64 KiB\" } }",
];
/// Layers over several.
const JOINING: [&str; 5] = [
    "{ raid = { level = 0 } }",
    "{ raid = { level = 1 } }",
    "{ raid = { level = 5, bitmap = \"none\" } }",
    "{ lvm = { volume = \"raid1\" } }",
    "{ lvm = { volume = \"striped\" } }",
];
const TOP: [&str; 4] = ["", "{ ext4 = {} }", "{ xfs = {} }", "{ btrfs = {} }"];

fn study(below: &[usize], join: usize, above: &[usize], top: usize) -> String {
    let mut layers: Vec<String> = below.iter().map(|at| MIDDLE[*at].to_owned()).collect();
    layers.push(JOINING[join].to_owned());
    layers.extend(above.iter().map(|at| MIDDLE[*at].to_owned()));
    layers.extend(Some(TOP[top].to_owned()).filter(|top| !top.is_empty()));
    // `{ kind = {…} }` becomes `{ kind = {…}, on = […] }`.
    let inner = layers[0].strip_suffix(" }").unwrap_or_default();
    layers[0] = format!("{inner}, on = [\"a\", \"b\", \"c\"] }}");
    format!(
        "question = \"Does any stack stand?\"\n[lab]\ndrives = [{}]\n[[stack]]\nname = \"any\"\nlayers = [ {} ]\n",
        ["a", "b", "c", "other"]
            .map(|name| format!("{{ name = \"{name}\", size = \"768 MiB\", lba = \"4 KiB\" }}"))
            .join(", "),
        layers.join(", ")
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 8, max_shrink_iters: 8, ..ProptestConfig::default() })]

    #[test]
    fn whatever_is_built_is_given_back_from_anywhere(
        below in prop::collection::vec(0..MIDDLE.len(), 0..2),
        join in 0..JOINING.len(),
        above in prop::collection::vec(0..MIDDLE.len(), 0..2),
        top in 0..TOP.len(),
        cut in any::<prop::sample::Index>(),
        content in any::<[u8; 16]>(),
    ) {
        let text = study(&below, join, &above, top);
        let (design, _) = spec::parse(&text);
        // What cannot be is refused as it is read, or as it is planned: LVM on a logical volume, say.
        let can_be = |design: terms::Design| plan::plan(&design.stacks[0], &plan::DriveSize::of_lab(&design.lab)).is_ok();
        prop_assume!(design.is_some_and(can_be));
        let yard = Yard::lab(&text);
        let plan = &yard.plans[0];
        yard.machine.poke(yard.node("other"), 12345, &content);
        let (clean, shape) = (yard.machine.now_is(), yard.machine.shape());
        let authority = Authority::lab(&yard.machine, &yard.drives).unwrap();
        let mut journal = Watching::new(&yard.machine);
        apply(plan, &authority, &[], &mut journal).unwrap_or_else(|error| panic!("{text}: {error}"));
        let entries = journal.entries();
        let at = cut.index(entries.len());
        for (yard, past) in [(yard.at(&journal.lines[at].1), &entries[..=at]), (yard.at(&yard.machine.now_is()), &entries[..])] {
            let authority = Authority::lab(&yard.machine, &yard.drives).unwrap();
            let drives = build::teardown(plan, &authority, past, &mut MemoryJournal::default()).unwrap_or_else(|error| panic!("{text}: {error}"));
            prop_assert_eq!(yard.machine.shape(), shape.clone(), "{}", text);
            for drive in &drives {
                authority.discard(drive).unwrap();
                prop_assert!(yard.machine.is_blank(&yard.drives[drive]));
            }
            prop_assert!(yard.machine.holds_the_same(yard.node("other"), &clean), "nothing that is not named is written");
        }
    }
}
