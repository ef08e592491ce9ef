//! bcache: a device, cached on a faster one.
//!
//! The kernel numbers its devices, and names them by identifier only where udev runs. So they are found through the device
//! below, whose directory in sysfs leads to the one above, and get a link with a name of the plan's.

use terms::layer::Bcache;
use terms::{Bytes, LayerNode, Name, Word};

use super::{only, wipe};
use crate::draft::{Draft, StepBuilder, whole_device, words};
use crate::error::PlanError;
use crate::place::{BlockKind, Member, Place};

/// Where the kernel keeps what it knows of a device, by its number: nodes of mappings are not always links, and `stat` before
/// coreutils 9.0 tells numbers in base 16 only.
const OF: &str = r#"number() { echo "0x$(stat --dereference --format="$1" "$2")"; }; of() { printf '/sys/dev/block/%d:%d/bcache\n' "$(number %t "$1")" "$(number %T "$1")"; }; "#;

/// `$1`: the device below; `$2`: the link. Registering what udev registered already does nothing.
const REGISTER: &str =
    r#"echo "$1" > /sys/fs/bcache/register_quiet && top=$(readlink "$(of "$1")/dev") && ln -s "/dev/${top##*/}" "$2""#;

/// The same two.
const STOP: &str =
    r#"rm -f "$2"; at=$(of "$1"); [ ! -e "$at" ] || echo 1 > "$at/stop"; while [ -e "$at" ]; do sleep 0.1; done"#;

/// `$1`: the cache. What is attached to its set still is written back and detached first.
const LEAVE: &str =
    r#"at=$(of "$1"); [ ! -e "$at/set" ] || echo 1 > "$at/set/unregister"; while [ -e "$at" ]; do sleep 0.1; done"#;

/// `$1`: the device below; `$2`: the cache, whose set has the identifier that is asked for. In one step: between the two
/// the kernel has claimed the cache, and nothing that rests on it says for whom.
const ATTACH: &str = r#"echo "$2" > /sys/fs/bcache/register_quiet && set=$(readlink "$(of "$2")/set") && echo "${set##*/}" > "$(of "$1")/attach""#;

/// `$1`: the device below. It returns when the cache has nothing that is not below.
const DETACH: &str = r#"at=$(of "$1"); [ -e "$at" ] && [ "$(cat "$at/state")" != "no cache" ] || exit 0; echo 1 > "$at/detach"; until [ "$(cat "$at/state")" = "no cache" ]; do sleep 0.1; done"#;

/// `$1`: the setting; `$2`: its value. It goes with the device.
const SET: &str = r#"echo "$2" > "$1""#;

fn script(script: &str, arguments: Vec<Word>) -> Vec<Word> {
    [words!["sh", "-c", format!("{OF}{script}"), "sh"], arguments].concat()
}

/// Makes both devices, brings them up and joins them.
pub(crate) fn lay(
    draft: &mut Draft,
    node: &LayerNode,
    bcache: &Bcache,
    members: &[Member],
    cache: &[Member],
) -> Result<Place, PlanError> {
    let layer = &node.name;
    let (below, cache) = (&only(node, members)?.place, &only(node, cache)?.place);
    let lba = below.lba.max(cache.lba);
    let block = bcache.block.unwrap_or(lba);
    if block < lba {
        let why = format!("its block of {block} is smaller than a device's {lba}");
        return Err(PlanError::impossible(layer, why));
    }
    let needed = Bytes(bcache.bucket.0.saturating_mul(Bcache::FEWEST_BUCKETS));
    if cache.size.most < needed {
        return Err(PlanError::TooSmall { layer: layer.clone(), needed, found: cache.size.most });
    }
    draft.modules(["bcache"]);
    let name = draft.naming.mapping(layer);
    let device = Word::from(format!("/dev/{name}"));
    let format = |act: &str, why: &str, options: Vec<Word>, place: &Place| {
        let block = words!["--block", block.0.to_string()];
        let argv = [words!["make-bcache"], block, options, vec![place.node.clone()]].concat();
        StepBuilder::run(layer, act, why, argv)
            .makes_signature(&place.node, "bcache", None)
            .erases(place.drive.iter().cloned().collect())
            .undo("A superblock left behind would be registered at the next start.", wipe(&place.node))
    };
    draft.push(format(
        "format",
        "A superblock at 4 KiB, and data from 8 KiB on; make-bcache refuses a device that holds anything.",
        words!["--bdev"],
        below,
    ));
    draft.push(format(
        "format-cache",
        "The cache is divided into buckets; its set gets an identifier, by which devices are attached to it.",
        words!["--bucket", bcache.bucket.0.to_string(), "--cache"],
        cache,
    ));
    let up = script(REGISTER, words![below.node.clone(), device.clone()]);
    draft.push(
        StepBuilder::run(layer, "register", "Without a cache the device passes everything through.", up)
            .makes_node(&device)
            .undo(
                "A stopped device lets go of the one below.",
                script(STOP, words![below.node.clone(), device.clone()]),
            ),
    );
    // What the cache alone has is written below before it is let go.
    let flush = whole_device(cache.size.most);
    let attach = script(ATTACH, words![below.node.clone(), cache.node.clone()]);
    draft.push(
        StepBuilder::run(layer, "attach", "From now on what is used often is on the faster device.", attach)
            .undo_within(
                "Detaching writes back what only the cache has.",
                script(DETACH, words![below.node.clone()]),
                flush,
            )
            .undo_within("The set lets go of the cache.", script(LEAVE, words![cache.node.clone()]), flush),
    );
    set_up(draft, layer, bcache, &format!("/dev/{name}"));
    let detects = below.detects && cache.detects;
    Ok(Place {
        node: device,
        drive: None,
        kind: BlockKind::Mapping,
        exact: false,
        lba: block,
        detects,
        // It has limits of its own (`bcache_device_init` in drivers/md/bcache/super.c).
        misaligned: false,
        ..below.clone()
    })
}

/// What the kernel is told of an attached cache.
fn set_up(draft: &mut Draft, layer: &Name, bcache: &Bcache, device: &str) {
    let path = |what: &str| Word::sysfs(device).then(format!("/bcache/{what}"));
    let why = "Said aloud: it decides whether losing the cache loses the device.";
    draft.push(StepBuilder::write(layer, "mode", why, path("cache_mode"), bcache.mode.word()));
    let cutoff = bcache.sequential_cutoff;
    if cutoff != Bcache::default().sequential_cutoff {
        let argv = script(SET, words![path("sequential_cutoff"), cutoff.0.to_string()]);
        draft.push(StepBuilder::run(layer, "cutoff", "Streams longer than this pass the cache by.", argv));
    }
}
