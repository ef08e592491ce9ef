//! Machines built by hand are inspected, captured, and inspected again.
#![allow(clippy::unwrap_used, reason = "a test may stop at the first fault of its own")]

#[path = "machines/mod.rs"]
mod machines;

use host::{Capture, capture, inspect};
use terms::inventory::{Inventory, Meaning, PciRole, Readout};

fn parse(name: &str, text: &str) -> Capture {
    Capture::parse(name, text.as_bytes()).unwrap_or_else(|error| panic!("{error}"))
}

fn machine(name: &str) -> Inventory {
    let (_, machine) = machines::all().into_iter().find(|(known, _)| *known == name).unwrap();
    inspect::examine(&parse(name, &machine.text())).unwrap()
}

fn gigabytes(rate: terms::BytesPerSecond) -> f64 {
    (rate.0 / 1e7).round() / 100.0
}

/// A device's capacity and what is asked of it, in GB/s.
fn load(inventory: &Inventory, address: &str) -> (f64, Option<f64>) {
    let detail = inventory.pci_device(address).unwrap().detail.as_ref().unwrap();
    let carries = detail.carries.known().unwrap().unwrap();
    (gigabytes(carries.rate), detail.asked.map(gigabytes))
}

#[test]
fn a_split_slot_is_concluded_and_says_from_what() {
    let inventory = machine("bifurcated-pair");
    let split = inventory.pci_device("0000:00:03.1").unwrap().detail.as_ref().unwrap().bifurcation.clone().unwrap();
    assert_eq!((split.ports.len(), split.lanes), (2, 8));
    assert!(split.because.contains("functions of one device"), "{}", split.because);
    // The M.2 socket and the chipset are functions of one device, too, and no slot.
    assert_eq!(inventory.pci_device("0000:00:01.1").unwrap().detail.as_ref().unwrap().bifurcation, None);
    // PCIe 3 x4 at 256 bytes: what the write-up measured as its limit, 3.6 GB/s.
    assert_eq!(load(&inventory, "0000:0c:00.0"), (3.6, None));
    let md = inventory.node("md2").unwrap().md.clone().unwrap();
    assert_eq!(md.sync_action, Readout::Known(Some("resync".to_owned())));
}

#[test]
fn a_shared_uplink_carries_less_than_is_asked_of_it() {
    let inventory = machine("r720");
    assert_eq!(load(&inventory, "0000:44:00.0"), (3.6, Some(7.2)));
    assert_eq!(load(&inventory, "0000:40:01.0"), (3.6, Some(3.6)));
    let inventory = machine("enclosure");
    assert_eq!(load(&inventory, "0000:01:00.0"), (15.05, Some(30.1)));
}

#[test]
fn ways_to_a_remote_namespace_are_joined() {
    let inventory = machine("dl360");
    assert_eq!(inventory.drives.len(), 5);
    for drive in &inventory.drives {
        let nvme = drive.detail.as_ref().unwrap().nvme.clone().unwrap();
        let states: Vec<_> = nvme.paths.iter().map(|path| path.state.clone().unwrap()).collect();
        assert_eq!(
            (drive.transport.word(), states),
            ("nvme-rdma", vec!["optimized".to_owned(), "non-optimized".to_owned()])
        );
        assert!(drive.serial.as_deref().unwrap().starts_with("J2KSSD"));
    }
    assert!(inventory.pci.iter().any(|device| device.role == PciRole::Network));
}

#[test]
fn a_deep_stack_is_read_whole() {
    let inventory = machine("p500");
    let detail = inventory.detail.as_ref().unwrap();
    let under = |name: &str| inventory.node(name).unwrap().on.clone();
    let root = detail.nodes.iter().find(|node| node.label.as_deref() == Some("vg0-data")).unwrap();
    assert_eq!(root.on, ["md0"]);
    for member in under("md0") {
        let node = inventory.node(&member).unwrap();
        let target = node.dm.as_ref().unwrap().targets.known().unwrap()[0].clone();
        let Meaning::IntegrityHeader(integrity) = target.meaning else { panic!("{target:?}") };
        assert_eq!(
            (integrity.mode.as_str(), integrity.block.0, integrity.recalculated_sectors),
            ("J", 4096, Readout::Known(None))
        );
        let crypt = inventory.node(&node.on[0]).unwrap();
        let Meaning::CryptMapping(crypt) = &crypt.dm.as_ref().unwrap().targets.known().unwrap()[0].meaning else {
            panic!()
        };
        assert_eq!((crypt.sector.0, crypt.flags.len(), crypt.key_bits), (4096, 2, Some(512)));
    }
    assert_eq!(detail.volume_groups.known().unwrap()[0].logical[0].segments[0].kind, "linear");
}

#[test]
fn what_only_root_can_read_is_unknown_and_not_fine() {
    let inventory = machine("laptop-as-user");
    let detail = inventory.detail.as_ref().unwrap();
    assert!(!detail.as_root);
    let drive = inventory.drives[0].detail.as_ref().unwrap();
    for why in [
        drive.health.why_unknown(),
        drive.nvme.as_ref().unwrap().formats.why_unknown(),
        detail.volume_groups.why_unknown(),
        detail.linux.messages.why_unknown(),
        inventory.node("dm-0").unwrap().dm.as_ref().unwrap().targets.why_unknown(),
    ] {
        assert!(why.unwrap().contains("Permission denied"), "{why:?}");
    }
    let capacity =
        inventory.pci_device("0000:04:00.0").unwrap().detail.as_ref().unwrap().carries.known().unwrap().unwrap();
    assert_eq!((capacity.payload.0, capacity.payload_known), (128, false));
    assert_eq!(inventory.node("nvme0n1p3").unwrap().signatures.known().unwrap()[0].kind, "crypto_LUKS");
}

#[test]
fn pools_and_their_devices_are_found() {
    let inventory = machine("zfs-box");
    let pool = &inventory.detail.as_ref().unwrap().pools.known().unwrap()[0];
    let vdevs = pool.vdevs.known().unwrap();
    assert_eq!(vdevs.iter().map(|vdev| vdev.class.as_str()).collect::<Vec<_>>(), ["data", "data", "special"]);
    assert_eq!((vdevs[2].children[1].node.as_deref(), &vdevs[2].ashift), (Some("nvme1n1p1"), &Readout::Known(12)));
    let inventory = machine("btrfs-box");
    let system = &inventory.detail.as_ref().unwrap().file_systems[0];
    let btrfs = system.btrfs.as_ref().unwrap();
    assert_eq!((system.nodes.len(), btrfs.devices[1].node.as_deref()), (2, Some("sdb1")));
    assert_eq!(btrfs.devices[1].errors.known().unwrap()["corruption_errs"], 12);
}

#[test]
fn a_captured_machine_is_inspected_as_it_was_and_has_other_names() {
    for (name, machine) in machines::all() {
        let live = parse(name, &machine.text());
        let text = capture::take(&live).unwrap().print();
        for secret in ["S4ENNX0R123456", "23020A80", "0b57-4e1d-9a6c", "192.168.", "oQ3Xkf", "PHOC1234", "1A2B3C4"] {
            assert!(!text.contains(secret), "{name}: {secret}");
        }
        let first = inspect::examine(&parse(name, &text)).unwrap();
        let whole = inspect::examine(&live).unwrap();
        // Everything but names of single devices is as it was.
        assert_eq!(first.drives.len(), whole.drives.len(), "{name}");
        for (masked, original) in first.drives.iter().zip(&whole.drives) {
            assert_eq!(masked.detail.as_ref().unwrap().health, original.detail.as_ref().unwrap().health, "{name}");
            assert_eq!(masked.model, original.model);
        }
        for (masked, original) in first.pci.iter().zip(&whole.pci) {
            assert_eq!(masked, original, "{name}");
        }
        let kinds = |inventory: &Inventory| {
            let nodes = &inventory.detail.as_ref().unwrap().nodes;
            nodes
                .iter()
                .map(|node| {
                    (
                        node.kind.clone(),
                        node.on.clone(),
                        node.queue.clone(),
                        node.md.as_ref().map(|md| md.state.clone()),
                    )
                })
                .collect::<Vec<_>>()
        };
        for (masked, original) in kinds(&first).iter().zip(&kinds(&whole)) {
            assert_eq!(masked, original, "{name}");
        }
        // Capturing the capture changes nothing more.
        let again = capture::take(&parse(name, &text)).unwrap().print();
        let again = inspect::examine(&parse(name, &again)).unwrap();
        assert!(again == first, "{name}: {again:#?}\n{first:#?}");
    }
}

/// Prints the time: `cargo test --release -p host --test machines -- --nocapture large`.
#[test]
#[expect(clippy::print_stdout, reason = "the time is what is asked for")]
fn a_large_enclosure_is_inspected_at_once() {
    let text = machines::enclosure().text();
    let start = std::time::Instant::now();
    let capture = parse("enclosure", &text);
    let parsed = start.elapsed();
    let inventory = inspect::examine(&capture).unwrap();
    let took = start.elapsed();
    println!(
        "{} lines, {} drives: parsed in {parsed:?}, inspected in {took:?}",
        text.lines().count(),
        inventory.drives.len()
    );
    assert_eq!(inventory.drives.len(), 24);
    // A release build on an idle machine takes a hundredth of this.
    assert!(took.as_secs() < 20, "{took:?}");
}

#[test]
fn inventories_survive_json() {
    for (name, _) in machines::all() {
        let inventory = machine(name);
        let json = serde_json::to_string(&inventory).unwrap();
        let again: Inventory = serde_json::from_str(&json).unwrap();
        let (left, right) = (format!("{again:#?}"), format!("{inventory:#?}"));
        let different = left.lines().zip(right.lines()).enumerate().find(|(_, (left, right))| left != right);
        assert_eq!(different, None, "{name}");
        assert_eq!(again, inventory, "{name}");
    }
}

/// The example of docs/capture.md is one.
#[test]
fn the_documented_example_is_a_capture() {
    let page = include_str!("../../../docs/capture.md");
    let example = page.rsplit("```text\n").next().unwrap().split("```").next().unwrap();
    let inventory = inspect::examine(&parse("docs/capture.md", example)).unwrap();
    let drive = &inventory.drives[0];
    assert_eq!((drive.transport.word(), drive.size.0), ("sata", 1_000_204_886_016));
    assert_eq!(inventory.node("sda").unwrap().signatures, Readout::Known(Vec::new()));
    let why = inventory.detail.as_ref().unwrap().linux.messages.why_unknown().unwrap();
    assert!(why.contains("was not captured"), "{why}");
}
