//! Exported scripts, as a person runs them: each builds its stack and takes it down, also where a step of it could not be done,
//! and touches nothing that came onto its drives since.

use host::Host;
use lab::Guest;
use terms::{Cmd, Nanos, Outcome};

use crate::bench::Bench;
use crate::places::shell;

const STUDY: &str = r#"
question = "Does a script clean up?"
measure = { span = "16 MiB" }
[lab]
memory = "2 GiB"
drives = [{ name = "a", size = "128 MiB" }, { name = "b", size = "128 MiB" }, { name = "c", size = "128 MiB" },
    { name = "d", size = "320 MiB" }, { name = "e", size = "320 MiB" }]
[[stack]]
name = "plain"
layers = [{ ext4 = {}, on = "a" }]
[[stack]]
name = "mirror"
layers = [{ raid = { level = 1 }, on = ["a", "b"] }, { luks = { pbkdf = "pbkdf2" } }, { ext4 = {} }]
[[stack]]
name = "sums"
layers = [{ integrity = { mode = "bitmap" }, on = "a" }, { lvm = {} }, { ext4 = {} }]
[[stack]]
name = "thin"
layers = [{ lvm = { thin_chunk = "64 KiB" }, on = "a" }, { ext4 = {} }]
[[stack]]
name = "cached"
layers = [{ lvm = { cache = ["c"] }, on = ["a", "b"] }, { ext4 = {} }]
[[stack]]
name = "bcache"
layers = [{ bcache = { cache = "e", mode = "writeback" }, on = "d" }, { ext4 = {} }]
[[stack]]
name = "writes"
layers = [{ writecache = { cache = "c" }, on = "a" }, { ext4 = {} }]
[[stack]]
name = "pair"
layers = [{ btrfs = { data = "raid1", metadata = "raid1" }, on = ["a", "b"] }]
[[stack]]
name = "pool"
layers = [{ zfs = { layout = "mirror" }, on = ["a", "b"] }]
"#;

/// A script that has been brought into a guest, with its drives named.
struct Script<'g> {
    guest: &'g Guest,
    path: String,
    drives: Vec<String>,
    nodes: Vec<String>,
}

impl Script<'_> {
    fn run(&self, before: &str, verb: &str) -> Outcome {
        let line = format!("{before} sh {} {verb} {}", self.path, self.drives.join(" "));
        let outcome = self.guest.run(&Cmd::new(["bash", "-c", &line]).limit(Nanos::seconds(600))).unwrap();
        println!("--- {line}: {}\n{}{}", outcome.status, outcome.text(), outcome.error_text());
        outcome
    }

    fn is_blank(&self) -> bool {
        let looks = self.nodes.iter().map(|node| format!("wipefs {node}; ls /sys/block/{}/holders", &node[5..]));
        shell(self.guest, &looks.collect::<Vec<_>>().join("; ")).trim().is_empty()
    }
}

#[cfg_attr(not(feature = "long-tests"), ignore = "long: make test-all")]
#[test]
fn exported_scripts_take_down_what_they_built_and_nothing_else() {
    let bench = Bench::new();
    let (design, notes) = spec::parse(STUDY);
    let design = design.unwrap_or_else(|| panic!("{notes:?}"));
    let guest = bench.boot(&design);
    // Programs that fail, to be found before those that do not.
    shell(
        &guest,
        "mkdir -p /root/fails; for of in mount zpool; do printf '#!/bin/sh\\nexit 1\\n' > /root/fails/$of; done; chmod +x /root/fails/*",
    );
    for stack in &design.stacks {
        let plan = plan::plan(stack, &plan::DriveSize::of_lab(&design.lab)).unwrap();
        shell(&guest, &plan.needs.iter().filter_map(module).collect::<Vec<_>>().join("; "));
        let path = format!("/root/{}.sh", plan.slug);
        guest.write(&path, plan::script(&plan).as_bytes()).unwrap();
        let nodes: Vec<String> = plan.drives.iter().map(|name| guest.drives()[name].clone()).collect();
        let serial = |node: &String| guest.read_text(&format!("/sys/block/{}/device/serial", &node[5..])).unwrap();
        let drives = plan.drives.iter().zip(&nodes).map(|(name, node)| format!("{name}={}", serial(node))).collect();
        let script = Script { guest: &guest, path, drives, nodes };
        assert!(script.run("", "build").ok(), "{}", plan.slug);
        assert!(!script.is_blank(), "{}", plan.slug);
        assert!(script.run("", "teardown").ok() && script.is_blank(), "{}", plan.slug);
        assert_eq!(script.run("", "teardown").status, 3, "{}", plan.slug);
        // The last step cannot be done.
        assert!(!script.run("PATH=/root/fails:$PATH", "build").ok(), "{}", plan.slug);
        assert!(script.run("", "teardown").ok() && script.is_blank(), "{}", plan.slug);
        match plan.slug.as_str() {
            "plain" => somebody_comes(&script, &plan.slug),
            "pool" => somebody_uses_the_pool(&script),
            _ => {}
        }
    }
}

fn module(need: &terms::plan::Prerequisite) -> Option<String> {
    match need {
        terms::plan::Prerequisite::Module(module) => Some(format!("modprobe {module}")),
        terms::plan::Prerequisite::Program(_) => None,
    }
}

/// Whatever came onto a drive since keeps every byte.
fn somebody_comes(script: &Script<'_>, slug: &str) {
    let node = &script.nodes[0];
    for (what, put) in [
        ("a table", "parted -s $a mklabel gpt"),
        ("a file system", "mkfs.ext4 -qF -L precious $a"),
        ("a header", "printf 'LUKS\\xba\\xbe\\0\\2' | dd of=$a conv=notrunc status=none"),
        (
            "a copy",
            "printf '\\xc6\\x85\\x73\\xf6\\x66\\xce\\x90\\xa9\\xd9\\x6a\\x60\\xcf\\x80\\x3d\\xf7\\xef' | dd of=$a bs=1 seek=131072024 conv=notrunc status=none",
        ),
        ("another start", "echo x > /run/boot; mount --bind /run/boot /proc/sys/kernel/random/boot_id"),
    ] {
        assert!(script.run("", "build").ok(), "{slug}: {what}");
        let close = "umount /mnt/bedplate/*; cryptsetup close bp-mirror-luks 2>/dev/null; mdadm --stop --scan -q 2>/dev/null; true";
        shell(script.guest, &format!("a={node}; {close}; {put}; sync; blockdev --flushbufs $a"));
        let sum = || shell(script.guest, &format!("sha256sum {node}"));
        let before = sum();
        assert_eq!(script.run("", "teardown").status, 3, "{slug}: {what}");
        assert_eq!(sum(), before, "{slug}: {what}");
        let wipe = script.nodes.iter().map(|node| {
            format!("wipefs -aq {node}; blkdiscard -f {node} || dd if=/dev/zero of={node} bs=1M status=none")
        });
        let undo = "umount /proc/sys/kernel/random/boot_id 2>/dev/null; rm -f /run/bedplate-*; rmdir /mnt/bedplate/* 2>/dev/null";
        shell(script.guest, &format!("{undo}; {}; true", wipe.collect::<Vec<_>>().join("; ")));
    }
}

/// A dataset of somebody's keeps its files.
fn somebody_uses_the_pool(script: &Script<'_>) {
    assert!(script.run("", "build").ok());
    shell(script.guest, "zfs create -o mountpoint=/srv/keep bp-pool-zfs/keep; echo precious > /srv/keep/file");
    let refused = script.run("", "teardown");
    let told = refused.error_text();
    assert!(refused.status == 3 && told.trim_end().ends_with("\nbp-pool-zfs/keep"), "{told}");
    assert_eq!(shell(script.guest, "cat /srv/keep/file").trim(), "precious");
    shell(script.guest, "zfs destroy bp-pool-zfs/keep");
    assert!(script.run("", "teardown").ok() && script.is_blank());
}
