//! Stacks whose tools refuse what is below without force: a plan says so before anything is written.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use plan::DriveSize;

/// Why the only stack of a study cannot be planned; `None` where it can.
fn refusal(layers: &str) -> Option<String> {
    let drives = "[{ name = 'a', size = '1 GiB' }, { name = 'b', size = '1 GiB' }, { name = 'c', size = '1 GiB' }]";
    let text = format!("question = 'q'\n[lab]\ndrives = {drives}\n[[stack]]\nname = 's'\nlayers = [{layers}]\n");
    let (design, notes) = spec::parse(&text);
    let design = design.unwrap_or_else(|| panic!("{layers}: {notes:?}"));
    plan::plans(&design.stacks, &DriveSize::of_lab(&design.lab)).remove(0).err().map(|error| error.to_string())
}

#[test]
fn what_tools_refuse_without_force() {
    let striped = "{ raid = { level = 0, chunk = '64 KiB' }, on = ['a', 'b'] }";
    let fine = "{ raid = { level = 0, chunk = '4 KiB' }, on = ['a', 'b'] }";
    let parity = "{ lvm = { volume = 'raid5' }, on = ['a', 'b', 'c'] }";
    let mirror = "{ raid = { level = 1 }, on = ['a', 'b'] }";
    let table = [
        // `Cannot use DEVICE: device is an LV`
        (
            format!("{mirror}, {{ lvm = {{}} }}, {{ lvm = {{ volume = 'linear' }} }}, {{ ext4 = {{}} }}"),
            "is a logical volume",
        ),
        (format!("{mirror}, {{ lvm = {{}} }}, {{ luks = {{}} }}, {{ lvm = {{}} }}"), ""),
        // `warning: device is not properly aligned`
        (format!("{striped}, {{ integrity = {{}} }}, {{ xfs = {{}} }}"), "mkfs.xfs refuses"),
        (format!("{striped}, {{ luks = {{}} }}, {{ integrity = {{}} }}, {{ xfs = {{}} }}"), "mkfs.xfs refuses"),
        (format!("{parity}, {{ integrity = {{}} }}, {{ xfs = {{}} }}"), "mkfs.xfs refuses"),
        (format!("{striped}, {{ integrity = {{}} }}, {{ ext4 = {{}} }}"), ""),
        (format!("{striped}, {{ integrity = {{}} }}, {{ lvm = {{}} }}, {{ xfs = {{}} }}"), ""),
        (format!("{striped}, {{ integrity = {{}} }}, {{ luks = {{}} }}, {{ xfs = {{}} }}"), ""),
        (format!("{fine}, {{ integrity = {{}} }}, {{ xfs = {{}} }}"), ""),
        (format!("{mirror}, {{ integrity = {{}} }}, {{ xfs = {{}} }}"), ""),
    ];
    for (layers, why) in table {
        let found = refusal(&layers);
        assert_eq!(found.is_some(), !why.is_empty(), "{layers}: {found:?}");
        assert!(found.unwrap_or_default().contains(why), "{layers}");
    }
}
