//! md arrays: files below `md/`.

use std::str::FromStr;

use terms::inventory::{Md, MdMember, Readout};

use super::source::{Source, needed};

/// An array, from the directory of its block device.
pub(super) fn read(source: &Source, directory: &str) -> Md {
    let file = |name: &str| format!("{directory}/md/{name}");
    let told = |name: &str| source.told(&file(name));
    let level = told("level").unwrap_or_else(|| "unknown level".to_owned());
    Md {
        uuid: told("uuid"),
        metadata: told("metadata_version"),
        chunk: needed(&file("chunk_size"), source.size(&file("chunk_size"), 1)),
        layout: told("layout").and_then(|layout| layout.parse().ok()),
        devices: needed(&file("raid_disks"), source.parsed(&file("raid_disks"), first_number)),
        state: needed(&file("array_state"), source.text(&file("array_state"))),
        degraded: source.number(&file("degraded")),
        sync_action: source.text(&file("sync_action")),
        sync_completed_sectors: source
            .parsed(&file("sync_completed"), |text| match text {
                "none" | DELAYED => Some(None),
                _ => share(text).map(Some),
            })
            .map(Option::flatten),
        sync_waits: told("sync_completed").as_deref() == Some(DELAYED),
        mismatch_sectors: source.number(&file("mismatch_cnt")),
        bitmap: source.text(&file("bitmap/location")),
        consistency_policy: source.text(&file("consistency_policy")),
        stripe_cache_size: source.number(&file("stripe_cache_size")),
        group_thread_cnt: source.number(&file("group_thread_cnt")),
        max_read_errors: source.number(&file("max_read_errors")),
        // `200000 (system)`, in KiB.
        sync_speed_max: source.parsed(&file("sync_speed_max"), |text| first_number::<u64>(text).map(terms::Bytes::kib)),
        sync_speed: told("sync_speed").and_then(|speed| speed.parse().ok()).map(terms::Bytes::kib),
        members: members(source, directory),
        level,
    }
}

/// The number that a text begins with: `2` of `2 (3)`, which is said while an array is reshaped.
fn first_number<T: FromStr>(text: &str) -> Option<T> {
    text.split_whitespace().next()?.parse().ok()
}

/// What a resync that waits for another says instead of how far it is (`sync_completed_show` in `drivers/md/md.c`).
const DELAYED: &str = "delayed";

/// `1024 / 4096`.
fn share(text: &str) -> Option<[u64; 2]> {
    let (done, all) = text.split_once('/')?;
    Some([done.trim().parse().ok()?, all.trim().parse().ok()?])
}

fn members(source: &Source, directory: &str) -> Vec<MdMember> {
    let md = format!("{directory}/md");
    let names = source.listed(&md).into_iter().filter(|name| name.starts_with("dev-"));
    let mut members: Vec<_> = names.map(|name| member(source, &format!("{md}/{name}"), &name)).collect();
    // Spares and journals, which have no place, come last.
    members.sort_by_key(|member| (member.slot.is_none(), member.slot, member.device.clone()));
    members
}

fn member(source: &Source, directory: &str, name: &str) -> MdMember {
    let state = source.told(&format!("{directory}/state")).unwrap_or_default();
    let block = source.resolved_name(&format!("{directory}/block"));
    MdMember {
        // The kernel writes `!` for `/` in names.
        device: block.unwrap_or_else(|| name.trim_start_matches("dev-").to_owned()),
        slot: source.told(&format!("{directory}/slot")).and_then(|slot| slot.parse().ok()),
        state: state.split(',').filter(|word| !word.is_empty()).map(ToOwned::to_owned).collect(),
        errors: source.needed(&format!("{directory}/errors")),
        // `SECTOR LENGTH` on each line.
        bad_blocks: source
            .told(&format!("{directory}/bad_blocks"))
            .and_then(|text| u32::try_from(text.lines().filter(|line| !line.trim().is_empty()).count()).ok()),
        data_offset: offset(source, &format!("{directory}/offset")),
    }
}

fn offset(source: &Source, path: &str) -> Readout<terms::Bytes> {
    needed(path, source.size(path, 512))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_with_remarks_are_understood() {
        assert_eq!(first_number("200000 (system)"), Some(200_000));
        assert_eq!(share("1024 / 4096"), Some([1024, 4096]));
        assert_eq!(share("delayed"), None);
        assert_eq!(share("soon"), None);
    }
}
