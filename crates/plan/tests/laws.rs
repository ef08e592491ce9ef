//! What holds for every stack that can be written down, not only for the well-known ones.

#![allow(clippy::unwrap_used, clippy::disallowed_methods, reason = "a test may panic, and asks the shell itself")]

use std::io::Write;
use std::process::{Command, Stdio};

use plan::DriveSize;
use proptest::prelude::*;
use terms::layer::{
    Btrfs, BtrfsProfile, Crypt, Ext4, GptPartition, Integrity, IntegrityMode, Luks, Lvm, Raid, RaidLevel, Volume, Xfs,
    Zfs, ZfsLayout,
};
use terms::plan::{Act, Effect, Plan};
use terms::{Bytes, Layer, LayerNode, Name, Ref, Stack};

const DRIVES: [&str; 5] = ["a", "b", "c-1", "d.x", "e_5"];

fn name(text: &str) -> Name {
    Name::new(text).unwrap()
}

fn facts() -> Vec<DriveSize> {
    DRIVES
        .iter()
        .map(|drive| DriveSize { name: name(drive), size: Bytes::gib(2), lba: Bytes(4096), slice: false })
        .collect()
}

fn under() -> impl Strategy<Value = Option<Layer>> {
    let mode = prop::sample::select(vec![IntegrityMode::Journal, IntegrityMode::NoJournal, IntegrityMode::Bitmap]);
    prop_oneof![
        Just(None),
        Just(Some(Layer::Luks(Luks::default()))),
        Just(Some(Layer::Partition(GptPartition { size: Some(Bytes::gib(1)) }))),
        Just(Some(Layer::Crypt(Crypt { sector: Bytes(4096), ..Crypt::default() }))),
        mode.prop_map(|mode| Some(Layer::Integrity(Integrity { mode, sector: Bytes(4096), ..Integrity::default() }))),
    ]
}

fn gather() -> impl Strategy<Value = Layer> {
    let level = prop::sample::select(vec![
        RaidLevel::Raid0,
        RaidLevel::Raid1,
        RaidLevel::Raid10,
        RaidLevel::Raid5,
        RaidLevel::Raid6,
    ]);
    let volume = prop::sample::select(vec![
        Volume::Linear,
        Volume::Striped,
        Volume::Raid1,
        Volume::Raid10,
        Volume::Raid5,
        Volume::Raid6,
    ]);
    prop_oneof![
        level.prop_map(|level| Layer::Raid(Raid { level, ..Raid::default() })),
        (volume, any::<bool>()).prop_map(|(volume, snapshot)| Layer::Lvm(Lvm { volume, snapshot, ..Lvm::default() })),
    ]
}

fn top() -> impl Strategy<Value = Option<Layer>> {
    prop_oneof![Just(None), Just(Some(Layer::Ext4(Ext4::default()))), Just(Some(Layer::Xfs(Xfs::default())))]
}

/// Stacks of five drives: something on each, something that gathers them, something on top.
fn stacks() -> impl Strategy<Value = Stack> {
    let mirrored = Btrfs { data: BtrfsProfile::Raid1, metadata: BtrfsProfile::Raid1, ..Btrfs::default() };
    let gathering = prop_oneof![
        4 => (gather(), top()).prop_map(|(layer, top)| (layer, top)),
        1 => Just((Layer::Btrfs(mirrored), None)),
        1 => prop::sample::select(vec![ZfsLayout::Stripe, ZfsLayout::Mirror, ZfsLayout::Raidz1, ZfsLayout::Raidz3])
            .prop_map(|layout| (Layer::Zfs(Zfs { layout, ..Zfs::default() }), None)),
    ];
    ("[A-Za-z #+]{1,30}", under(), gathering).prop_map(|(stack, under, (gather, top))| {
        let mut nodes = Vec::new();
        let mut on: Vec<Ref> = DRIVES.iter().map(|drive| Ref::Drive(name(drive))).collect();
        if let Some(layer) = under {
            let each = |below: &Ref| LayerNode {
                name: name(&format!("u-{}", below.name())),
                layer: layer.clone(),
                on: vec![below.clone()],
                special: vec![],
            };
            nodes.extend(on.iter().map(each));
            on = nodes.iter().map(|node| Ref::Layer(node.name.clone())).collect();
        }
        nodes.push(LayerNode { name: name("gather"), layer: gather, on, special: vec![] });
        if let Some(layer) = top {
            nodes.push(LayerNode { name: name("top"), layer, on: vec![Ref::Layer(name("gather"))], special: vec![] });
        }
        Stack { name: stack, note: None, nodes }
    })
}

fn shell_accepts(script: &str) -> bool {
    let mut shell = Command::new("sh").args(["-n", "-s"]).stdin(Stdio::piped()).spawn().unwrap();
    shell.stdin.take().unwrap().write_all(script.as_bytes()).unwrap();
    shell.wait().unwrap().success()
}

fn words(plan: &Plan) -> Vec<String> {
    let acts = plan.steps.iter().filter_map(|step| match &step.act {
        Act::Run(command) => Some(command),
        _ => None,
    });
    let undos = plan.steps.iter().flat_map(|step| &step.undo).map(|undo| &undo.command);
    acts.chain(undos).flat_map(|command| &command.argv).map(ToString::to_string).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, ..ProptestConfig::default() })]

    #[test]
    fn the_same_stack_gives_the_same_bytes(stack in stacks()) {
        let (one, two) = (plan::plan(&stack, &facts()).unwrap(), plan::plan(&stack, &facts()).unwrap());
        prop_assert_eq!(serde_json::to_string(&one).unwrap(), serde_json::to_string(&two).unwrap());
        prop_assert_eq!(plan::digest(&one), plan::digest(&two));
        prop_assert_eq!(plan::diff(&one, &two), "");
    }

    #[test]
    fn every_plan_is_sound(stack in stacks()) {
        let plan = plan::plan(&stack, &facts()).unwrap();
        prop_assert_eq!(plan::lint(&plan), []);
        for word in words(&plan) {
            let filled = terms::Word::parse(&word).unwrap().resolve(|place| place.drive().is_none_or(|drive| plan.drives.contains(drive)).then(String::new));
            prop_assert!(filled.is_ok(), "{}", word);
        }
    }

    #[test]
    fn what_is_made_is_taken_back(stack in stacks()) {
        let plan = plan::plan(&stack, &facts()).unwrap();
        let undone: Vec<String> = plan.steps.iter().flat_map(|step| &step.undo)
            .map(|undo| undo.command.argv.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ")).collect();
        for step in &plan.steps {
            let what = match &step.effect {
                Some(Effect::Node(node)) if !node.to_string().starts_with("{part:") => node.to_string(),
                Some(Effect::Signature { node, .. }) => node.to_string(),
                Some(Effect::Mount(directory)) if !matches!(&step.act, Act::Run(c) if c.argv[0] == "zpool") => directory.clone(),
                _ => continue,
            };
            // By its node, or by the name at the end of it.
            let last = what.rsplit('/').next().unwrap_or(&what).to_owned();
            prop_assert!(undone.iter().any(|line| line.contains(&what) || line.contains(&last)
                || (line.contains("snapshot") || line.contains("/before")) && last.ends_with("before")), "{} in {:?}", what, undone);
        }
    }

    #[test]
    fn every_script_is_one(stack in stacks()) {
        let script = plan::script(&plan::plan(&stack, &facts()).unwrap());
        prop_assert!(shell_accepts(&script), "{}", script);
        for line in script.lines().filter(|line| line.starts_with("    # ")) {
            prop_assert!(line.chars().count() <= 80, "{}", line);
        }
    }
}

#[test]
fn what_cannot_be_built_is_refused() {
    let node = |layer, on: &[&str]| LayerNode {
        name: name("x"),
        layer,
        on: on.iter().map(|d| Ref::Drive(name(d))).collect(),
        special: vec![],
    };
    let refused =
        |node: LayerNode| plan::plan(&Stack { name: "s".into(), note: None, nodes: vec![node] }, &facts()).is_err();
    assert!(refused(node(Layer::Raid(Raid { level: RaidLevel::Raid6, ..Raid::default() }), &["a", "b", "c-1"])));
    assert!(refused(node(Layer::Ext4(Ext4::default()), &["a", "b"])));
    assert!(refused(node(Layer::Integrity(Integrity::default()), &["a"])), "512-byte sectors on 4 KiB blocks");
    assert!(refused(node(Layer::Bare, &["nope"])));
    assert!(plan::plan(&Stack { name: "s".into(), note: None, nodes: vec![] }, &facts()).is_err());
}

/// As mkfs.xfs 6.1 was seen to: on stripes each of its eight groups must hold a log of 64 MiB.
#[test]
fn a_stripe_for_xfs_holds_a_log_in_each_group() {
    let planned = |drives: usize, mib: u64| {
        let facts: Vec<DriveSize> =
            facts().into_iter().map(|fact| DriveSize { size: Bytes::mib(mib), ..fact }).collect();
        let on = |layer, on| LayerNode { name: name("x"), layer, on, special: vec![] };
        let refs: Vec<Ref> = DRIVES[..drives].iter().map(|drive| Ref::Drive(name(drive))).collect();
        let array = on(Layer::Raid(Raid { level: RaidLevel::Raid0, ..Raid::default() }), refs.clone());
        let nodes = match drives {
            1 => vec![on(Layer::Xfs(Xfs::default()), refs)],
            _ => vec![
                LayerNode { name: name("array"), ..array },
                on(Layer::Xfs(Xfs::default()), vec![Ref::Layer(name("array"))]),
            ],
        };
        plan::plan(&Stack { name: "s".into(), note: None, nodes }, &facts).is_ok()
    };
    for (drives, mib, taken) in [(1, 290, false), (1, 310, true), (2, 190, false), (2, 250, false), (2, 300, true)] {
        assert_eq!(planned(drives, mib), taken, "{drives} of {mib} MiB");
    }
}

/// As OpenZFS 2.1 without force was seen to take and to refuse them.
#[test]
fn special_vdevs_are_as_redundant_as_the_data() {
    let pool = |layout, data: usize, special: usize| {
        let refs = |from: usize, to: usize| DRIVES[from..to].iter().map(|drive| Ref::Drive(name(drive))).collect();
        let zfs = Layer::Zfs(Zfs { layout, ..Zfs::default() });
        let node = LayerNode { name: name("x"), layer: zfs, on: refs(0, data), special: refs(data, data + special) };
        plan::plan(&Stack { name: "s".into(), note: None, nodes: vec![node] }, &facts())
    };
    for (layout, data, special, taken) in [
        (ZfsLayout::Mirror, 2, 2, true),
        (ZfsLayout::Mirror, 2, 1, false),
        (ZfsLayout::Mirror, 2, 3, false),
        (ZfsLayout::Mirror, 3, 2, false),
        (ZfsLayout::Raidz1, 3, 2, true),
        (ZfsLayout::Raidz1, 2, 3, false),
        (ZfsLayout::Raidz2, 3, 2, false),
        (ZfsLayout::Stripe, 2, 1, true),
    ] {
        assert_eq!(pool(layout, data, special).is_ok(), taken, "{layout:?} of {data} with {special}");
    }
    let alone = words(&pool(ZfsLayout::Stripe, 1, 2).unwrap());
    assert!(!alone.iter().any(|word| word == "mirror"), "{alone:?}");
}

/// The kernel refuses to mount ext4 without a journal and with a commit time that is not its default.
#[test]
fn nothing_is_committed_without_a_journal() {
    let options = |journal| {
        let ext4 = Layer::Ext4(Ext4 { journal, commit: terms::Nanos::seconds(30), ..Ext4::default() });
        let node = LayerNode { name: name("x"), layer: ext4, on: vec![Ref::Drive(name("a"))], special: vec![] };
        words(&plan::plan(&Stack { name: "s".into(), note: None, nodes: vec![node] }, &facts()).unwrap())
    };
    let commits = |words: Vec<String>| words.iter().any(|word| word.contains("commit=30"));
    assert!(commits(options(true)));
    assert!(!commits(options(false)));
}

/// A plan that changed in anything but its order of steps says what, and one whose order changed says that.
#[test]
fn every_difference_shows() {
    let node = LayerNode {
        name: name("x"),
        layer: Layer::Luks(Luks::default()),
        on: vec![Ref::Drive(name("a"))],
        special: vec![],
    };
    let old = plan::plan(&Stack { name: "s".into(), note: None, nodes: vec![node] }, &facts()).unwrap();
    let changed = |change: fn(&mut Plan)| {
        let mut new = old.clone();
        change(&mut new);
        plan::diff(&old, &new)
    };
    assert!(changed(|new| new.steps.reverse()).contains("@@ order of steps"));
    assert!(changed(|new| new.drives.push(name("b"))).contains("@@ drives\n+ b"));
    assert!(changed(|new| new.options[0].default = false).contains("@@ options"));
    assert!(changed(|new| new.steps[0].why.push('!')).contains("@@ x.format\n- why:"));
    assert!(changed(|new| new.steps[0].erases.clear()).contains("- erases: a"));
    assert!(changed(|new| new.steps[0].undo.reverse()).contains("@@ x.format"));
    assert_eq!(changed(|_| ()), "");
}

/// Whatever decides which other options there are is marked only where it is what writing nothing gives.
#[test]
fn a_choice_is_not_a_default() {
    let marked = |layer, on: &[&str]| {
        let on = on.iter().map(|drive| Ref::Drive(name(drive))).collect();
        let node = LayerNode { name: name("x"), layer, on, special: vec![] };
        let plan = plan::plan(&Stack { name: "s".into(), note: None, nodes: vec![node] }, &facts()).unwrap();
        plan.options.into_iter().filter(|option| option.default).map(|option| option.option).collect::<Vec<_>>()
    };
    let pair = ["a", "b"];
    let has = |layer, option: &str| marked(layer, &pair).iter().any(|marked| marked == option);
    assert!(!has(Layer::Raid(Raid::default()), "level"));
    assert!(has(Layer::Raid(Raid::default()), "bitmap"));
    assert!(has(Layer::Lvm(Lvm::default()), "volume"));
    assert!(!has(Layer::Lvm(Lvm { volume: Volume::Striped, ..Lvm::default() }), "volume"));
    assert!(has(Layer::Zfs(Zfs::default()), "layout"));
    assert!(!has(Layer::Zfs(Zfs { layout: ZfsLayout::Mirror, ..Zfs::default() }), "layout"));
    for (mode, default) in [(IntegrityMode::Journal, true), (IntegrityMode::Bitmap, false)] {
        let layer = Layer::Integrity(Integrity { mode, sector: Bytes(4096), ..Integrity::default() });
        assert_eq!(marked(layer, &["a"]).contains(&"mode".to_owned()), default, "{mode:?}");
    }
    let btrfs = |metadata| Layer::Btrfs(Btrfs { metadata, ..Btrfs::default() });
    for (metadata, on, default) in [
        (BtrfsProfile::Dup, &pair[..1], true),
        (BtrfsProfile::Dup, &pair[..], false),
        (BtrfsProfile::Raid1, &pair[..], true),
    ] {
        assert_eq!(marked(btrfs(metadata), on).contains(&"metadata".to_owned()), default, "{metadata:?} on {on:?}");
    }
}
