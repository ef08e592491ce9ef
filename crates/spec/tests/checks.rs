//! Every check, each with the shortest study that sets it off: the codes are a promise.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use terms::layer::{BtrfsProfile, Lvm, RaidLevel, Volume, ZfsLayout};
use terms::{Design, Layer, Nanos, NoteLevel, Pattern, Ref, Spindle};

/// A study around these layers: drives a to e of 1 GiB, k with blocks of 4 KiB, s and t small.
fn study(layers: &str) -> String {
    let mut drives: Vec<String> =
        ["a", "b", "c", "d", "e"].iter().map(|name| format!("{{ name = \"{name}\", size = \"1 GiB\" }}")).collect();
    drives.push("{ name = \"k\", size = \"1 GiB\", lba = \"4 KiB\" }".to_owned());
    drives.push("{ name = \"s\", size = \"80 MiB\" }".to_owned());
    drives.push("{ name = \"t\", size = \"512 MiB\" }".to_owned());
    format!(
        "question = \"Does it hold?\"\nlab.drives = [ {} ]\nstack = [ {{ name = \"x\", layers = [ {layers} ] }} ]\n\
         measure.span = \"32 MiB\"\n",
        drives.join(", ")
    )
}

/// Codes of the notes, without drives that no stack uses.
fn codes(text: &str) -> Vec<String> {
    let (design, notes) = spec::parse(text);
    let errors = notes.iter().any(|note| note.severity == NoteLevel::Error);
    assert_eq!(design.is_none(), errors, "{text}");
    for note in &notes {
        assert!(note.code.starts_with("study-"), "{note:?}");
        assert!(!note.message.ends_with('.'), "{note:?}");
    }
    notes.into_iter().map(|note| note.code).filter(|code| code != "study-idle-drive").collect()
}

fn check(layers: &str, expect: &[&str]) {
    let text = study(layers);
    assert_eq!(codes(&text), expect, "{layers}\n{}", spec::render("x.toml", &text, &spec::parse(&text).1, false));
}

fn design(layers: &str) -> Design {
    let text = study(layers);
    let (design, notes) = spec::parse(&text);
    design.unwrap_or_else(|| panic!("{}", spec::render("x.toml", &text, &notes, false)))
}

#[test]
fn sound_stacks() {
    for layers in [
        "{ bare = {}, on = 'a' }",
        "{ luks = {}, on = 'a' }",
        "{ raid = { level = 10 }, on = ['a', 'b', 'c'] }",
        "{ raid = { level = 6, assume_clean = true }, on = ['a', 'b', 'c', 'd'] }, { xfs = {} }",
        "{ lvm = { volume = 'raid1', integrity = { mode = 'bitmap' } }, on = ['a', 'b'] }, { ext4 = {} }",
        "{ lvm = { thin_chunk = '192 KiB', snapshot = true }, on = 'a' }, { ext4 = {} }",
        "{ lvm = { cache = 'b', cache_mode = 'writecache' }, on = 'a' }, { ext4 = {} }",
        "{ btrfs = { data = 'raid10' }, on = ['a', 'b', 'c', 'd'] }",
        "{ btrfs = { data = 'raid10' }, on = ['a', 'b', 'c'] }",
        "{ zfs = { layout = 'raidz2', special = ['d', 'e', 'k'], special_small_blocks = '16 KiB' }, on = ['a', 'b', 'c'] }",
        "{ crypt = { cipher = 'aes-cbc-essiv:sha256', key_bits = 256 }, on = 'a' }",
        "{ integrity = { sector = '4 KiB' }, on = 'k' }, { ext4 = {} }",
        "{ raid = { level = 0 }, on = ['a', 't'] }, { ext4 = {} }",
    ] {
        check(layers, &[]);
    }
}

#[test]
fn members() {
    check("{ raid = { level = 1 }, on = 'a' }", &["study-too-few"]);
    check("{ raid = { level = 5 }, on = ['a', 'b'] }", &["study-too-few"]);
    check("{ raid = { level = 6 }, on = ['a', 'b', 'c'] }", &["study-too-few"]);
    check("{ lvm = { volume = 'raid6' }, on = ['a', 'b', 'c', 'd'] }", &["study-too-few"]);
    check("{ btrfs = { data = 'raid10' }, on = 'a' }", &["study-too-few"]);
    check("{ zfs = { layout = 'raidz2' }, on = ['a', 'b'] }", &["study-too-few"]);
    check("{ luks = {}, on = 'a' }, { raid = { level = 1 } }", &["study-too-few"]);
    check("{ ext4 = {}, on = ['a', 'b'] }", &["study-too-many"]);
    check("{ bare = {}, on = ['a', 'b'] }", &["study-too-many"]);
    check("{ raid = { level = 1 }, on = ['a', 't'] }", &["study-unlike-members"]);
}

/// The rule by which plans are refused.
#[test]
fn special_vdevs_are_as_redundant_as_the_data() {
    let pool = |layout: &str, on: &str, special: &str, expect: &[&str]| {
        check(&format!("{{ zfs = {{ layout = '{layout}', special = [{special}] }}, on = [{on}] }}"), expect);
    };
    pool("mirror", "'a', 'b'", "'c', 'd'", &[]);
    pool("mirror", "'a', 'b'", "'c'", &["study-special-alone"]);
    pool("mirror", "'a', 'b'", "'c', 'd', 'e'", &["study-special-unlike"]);
    pool("mirror", "'a', 'b', 'c'", "'d', 'e'", &["study-special-unlike"]);
    pool("raidz1", "'a', 'b', 'c'", "'d', 'e'", &[]);
    pool("raidz2", "'a', 'b', 'c'", "'d', 'e'", &["study-special-unlike"]);
    pool("raidz2", "'a', 'b'", "'d', 'e'", &["study-too-few"]);
    pool("single", "'a', 'b'", "'c'", &[]);
    // A name may stand for several devices.
    check("{ luks = {}, on = ['c', 'd'] }, { zfs = { layout = 'mirror', special = 'luks' }, on = ['a', 'b'] }", &[]);
}

/// The advice that comes with the only note of that code.
fn hint(text: &str, code: &str) -> String {
    let (_, notes) = spec::parse(text);
    let mut found = notes.into_iter().filter(|note| note.code == code);
    let note = found.next().unwrap_or_else(|| panic!("no {code}"));
    assert!(found.next().is_none());
    note.hint.unwrap()
}

#[test]
fn a_size_that_is_proposed_is_taken() {
    let base = study("{ ext4 = {}, on = 'a' }") + "[[workload]]\nname = 'w'\npattern = 'read'\nblock = '4 KiB'\n";
    assert!(spec::parse(&base).0.is_some());
    for (key, wrong, proposed) in [
        ("block = '4 KiB'", "16 KB", "16 KiB"),
        ("block = '4 KiB'", "16 kib", "16 KiB"),
        ("block = '4 KiB'", "5000 B", "4608 B"),
        ("span = \"32 MiB\"", "32 mb", "32 MiB"),
    ] {
        let name = key.split(' ').next().unwrap();
        let with = |size: &str| base.replace(key, &format!("{name} = '{size}'"));
        let (_, notes) = spec::parse(&with(wrong));
        let hint =
            notes.iter().find_map(|note| note.hint.clone()).unwrap_or_else(|| panic!("{key} {wrong}: {notes:?}"));
        assert!(hint.contains(&format!("\"{proposed}\"")), "{wrong}: {hint}");
        assert!(spec::parse(&with(proposed)).0.is_some(), "{proposed}: {:?}", spec::parse(&with(proposed)).1);
    }
}

#[test]
fn bare_numbers_are_bytes_where_that_can_be_meant() {
    let block = |block: &str| {
        let own = format!("[[workload]]\nname='w'\npattern='read'\nblock={block}\n");
        hint(&(study("{ ext4 = {}, on = 'a' }") + &own), "study-no-unit")
    };
    assert_eq!(block("'4096'"), "write \"4 KiB\"");
    assert_eq!(block("1_048_576"), "write \"1 MiB\"");
    assert_eq!(block("512"), "write \"512 B\"");
    assert_eq!(block("4"), "write \"4 KiB\"");
    let layer = |layer: &str| hint(&study(&format!("{{ {layer}, on = ['a', 'b'] }}")), "study-no-unit");
    assert_eq!(layer("raid = { level = 0, chunk = 65536 }"), "write \"64 KiB\"");
    assert_eq!(layer("raid = { level = 0, chunk = 64 }"), "write \"64 KiB\"");
    assert_eq!(layer("zfs = { special_small_blocks = 32 }"), "write \"32 KiB\"");
    let span = study("{ ext4 = {}, on = 'a' }").replace("\"32 MiB\"", "256");
    assert_eq!(hint(&span, "study-no-unit"), "write \"256 MiB\"");
}

#[test]
fn advice_fits_what_is_wrong() {
    let text = study("{ ext4 = {}, on = 'a' }");
    let twins =
        text.replace("{ name = \"x\",", "{ name = \"x\", layers = [ { bare = {}, on = 'b' } ] }, { name = \"x\",");
    assert_eq!(hint(&twins, "study-same-stack"), "give one of them another name");
    let bound = hint(&text.replace("32 MiB", "2 GiB"), "study-span");
    assert!(bound.contains("614 MiB or less, so that"), "{bound}");
    // ZFS keeps 128 MiB of a small pool to itself, and has old and new at the same time.
    let pool = hint(&study("{ zfs = {}, on = 'a' }").replace("32 MiB", "480 MiB"), "study-span");
    assert!(pool.contains("less, so that"), "{pool}");
    assert_eq!(codes(&study("{ ext4 = {}, on = 'a' }").replace("32 MiB", "480 MiB")), [""; 0]);
}

#[test]
fn an_empty_study_says_what_is_missing() {
    for text in ["", "\n\n# nothing yet\n"] {
        let (design, notes) = spec::parse(text);
        assert!(design.is_none());
        let messages: Vec<&str> = notes.iter().map(|note| note.message.as_str()).collect();
        assert_eq!(messages, ["the study has no `question`", "the study has no `stack`", "the study has no drives"]);
        let _ = spec::render("empty.toml", text, &notes, false);
    }
}

#[test]
fn fewest_are_those_of_the_nouns() {
    let on = |n: usize| format!("on = [{}]", ["'a'", "'b'", "'c'", "'d'", "'e'"][..n].join(", "));
    let try_all = |fewest: usize, layer: String| {
        for n in 1..=5 {
            let found = codes(&study(&format!("{{ {layer}, {} }}", on(n))));
            assert_eq!(found.contains(&"study-too-few".to_owned()), n < fewest, "{layer} on {n}: {found:?}");
        }
    };
    for level in [RaidLevel::Raid0, RaidLevel::Raid1, RaidLevel::Raid5, RaidLevel::Raid6, RaidLevel::Raid10] {
        try_all(level.fewest(), format!("raid = {{ level = {} }}", level.number()));
    }
    for volume in [Volume::Linear, Volume::Striped, Volume::Raid1, Volume::Raid10, Volume::Raid5, Volume::Raid6] {
        try_all(volume.fewest(), format!("lvm = {{ volume = '{}' }}", volume.word()));
    }
    for data in
        [BtrfsProfile::Single, BtrfsProfile::Dup, BtrfsProfile::Raid0, BtrfsProfile::Raid1, BtrfsProfile::Raid10]
    {
        try_all(data.fewest(), format!("btrfs = {{ data = '{}' }}", data.word()));
    }
    for layout in [ZfsLayout::Stripe, ZfsLayout::Mirror, ZfsLayout::Raidz1, ZfsLayout::Raidz2, ZfsLayout::Raidz3] {
        try_all(layout.fewest(), format!("zfs = {{ layout = '{}' }}", layout.word()));
    }
}

#[test]
fn a_limit_of_ours_is_not_said_to_be_that_of_btrfs() {
    let (_, notes) = spec::parse(&study("{ btrfs = { data = 'raid0' }, on = 'a' }"));
    let note = notes.iter().find(|note| note.code == "study-too-few").unwrap();
    assert!(note.message.starts_with("Bedplate takes") && note.message.contains("takes 1 since"), "{note:?}");
}

#[test]
fn a_short_text_asks_for_no_more_than_can_be_done() {
    const LAB: &str = "question = '?'\n[lab]\ndrives = [{ name = 'a', size = '512 MiB' }]\n";
    let stacks = |count: usize| -> String {
        let stack = |n| format!("[[stack]]\nname = 's{n}'\nlayers = [{{ ext4 = {{}}, on = 'a' }}]\n");
        (0..count).map(stack).collect()
    };
    let workloads = |count: usize| -> String {
        let workload = |n| format!("[[workload]]\nname = 'w{n}'\npattern = 'read'\nblock = '4 KiB'\n");
        (0..count).map(workload).collect()
    };
    for (count, of, expect) in
        [(1000, 10, None), (1001, 1, Some("study-too-many-stacks")), (1000, 11, Some("study-too-many-cells"))]
    {
        let found = codes(&format!("{LAB}{}{}", stacks(count), workloads(of)));
        assert_eq!(found.iter().find(|code| code.contains("too-many")).map(String::as_str), expect, "{count} {of}");
    }
    let layers = "{ luks = {} }, ".repeat(256);
    check(&format!("{{ ext4 = {{}}, on = 'a' }}, {layers}"), &["study-too-many-layers"]);
}

#[test]
fn graphs() {
    check("{ ext4 = {} }", &["study-rests-on-nothing"]);
    check("{ ext4 = {}, on = [] }", &["study-rests-on-nothing"]);
    check("{ luks = {}, on = 'luks' }, { ext4 = {} }", &["study-rests-on-itself"]);
    check("{ luks = {}, on = 'crypt' }, { crypt = {}, on = 'luks' }", &["study-circle"]);
    check("{ luks = {}, on = 'A1' }, { ext4 = {} }", &["study-unknown-name"]);
    check("{ luks = {}, on = ['a', 'b'] }, { ext4 = {}, on = 'luks-a' }", &["study-unknown-name"]);
    check("{ ext4 = {}, on = 'a' }, { luks = {} }", &["study-on-file-system"]);
    check("{ bare = {}, on = 'a' }, { luks = {} }", &["study-on-bare"]);
    check("{ luks = {}, on = 'a' }, { bare = {} }", &["study-on-bare"]);
    check("{ raid = { level = 1 }, on = ['a', 'a'] }", &["study-named-twice"]);
    check("{ luks = {}, on = 'a' }, { btrfs = {}, on = ['luks', 'a'] }", &["study-used-twice"]);
    check("{ zfs = { special = 'a' }, on = ['a', 'b'] }", &["study-used-twice"]);
    check("{ luks = {}, on = ['a', 'b'] }", &["study-two-tops"]);
    check("{ luks = {}, on = 'a' }, { ext4 = {}, on = 'b' }", &["study-two-tops"]);
    check(
        "{ luks = {}, on = 'a', name = 'm' }, { luks = {}, on = 'b', name = 'm' }, { btrfs = {}, on = 'm' }",
        &["study-same-layer"],
    );
    check("{ luks = {}, on = 'a', name = 'b' }, { ext4 = {} }", &["study-layer-is-drive"]);
    check("{ luks = {}, on = ['a', 'b'] }, { lvm = {} , name = 'luks-a' }", &["study-same-layer"]);
    check("{ noext = {}, on = 'a' }", &["study-unknown-key"]);
    check("{ on = 'a' }", &["study-no-kind"]);
    check("{ ext5 = {}, on = 'a' }", &["study-unknown-key"]);
    check("{ ext4 = {}, xfs = {}, on = 'a' }", &["study-two-kinds"]);
}

#[test]
fn partitions() {
    check(
        "{ partition = { size = '200 MiB' }, on = ['a', 'b'], name = 'p' }, { partition = {}, on = ['a', 'b'], name = 'q' }, \
         { raid = { level = 1 }, on = 'p', name = 'm' }, { raid = { level = 0 }, on = 'q' }, { btrfs = {}, on = ['m', 'raid'] }",
        &[],
    );
    check("{ luks = {}, on = 'a' }, { partition = {} }", &["study-partition"]);
    check(
        "{ partition = {}, on = 'a' }, { luks = {}, on = 'a' }, { btrfs = {}, on = ['partition', 'luks'] }",
        &["study-used-twice"],
    );
    check("{ partition = { size = '1 GiB' }, on = 'a' }", &["study-no-room"]);
    check(
        "{ partition = {}, on = 'a' }, { partition = {}, on = 'a' }, { lvm = {}, on = ['partition', 'partition2'] }",
        &["study-no-room"],
    );
    check("{ partition = { size = '1 KiB' }, on = 'a' }", &["study-out-of-range"]);
    for layer in [
        "raid = { level = 1 }",
        "lvm = { volume = 'raid1' }",
        "btrfs = { data = 'raid1' }",
        "zfs = { layout = 'mirror' }",
    ] {
        let same = format!(
            "{{ partition = {{ size = '200 MiB' }}, on = 'a' }}, {{ partition = {{}}, on = 'a' }}, {{ {layer}, on = ['partition', 'partition2'] }}"
        );
        let notes = codes(&study(&same));
        assert!(notes.contains(&"study-one-drive".to_owned()), "{layer}: {notes:?}");
    }
}

#[test]
fn options() {
    check("{ raid = { level = 2 }, on = ['a', 'b'] }", &["study-out-of-range"]);
    check("{ raid = { level = 0, bitmap = 'none' }, on = ['a', 'b'] }", &["study-no-effect"]);
    check("{ raid = { level = 0, assume_clean = true }, on = ['a', 'b'] }", &["study-no-effect"]);
    check("{ raid = { level = 0, state = 'degraded' }, on = ['a', 'b'] }", &["study-state"]);
    check("{ raid = { level = 1, state = 'resync' }, on = ['a', 'b'] }", &["study-state"]);
    check("{ raid = { level = 1, state = 'resync', bitmap = 'none' }, on = ['a', 'b'] }", &[]);
    check("{ crypt = { format = 'truecrypt' }, on = 'k' }", &[]);
    check("{ crypt = { format = 'truecrypt', sector = '4 KiB' }, on = 'k' }", &["study-truecrypt"]);
    check("{ raid = { level = 1, chunk = '64 KiB' }, on = ['a', 'b'] }", &["study-no-effect"]);
    check("{ raid = { level = 5, layout = 'far' }, on = ['a', 'b', 'c'] }", &["study-no-effect"]);
    check("{ raid = { level = 0, chunk = '96 KiB' }, on = ['a', 'b'] }", &["study-out-of-range"]);
    check("{ luks = { sector = '8 KiB' }, on = 'a' }", &["study-out-of-range"]);
    check("{ luks = { key_bits = 128 }, on = 'a' }", &["study-key-bits"]);
    check("{ luks = { cipher = 'aes' }, on = 'a' }", &["study-cipher"]);
    check("{ luks = { cipher = 'aes-gcm-random', integrity = 'hmac-sha256' }, on = 'a' }", &["study-cipher"]);
    check("{ luks = { cipher = 'aes-xts-random', integrity = 'hmac-sha256' }, on = 'a' }", &[]);
    check("{ crypt = { cipher = 'aes-ccm-random' }, on = 'a' }", &["study-cipher"]);
    check("{ luks = { integrity = 'hmac-sha256', discards = true }, on = 'a' }", &["study-no-effect"]);
    check("{ luks = { sector = '512 B' }, on = 'k' }", &["study-sector-below-lba"]);
    check("{ integrity = {}, on = 'k' }, { ext4 = {} }", &["study-sector-below-lba"]);
    check("{ ext4 = { block = '1 KiB' }, on = 'k' }", &["study-sector-below-lba"]);
    check("{ zfs = { ashift = 9 }, on = 'k' }", &["study-sector-below-lba"]);
    check("{ zfs = { ashift = 12 }, on = 'k' }", &[]);
    check("{ zfs = { ashift = 9 }, on = 'a' }", &[]);
    check("{ ext4 = { journal = false, commit = '5 s' }, on = 'a' }", &["study-no-effect"]);
    check("{ ext4 = { commit = '1500 ms' }, on = 'a' }", &["study-out-of-range"]);
    check("{ integrity = { mode = 'bitmap', commit = '5 s' }, on = 'a' }", &["study-no-effect"]);
    check("{ integrity = { bitmap_flush = '5 s' }, on = 'a' }", &["study-no-effect"]);
    check("{ lvm = { integrity = {} }, on = 'a' }", &["study-lvm-integrity"]);
    check(
        "{ lvm = { integrity = { mode = 'no-journal' }, volume = 'raid1' }, on = ['a', 'b'] }",
        &["study-unknown-word"],
    );
    check("{ lvm = { integrity = {}, volume = 'raid1', snapshot = true }, on = ['a', 'b'] }", &["study-lvm-integrity"]);
    check("{ lvm = { cache = 'b', snapshot = true }, on = 'a' }", &["study-lvm-cache"]);
    check("{ lvm = { cache = 'b', thin_chunk = '64 KiB' }, on = 'a' }", &["study-lvm-cache"]);
    check("{ lvm = { cache = 'c', volume = 'raid1', integrity = {} }, on = ['a', 'b'] }", &["study-lvm-cache"]);
    check("{ lvm = { cache_mode = 'writeback' }, on = 'a' }", &["study-no-effect"]);
    check("{ lvm = { stripe = '64 KiB' }, on = 'a' }", &["study-no-effect"]);
    check("{ btrfs = { copy_on_write = false }, on = 'a' }", &["study-no-checksums"]);
    check("{ zfs = { special = 'c', special_small_blocks = '128 KiB' }, on = 'a' }", &["study-special-takes-all"]);
    check("{ zfs = { special_small_blocks = '4 KiB' }, on = 'a' }", &["study-no-effect"]);
    check("{ xfs = {}, on = 's' }", &["study-too-small"]);
    check("{ btrfs = {}, on = 's' }", &["study-too-small"]);
    check("{ bare = { cache = true }, on = 'a' }", &["study-unknown-key"]);
}

#[test]
fn drives_and_measures() {
    let text = study("{ ext4 = {}, on = 'a' }");
    let with = |from: &str, to: &str| codes(&text.replacen(from, to, 1));
    assert_eq!(with("name = \"b\"", "name = \"a\""), ["study-same-drive"]);
    assert_eq!(with("size = \"1 GiB\"", "size = 5"), ["study-no-unit"]);
    assert_eq!(with("size = \"1 GiB\"", "size = \"1G\""), ["study-bare-letter"]);
    assert_eq!(with("size = \"1 GiB\"", "size = \"1 GiB\", kind = \"sata\", lba = \"4 KiB\""), ["study-lba"]);
    assert_eq!(with("size = \"1 GiB\"", "size = \"1 GiB\", kind = \"sata\", port = \"switch1\""), ["study-port"]);
    assert_eq!(with("size = \"1 GiB\"", "size = \"2 GiB\", kind = \"ram\""), ["study-memory"]);
    assert_eq!(with("lab.drives", "lab.clock = \"virtual\"\nlab.drives"), ["study-clock"]);
    assert_eq!(with("lab.drives", "lab.cpu = \"3 GHz\"\nlab.drives"), ["study-cpu"]);
    assert_eq!(with("lab.drives", "lab.cpu = \"3 G instructions/s\"\nlab.drives"), ["study-cpu"], "a real clock");
    assert_eq!(with("32 MiB", "2 GiB"), ["study-span"]);
    assert_eq!(with("32 MiB", "700 MiB"), ["study-span"]);
    assert_eq!(with("measure.span", "measure.profiles = []\nmeasure.span"), ["study-no-workloads"]);
    assert_eq!(with("measure.span", "measure.profiles = ['quik']\nmeasure.span"), ["study-unknown-profile"]);
    assert_eq!(with("measure.span = \"32 MiB\"", "measure = { rounds = 0 }"), ["study-out-of-range"]);
    assert_eq!(with("measure.span", "question = 'again'\nmeasure.span"), ["study-duplicate-key"]);
    assert_eq!(with("measure.span", "measure.seed = 'é\nmeasure.span"), ["study-syntax"]);
    assert_eq!(with("question = \"Does it hold?\"", ""), ["study-missing-key"]);
    let idle = spec::parse(&text).1;
    assert_eq!(idle.len(), 7, "one for each drive but `a`");
    assert!(idle.iter().all(|note| note.code == "study-idle-drive" && note.severity == NoteLevel::Warning));
}

#[test]
fn workloads() {
    let own = |workload: &str| format!("{}[[workload]]\n{workload}\n", study("{ ext4 = {}, on = 'k' }"));
    assert_eq!(codes(&own("name='w'\npattern='read'\nblock='4 KiB'")), Vec::<String>::new());
    assert_eq!(codes(&own("name='w'\npattern='read'\nblock='512 B'")), ["study-block-below-lba"]);
    assert_eq!(codes(&own("name='w'\npattern='read'\nblock='64 MiB'")), ["study-span"]);
    assert_eq!(codes(&own("name='w'\npattern='read'\nblock='4 KiB'\nread_percent=5")), ["study-no-effect"]);
    assert_eq!(codes(&own("name='w'\npattern='read'\nblock='4 KiB'\nfsync_every=1")), ["study-no-effect"]);
    let part = |span: &str| codes(&own(&format!("name='w'\npattern='read'\nblock='64 KiB'\n{span}")));
    assert_eq!(part("span='1 MiB'"), Vec::<String>::new());
    assert_eq!(part("span='1 GiB'"), ["study-span"], "more than [measure] fills");
    assert_eq!(part("span='32 KiB'"), ["study-span"], "less than a block");
    assert_eq!(part("span='1 MiB'\nsamples=4"), ["study-no-effect"]);
    assert_eq!(part("page_cache='hot'"), ["study-unknown-word"]);
    let twice = "name='w'\npattern='read'\nblock='4 KiB'";
    assert_eq!(codes(&own(&format!("{twice}\n[[workload]]\n{twice}"))), ["study-same-workload"]);
}

#[test]
fn a_study_without_a_lab_has_the_drives_that_it_is_given() {
    let drives: Vec<_> =
        ["h0", "h1"].map(|name| terms::LabDrive::new(terms::Name::new(name).unwrap(), terms::Bytes::gib(16))).into();
    let text = "question = 'q'\n[[stack]]\nname = 'x'\nlayers = [{ raid = { level = 1 }, on = ['h0', 'h1'] }]\n";
    let (design, notes) = spec::parse_on(text, &drives);
    assert!(notes.is_empty(), "{notes:?}");
    assert_eq!(design.unwrap().lab.drives.len(), 2);
    let codes = |text: &str| spec::parse_on(text, &drives).1.iter().map(|note| note.code.clone()).collect::<Vec<_>>();
    assert_eq!(codes(&text.replace("'h1'", "'h7'")), ["study-unknown-name"]);
    assert_eq!(codes(&(text.to_owned() + "[measure]\nspan = '1 TiB'\n")), ["study-span"], "they have a size");
}

/// fio's own options say both, so that records of imported jobs and of studies are read alike.
#[test]
fn a_part_of_the_span_and_the_page_cache_are_fio_s_options() {
    let text = "[[workload]]\nname='w'\npattern='read'\nblock='4 KiB'\nspan='1 MiB'\npage_cache='warm'\n";
    let design = spec::parse(&(study("{ ext4 = {}, on = 'a' }") + text)).0.unwrap();
    let work = &design.workloads[0];
    let keys: Vec<_> = work.keys.iter().map(|key| format!("{}={}", key.key, key.value)).collect();
    assert_eq!(keys, ["size=1048576", "direct=0", "pre_read=1"]);
    assert_eq!(work.describe(), "SEQ 4 KiB Q1 T1 read in 1 MiB, buffered, warm");
}

#[test]
fn a_quick_run_keeps_what_there_is() {
    let text = |quick: &str| format!("{}measure.quick = {quick}\n", study("{ ext4 = {}, on = 'a' }"));
    let found = spec::parse(&text("['seq-1m-q8-t1-read']")).0.unwrap().measure.quick;
    assert_eq!(found.iter().map(|name| name.as_str()).collect::<Vec<_>>(), ["seq-1m-q8-t1-read"]);
    assert_eq!(codes(&text("['seq-1m-q8-t1-reed']")), ["study-quick"]);
}

#[test]
fn workloads_are_joined_reads_first() {
    let text = format!(
        "{}measure.profiles = ['quick', 'seed-001']\n\
         [[workload]]\nname='mix'\npattern='randmixed'\nblock='4 KiB'\n\
         [[workload]]\nname='own'\npattern='read'\nblock='4 KiB'\n",
        study("{ ext4 = {}, on = 'a' }")
    );
    let design = spec::parse(&text).0.unwrap();
    let names: Vec<&str> = design.workloads.iter().map(|workload| workload.name.as_str()).collect();
    assert_eq!(
        names,
        [
            "seq-1m-q8-t1-read",
            "rnd-4k-q32-t1-read",
            "rnd-4k-q32-t16-read",
            "own",
            "seq-1m-q8-t1-write",
            "rnd-4k-q32-t1-write",
            "rnd-4k-q32-t16-write",
            "mix"
        ]
    );
    assert_eq!(design.workloads[7].pattern, Pattern::RandMixed(70));
    assert_eq!(design.workloads[7].profile, None);
}

#[test]
fn nodes_are_in_building_order() {
    let design = design(
        "{ ext4 = {}, on = 'both' }, { luks = {}, name = 'm', on = ['b', 'a'] }, { luks = {}, on = 'c' }, \
         { raid = { level = 5 }, name = 'both', on = ['m', 'luks'] }",
    );
    let names: Vec<&str> = design.stacks[0].nodes.iter().map(|node| node.name.as_str()).collect();
    assert_eq!(names, ["m-b", "m-a", "luks", "both", "ext4"]);
    let below: Vec<&str> = design.stacks[0].nodes[3].on.iter().map(|below| below.name().as_str()).collect();
    assert_eq!(below, ["m-b", "m-a", "luks"]);
}

#[test]
fn made_up_names_keep_clear_of_written_ones() {
    let design =
        design("{ luks = {}, on = 'a' }, { luks = {} }, { luks = {} }, { crypt = {}, name = 'luks2' }, { ext4 = {} }");
    let names: Vec<&str> = design.stacks[0].nodes.iter().map(|node| node.name.as_str()).collect();
    assert_eq!(names, ["luks", "luks3", "luks4", "luks2", "ext4"]);
}

#[test]
fn special_devices_are_kept_apart() {
    let design = design("{ zfs = { layout = 'mirror', special = ['c', 'd'] }, on = ['a', 'b'] }");
    let node = &design.stacks[0].nodes[0];
    assert_eq!(node.on.len(), 2);
    assert!(matches!(&node.special[..], [Ref::Drive(c), Ref::Drive(d)] if c.as_str() == "c" && d.as_str() == "d"));
    assert_eq!(design.stacks[0].drives().len(), 4);
}

#[test]
fn metadata_of_btrfs_follows_the_number_of_devices() {
    for (on, expect) in [("'a'", BtrfsProfile::Dup), ("['a', 'b']", BtrfsProfile::Raid1)] {
        let design = design(&format!("{{ btrfs = {{}}, on = {on} }}"));
        let Layer::Btrfs(btrfs) = &design.stacks[0].nodes[0].layer else { panic!("not btrfs") };
        assert_eq!(btrfs.metadata, expect);
    }
}

#[test]
fn lvm_integrity_is_read() {
    let design = design("{ lvm = { volume = 'raid1', integrity = { block = '4 KiB' } }, on = ['a', 'b'] }");
    let Layer::Lvm(Lvm { integrity: Some(integrity), .. }) = &design.stacks[0].nodes[0].layer else { panic!("none") };
    assert_eq!(integrity.block, terms::Bytes::kib(4));
}

#[test]
fn drives_can_be_set_up_as_they_can_be() {
    let setup = |name: &str, keys: &str| {
        format!("{}\n[[drive]]\nname = \"{name}\"\n{keys}\n", study("{ ext4 = {}, on = \"a\" }"))
    };
    let flash = |text: String| text.replace("name = \"a\", size", "name = \"a\", kind = \"flash\", size");
    for (text, expect) in [
        (setup("a", "lba = \"4 KiB\"\nscheduler = \"none\"\nwrite_cache = false"), vec![]),
        (setup("z", "lba = \"4 KiB\""), vec!["study-unknown-drive"]),
        (setup("a", ""), vec!["study-empty-setup"]),
        (
            format!("{}[[drive]]\nname = \"a\"\nwrite_cache = true\n", setup("a", "write_cache = false")),
            vec!["study-same-setup"],
        ),
        (
            setup("a", "lba = \"4 KiB\"").replace("name = \"a\", size", "name = \"a\", kind = \"sata\", size"),
            vec!["study-setup"],
        ),
        (flash(setup("a", "scheduler = \"none\"\nwrite_cache = false")), vec![]),
        (flash(setup("a", "lba = \"4 KiB\"\nwrite_cache = true")), vec!["study-setup", "study-setup"]),
    ] {
        assert_eq!(codes(&text), expect, "{text}");
    }
    // Blocks of workloads and of layers are held against the block that a drive is formatted to.
    let small = |key: &str| format!("[[workload]]\nname = 'w'\npattern = 'read'\nblock = '512 B'\n{key}\n");
    let formatted = setup("a", "lba = \"4 KiB\"");
    for (text, expect) in [
        (small(""), "study-block-below-lba"),
        (small("page_cache = 'warm'"), ""),
        (small("").replace("512 B", "8 KiB"), ""),
    ] {
        assert_eq!(codes(&format!("{formatted}{text}")).join(" "), expect, "{text}");
        assert_eq!(codes(&format!("{}{text}", setup("b", "lba = \"4 KiB\""))), Vec::<String>::new());
    }
    let checksums = formatted.replace("{ ext4 = {}, on", "{ integrity = { sector = '512 B' }, on");
    assert_eq!(codes(&checksums), ["study-sector-below-lba"]);
    // Nobody can switch the cache of a hard disk in the guest: it has what is wanted from the start.
    for (on, through) in [(false, true), (true, false)] {
        let text = setup("a", &format!("write_cache = {on}"));
        let text = text.replace("name = \"a\", size", "name = \"a\", kind = \"hdd\", size");
        let (design, notes) = spec::parse(&text);
        let spindle = design.unwrap_or_else(|| panic!("{notes:?}")).lab.drives[0].spindle.unwrap();
        assert_eq!(spindle.write_through, through);
    }
}

#[test]
fn remote_drives_have_paths_and_no_ports() {
    let lab = |drive: &str| {
        format!(
            "question = 'q'\nlab.drives = [ {{ name = 'a', size = '1 GiB', {drive} }} ]\n\
             stack = [ {{ name = 'x', layers = [ {{ ext4 = {{}}, on = 'a' }} ] }} ]\nmeasure.span = '32 MiB'\n"
        )
    };
    for (drive, expect) in [
        ("kind = 'nvme-tcp'", &[][..]),
        ("kind = 'nvme-tcp', lba = '4 KiB', paths = 1", &[]),
        ("kind = 'nvme-tcp', port = 'switch0'", &["study-port"]),
        ("kind = 'nvme', paths = 2", &["study-paths"]),
        ("kind = 'nvme-tcp', paths = 3", &["study-out-of-range"]),
    ] {
        let text = lab(drive);
        let (design, notes) = spec::parse(&text);
        let codes: Vec<&str> = notes.iter().map(|note| note.code.as_str()).collect();
        assert_eq!((codes.as_slice(), design.is_some()), (expect, expect.is_empty()), "{drive}: {notes:?}");
    }
    let paths = |drive: &str| spec::parse(&lab(drive)).0.unwrap().lab.drives[0].paths;
    assert_eq!((paths("kind = 'nvme-tcp'"), paths("kind = 'sata'")), (2, 1));
    let setup = format!("{}drive = [ {{ name = 'a', write_cache = false }} ]\n", lab("kind = 'nvme-tcp'"));
    assert!(spec::parse(&setup).1.iter().any(|note| note.code == "study-setup"));
}

#[test]
fn hard_disks_say_how_and_no_others_do() {
    let lab = |drive: &str| {
        format!(
            "question = 'q'\nlab.drives = [ {{ name = 'a', size = '1 GiB', {drive} }} ]\n\
             stack = [ {{ name = 'x', layers = [ {{ ext4 = {{}}, on = 'a' }} ] }} ]\nmeasure.span = '32 MiB'\n"
        )
    };
    for (drive, expect) in [
        ("kind = 'hdd'", &[][..]),
        ("kind = 'hdd', rpm = 5400, outer = '150 MB/s', seek = '12 ms', cache = '2 MiB'", &[]),
        ("kind = 'hdd', read = '20 MB/s', write_iops = 60", &[]),
        ("kind = 'hdd', port = 'switch0'", &["study-port"]),
        ("kind = 'hdd', lba = '4 KiB'", &["study-lba"]),
        ("kind = 'hdd', paths = 2", &["study-paths"]),
        ("kind = 'hdd', rpm = 20000", &["study-out-of-range"]),
        ("kind = 'hdd', outer = '200 MB'", &["study-spindle"]),
        ("kind = 'hdd', outer = '5 GB/s'", &["study-spindle"]),
        ("kind = 'sata', rpm = 7200, seek = '9 ms'", &["study-spindle", "study-spindle"]),
        ("kind = 'nvme', cache = '8 MiB'", &["study-spindle"]),
    ] {
        let text = lab(drive);
        let (design, notes) = spec::parse(&text);
        let codes: Vec<&str> = notes.iter().map(|note| note.code.as_str()).collect();
        assert_eq!((codes.as_slice(), design.is_some()), (expect, expect.is_empty()), "{drive}: {notes:?}");
        assert!(notes.iter().all(|note| note.span.is_some() && note.hint.is_some()), "{notes:?}");
    }
    let spindle = |drive: &str| spec::parse(&lab(drive)).0.unwrap().lab.drives[0].spindle;
    assert_eq!((spindle("kind = 'hdd'"), spindle("kind = 'sata'")), (Some(Spindle::default()), None));
    let told = Spindle { rpm: 5400, seek: Nanos::millis(12), ..Spindle::default() };
    assert_eq!(spindle("kind = 'hdd', rpm = 5400, seek = '12 ms'"), Some(told));
}

#[test]
fn several_hosts_work_where_a_network_connects_them_and_at_no_moment_of_their_own() {
    let study = |lab: &str, workload: &str| {
        format!(
            "question = 'q'\n\
             lab = {{ {lab}, drives = [ {{ name = 'a', size = '1 GiB', kind = 'nvme-tcp' }} ] }}\n\
             stack = [ {{ name = 'x', layers = [ {{ ext4 = {{}}, on = 'a' }} ] }} ]\nmeasure.span = '32 MiB'\n\
             workload = [ {{ name = 'w', pattern = 'randread', block = '4 KiB', {workload} }} ]\n"
        )
    };
    for (lab, workload, expect) in [
        ("hosts = 2", "hosts = 2", &[][..]),
        ("hosts = 2", "depth = 1", &[]),
        ("hosts = 1", "hosts = 2", &["study-hosts"]),
        ("hosts = 2", "hosts = 3", &["study-hosts"]),
        ("hosts = 2", "hosts = 2, rate = 100", &["study-hosts"]),
        ("hosts = 2", "hosts = 2, samples = 10", &["study-hosts"]),
    ] {
        assert_eq!(codes(&study(lab, workload)), expect, "{lab} {workload}");
    }
    let sliced = study("hosts = 2", "hosts = 2").replace("measure.span", "measure.replicate = 'slices'\nmeasure.span");
    assert_eq!(codes(&sliced), ["study-hosts"]);
    let near = study("hosts = 2", "depth = 1").replace("nvme-tcp", "nvme");
    assert_eq!(codes(&near), ["study-hosts"]);
}

#[test]
fn a_path_can_be_lost_where_there_are_two_and_a_window_to_lose_it_in() {
    let study = |paths: u8, workload: &str| {
        format!(
            "question = 'q'\n\
             lab.drives = [ {{ name = 'a', size = '1 GiB', kind = 'nvme-tcp', paths = {paths} }} ]\n\
             stack = [ {{ name = 'x', layers = [ {{ ext4 = {{}}, on = 'a' }} ] }} ]\nmeasure.span = '32 MiB'\n\
             workload = [ {{ name = 'w', pattern = 'randread', block = '4 KiB', {workload} }} ]\n"
        )
    };
    for (paths, workload, expect) in [
        (2, "window = '9 s', path_lost = { at = '2 s', back = '5 s' }", &[][..]),
        (1, "window = '9 s', path_lost = { at = '2 s', back = '5 s' }", &["study-path-lost"]),
        (2, "window = '9 s', path_lost = { at = '5 s', back = '5 s' }", &["study-path-lost"]),
        (2, "window = '5 s', path_lost = { at = '2 s', back = '5 s' }", &["study-path-lost"]),
        (2, "path_lost = { at = '2 s', back = '5 s' }", &["study-path-lost"]),
    ] {
        assert_eq!(codes(&study(paths, workload)), expect, "{paths} {workload}");
    }
}

#[test]
fn a_bcache_has_one_device_below_and_one_beside() {
    check("{ bcache = { cache = \"b\" }, on = \"a\" }", &[]);
    check("{ bcache = { cache = [\"b\", \"c\"] }, on = \"a\" }", &["study-too-many"]);
    check("{ bcache = { cache = \"c\" }, on = [\"a\", \"b\"] }", &["study-too-many"]);
}

#[test]
fn a_write_cache_has_one_device_below_and_one_beside() {
    check("{ writecache = { cache = \"b\", high_watermark = 10, low_watermark = 10 }, on = \"a\" }", &[]);
    check("{ writecache = { cache = [\"b\", \"c\"] }, on = \"a\" }", &["study-too-many"]);
    check("{ writecache = { cache = \"b\", high_watermark = 40 }, on = \"a\" }", &["study-watermarks"]);
}

/// Layouts that people have and that are not built: each is told by one note, what is so, and no other thing in its place.
#[test]
fn what_is_not_built_is_told_as_that_and_no_slip() {
    for (layers, told) in [
        ("{ zfs = { layout = 'raid10' }, on = ['a', 'b', 'c', 'd'] }", "several mirrors are not built"),
        ("{ zfs = { layout = 'draid1' }, on = ['a', 'b', 'c'] }", "dRAID is not built"),
        ("{ zfs = { layout = 'draid2:4d:1s' }, on = ['a', 'b', 'c'] }", "dRAID is not built"),
        ("{ zfs = { layout = 'mirror', log = 's' }, on = ['a', 'b'] }", "a log vdev is not built"),
        ("{ zfs = { layout = 'mirror', L2ARC = 's' }, on = ['a', 'b'] }", "a cache vdev is not built"),
        ("{ raid = { level = 5, spares = ['d'] }, on = ['a', 'b', 'c'] }, { ext4 = {} }", "spares are not built"),
        (
            "{ raid = { level = 5, journal = 's' }, on = ['a', 'b', 'c'] }, { ext4 = {} }",
            "a journal of writes is not built",
        ),
        ("{ btrfs = { data = 'raid5' }, on = ['a', 'b', 'c'] }", "this profile is not built"),
        ("{ btrfs = { metadata = 'raid1c3' }, on = ['a', 'b', 'c'] }", "this profile is not built"),
        ("{ btrfs = { compress-force = 'zstd' }, on = 'a' }", "btrfs compresses nothing here"),
        ("{ bcachefs = { replicas = 2 }, on = ['a', 'b'] }", "this file system is not built"),
        ("{ raid = { level = 6 }, on = ['a', 'b', 'c', 'd'] }, { vdo = {} }, { xfs = {} }", "VDO is not built"),
        ("{ lvm = { volume = 'vdo' }, on = 'a' }, { xfs = {} }", "VDO is not built"),
        ("{ lvm = { volume = 'raid0' }, on = ['a', 'b'] }, { xfs = {} }", "did you mean `striped`?"),
        ("{ raid = { level = 10, layout = 'f2' }, on = ['a', 'b'] }, { xfs = {} }", "did you mean `far`?"),
        ("{ stratis = { cache = 's' }, on = ['a', 'b'] }", "Stratis is not built"),
        ("{ dm-writecache = { cache = 's' }, on = 'a' }, { xfs = {} }", "did you mean `writecache`?"),
    ] {
        let text = study(layers);
        let (design, notes) = spec::parse(&text);
        assert!(design.is_none(), "{layers}");
        let page = spec::render("x.toml", &text, &notes, false);
        assert!(page.contains(told), "{layers}\n{page}");
        assert_eq!(notes.len(), 1, "{layers}\n{page}");
        assert!(page.matches("did you mean").count() == usize::from(told.starts_with("did")), "{layers}\n{page}");
    }
}
