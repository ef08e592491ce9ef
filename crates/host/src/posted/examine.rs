//! `mdadm --examine`: what a member's own superblock says.

use serde_json::json;

use super::{Machine, Text};

/// `/dev/sda1:` alone on its line, of what is no array.
pub(super) fn begins(line: &str) -> bool {
    device(line).is_some()
}

fn device(line: &str) -> Option<&str> {
    let name = line.trim_end().strip_prefix("/dev/")?.strip_suffix(':')?;
    let plain = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric());
    (plain && !name.starts_with("md")).then_some(name)
}

/// Magic number of superblocks of md (`MD_SB_MAGIC` in the kernel's `include/uapi/linux/raid/md_p.h`).
const MAGIC: &str = "a92b4efc";

/// The array's name in the kernel is not among what it tells, and what it tells of other members is what they were when it
/// was written last. So it says what is on its own device, and no more.
pub(super) fn read(text: &Text, machine: &mut Machine) -> usize {
    let Some(name) = text.lines.first().and_then(|line| device(line)) else { return 0 };
    let value = |key: &str| {
        let mut pairs = text.lines.iter().filter_map(|line| line.split_once(" : "));
        pairs.find(|(name, _)| name.trim() == key).map(|(_, value)| value.trim())
    };
    let uuid = value("Array UUID").or_else(|| value("UUID")).and_then(|uuid| uuid.split_whitespace().next());
    let (Some(uuid), Some(version), Some(MAGIC)) = (uuid.and_then(hyphened), value("Version"), value("Magic")) else {
        machine.refused.push(format!("`{name}`: it is no superblock of md, or is cut"));
        return 0;
    };
    // Sectors for version 1; the older one is at the end, and does not say where.
    let offset = value("Super Offset").and_then(|text| text.strip_suffix(" sectors")?.parse::<u64>().ok());
    let Some(offset) = offset.filter(|_| version.starts_with('1')) else {
        machine.refused.push(format!("`{name}`: it does not tell where its superblock is"));
        return 0;
    };
    machine.block(name);
    let said = json!({"signatures": [{
        "device": name, "offset": format!("{:#x}", offset.saturating_mul(512)), "type": "linux_raid_member", "uuid": uuid,
    }]});
    machine.run(format!("wipefs --no-act --json /dev/{name}"), said.to_string());
    1
}

/// `0f1e2d3c:4b5a6978:8796a5b4:c3d2e1f0` as the UUID that other programs print.
fn hyphened(uuid: &str) -> Option<String> {
    let digits: String = uuid.split(':').collect();
    let whole = digits.len() == 32 && digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    whole.then(|| {
        let part = |from: usize, to: usize| digits.get(from..to).unwrap_or_default();
        format!("{}-{}-{}-{}-{}", part(0, 8), part(8, 12), part(12, 16), part(16, 20), part(20, 32))
    })
}
