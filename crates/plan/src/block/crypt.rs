//! A plain dm-crypt mapping, and the flags that it shares with LUKS.

use terms::layer::{Crypt, CryptFlags};
use terms::{Name, Word};

use crate::draft::{Draft, StepBuilder, words};
use crate::place::{BlockKind, Member, Place};

/// Opens the mapping. Plain dm-crypt has no header, so nothing is formatted and nothing has to be wiped.
pub(crate) fn lay(draft: &mut Draft, layer: &Name, crypt: &Crypt, below: &Member) -> Place {
    let name = draft.naming.mapping(layer);
    let mapping = Word::from(format!("/dev/mapper/{name}"));
    let mut argv = words![
        "cryptsetup",
        "open",
        "--batch-mode",
        "--type",
        "plain",
        "--cipher",
        crypt.cipher.clone(),
        "--key-size",
        crypt.key_bits.to_string(),
        "--sector-size",
        crypt.sector.0.to_string(),
        "--key-file",
        "-",
    ];
    argv.extend(flags(crypt.flags));
    argv.extend(words![below.place.node.clone(), name.clone()]);
    draft.push(
        StepBuilder::run(
            layer,
            "open",
            "Plain dm-crypt keeps no header: cipher, key and sector size are said at every opening, and what is written makes the device look random.",
            argv,
        )
        .key(layer)
        .makes_node(&mapping)
        .erases(below.place.drive.iter().cloned().collect())
        .undo("The key leaves the kernel's memory; without it the content is noise.", words!["cryptsetup", "close", name]),
    );
    Place {
        node: mapping,
        drive: None,
        kind: BlockKind::Mapping,
        lba: below.place.lba.max(crypt.sector),
        // The mapping is as long as the device, cut to whole sectors.
        exact: below.place.exact && below.place.size.most.0.is_multiple_of(crypt.sector.0.max(1)),
        detects: below.place.detects,
        ..below.place.clone()
    }
}

/// cryptsetup's options for dm-crypt's performance flags.
pub(crate) fn flags(flags: CryptFlags) -> Vec<Word> {
    [
        (flags.same_cpu_crypt, "--perf-same_cpu_crypt"),
        (flags.submit_from_crypt_cpus, "--perf-submit_from_crypt_cpus"),
        (flags.no_read_workqueue, "--perf-no_read_workqueue"),
        (flags.no_write_workqueue, "--perf-no_write_workqueue"),
    ]
    .into_iter()
    .filter(|(set, _)| *set)
    .map(|(_, option)| Word::from(option))
    .collect()
}
