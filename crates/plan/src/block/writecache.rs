//! dm-writecache: writes kept on a faster device until they are written below.

use terms::layer::Writecache;
use terms::{LayerNode, Word};

use super::only;
use crate::draft::{Draft, StepBuilder, whole_device, words};
use crate::error::PlanError;
use crate::place::{BlockKind, Member, Place};

/// `$1`: the mapping; `$2`: the device below; `$3`: the cache; `$4`: block and options.
const CREATE: &str = r#"dmsetup create "$1" --table "0 $(blockdev --getsz "$2") writecache s $2 $3 $4""#;

/// `$1`: the mapping. The cache is written below when the mapping is suspended; the first number of its status is an error.
/// It may be suspended already, or gone, where an earlier teardown was cut short.
const REMOVE: &str = r#"dmsetup info "$1" >/dev/null 2>&1 || exit 0; dmsetup message "$1" 0 flush_on_suspend && dmsetup suspend "$1" && if dmsetup status "$1" | grep -q ' writecache 0 '; then dmsetup remove "$1"; else echo "$1: a device failed, and what only the cache has could not be written below; if that may go: dmsetup remove $1" >&2; exit 1; fi"#;

/// Programs that the scripts run.
const PROGRAMS: [&str; 3] = ["blockdev", "dmsetup", "grep"];

/// Joins the two devices.
pub(crate) fn lay(
    draft: &mut Draft,
    node: &LayerNode,
    writecache: &Writecache,
    members: &[Member],
    cache: &[Member],
) -> Result<Place, PlanError> {
    let layer = &node.name;
    let (below, cache) = (&only(node, members)?.place, &only(node, cache)?.place);
    let (block, lba) = (writecache.block, below.lba.max(cache.lba));
    if block < lba {
        let why = format!("its block of {block} is smaller than a device's {lba}");
        return Err(PlanError::impossible(layer, why));
    }
    if below.exact && !below.size.most.0.is_multiple_of(block.0) {
        let why = format!("the device below has {}, no multiple of its block of {block}", below.size.most);
        return Err(PlanError::impossible(layer, why));
    }
    draft.modules(["dm-writecache"]);
    draft.programs(&PROGRAMS);
    let name = draft.naming.mapping(layer);
    let mapping = Word::from(format!("/dev/mapper/{name}"));
    let sh = |script: &str| words!["sh", "-c", script, "sh", name.clone()];
    // The kernel takes up a cache that it finds and refuses anything else but zeros (`writecache_ctr` in
    // drivers/md/dm-writecache.c).
    let clear = words!["blkdiscard", "--zeroout", "--length", "4096", cache.node.clone()];
    draft.push(
        StepBuilder::run(layer, "clear", "The kernel makes a new cache where the first 4 KiB are zero.", clear.clone())
            .erases(cache.drive.iter().cloned().collect()),
    );
    let create = [sh(CREATE), words![below.node.clone(), cache.node.clone(), table(writecache)]].concat();
    draft.push(
        StepBuilder::run(layer, "create", "From now on a write is done when the cache has it.", create)
            .makes_node(&mapping)
            .marks(&cache.node, "DM_writecache", None)
            .erases([&below.drive, &cache.drive].into_iter().flatten().cloned().collect())
            .undo_within("What only the cache has is written below first.", sh(REMOVE), whole_device(cache.size.most))
            .undo("A cache that is found again is taken up with all its writes.", clear),
    );
    Ok(Place {
        node: mapping,
        drive: None,
        kind: BlockKind::Mapping,
        lba: block,
        detects: below.detects && cache.detects,
        ..below.clone()
    })
}

/// The block, and options with their count.
fn table(writecache: &Writecache) -> String {
    let Writecache { block, high_watermark, low_watermark, writeback_jobs } = writecache;
    let marks = format!("high_watermark {high_watermark} low_watermark {low_watermark}");
    match writeback_jobs {
        Some(jobs) => format!("{block} 6 {marks} writeback_jobs {jobs}", block = block.0),
        None => format!("{block} 4 {marks}", block = block.0),
    }
}
