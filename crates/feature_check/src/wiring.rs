//! How device-mapper's mappings lie on what is under them: one step down at a time, by their tables.

use terms::Cmd;

use crate::error::FeatureCheckError;
use crate::scene::Scene;

/// Bytes of a sector of the kernel.
const SECTOR: u64 = 512;
/// Sectors of dm-integrity's superblock (kernel, drivers/md/dm-integrity.c, `SB_SECTORS`).
const SUPERBLOCK: u64 = 8;

/// A line of a mapping's table.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Target {
    /// First sector of the mapping.
    start: u64,
    sectors: u64,
    kind: String,
    arguments: Vec<String>,
}

impl Target {
    fn parse(line: &str) -> Option<Self> {
        let mut words = line.split_whitespace();
        let (start, sectors) = (words.next()?.parse().ok()?, words.next()?.parse().ok()?);
        let kind = words.next()?.to_owned();
        Some(Self { start, sectors, kind, arguments: words.map(str::to_owned).collect() })
    }

    /// The device under it (major and minor number) and the byte that one of this target's bytes lies at; `None` for
    /// targets that deal bytes out to several devices.
    fn below(&self, byte: u64) -> Option<(String, u64)> {
        let argument = |at: usize| self.arguments.get(at);
        let number = |at: usize| argument(at)?.parse::<u64>().ok();
        let own = byte - self.start * SECTOR;
        match self.kind.as_str() {
            "linear" => Some((argument(0)?.clone(), number(1)? * SECTOR + own)),
            // cipher, key, offset of the initialisation vector, device, offset
            "crypt" => Some((argument(3)?.clone(), number(4)? * SECTOR + own)),
            "integrity" => Some((argument(0)?.clone(), self.integrity(own)?)),
            _ => None,
        }
    }

    /// Where dm-integrity puts a byte: after superblock and journal come runs of tags, each before the data that they
    /// are for (kernel, drivers/md/dm-integrity.c, `get_data_sector` and `calculate_device_limits`).
    fn integrity(&self, byte: u64) -> Option<u64> {
        let option = |name: &str| {
            let value = self.arguments.iter().find_map(|word| word.strip_prefix(name)?.strip_prefix(':'));
            value.and_then(|value| value.parse::<u64>().ok())
        };
        let number = |at: usize| self.arguments.get(at)?.parse::<u64>().ok();
        let (start, tag) = (number(1)?, number(2)?);
        let interleave = option("interleave_sectors")?;
        let block = option("block_size").unwrap_or(SECTOR);
        let tags = tag * (interleave * SECTOR / block);
        let padding = if self.arguments.iter().any(|word| word == "fix_padding") { 8 * SECTOR } else { SECTOR << 8 };
        let run = tags.next_multiple_of(padding) / SECTOR;
        let (area, within) = (byte / SECTOR / interleave, byte / SECTOR % interleave);
        let initial = SUPERBLOCK + option("journal_sectors")?;
        let sector = start + initial + area * interleave + (area + 1) * run + within;
        Some(sector * SECTOR + byte % SECTOR)
    }
}

/// Names of all dm-integrity mappings of the machine; of those under LUKS, too.
pub(crate) fn integrity_mappings(scene: &Scene<'_>) -> Result<Vec<String>, FeatureCheckError> {
    if !scene.nodes().iter().any(|node| node.layer.traits().checksums.are_tags()) {
        return Ok(Vec::new());
    }
    let table = scene.subject.host.run_ok(&Cmd::new(["dmsetup", "table", "--target", "integrity"]))?.text();
    Ok(table.lines().filter_map(|line| Some(line.split_once(": ")?.0.to_owned())).collect())
}

/// One step down from a byte of a device: the device under it and the byte there; `None` where there is no table to
/// follow, such as for an array. With `tell` it is written down.
pub(crate) fn below(
    scene: &Scene<'_>,
    node: &str,
    byte: u64,
    tell: bool,
) -> Result<Option<(String, u64)>, FeatureCheckError> {
    let host = scene.subject.host;
    let name = kernel_name(scene, node)?;
    let directory = format!("/sys/class/block/{name}");
    if host.exists(&format!("{directory}/partition"))? {
        let start = host.read_text(&format!("{directory}/start"))?;
        let strange = |_| FeatureCheckError::Strange(format!("`{node}` begins at `{start}`, which is no sector"));
        let start: u64 = start.parse().map_err(strange)?;
        let whole = host.resolve(&format!("{directory}/.."))?;
        let whole = whole.rsplit('/').next().unwrap_or_default();
        return Ok(Some((format!("/dev/{whole}"), start * SECTOR + byte)));
    }
    if !host.exists(&format!("{directory}/dm"))? {
        return Ok(None);
    }
    let cmd = Cmd::new(["dmsetup", "table", node]);
    let table = match tell {
        true => scene.run_ok("How the mapping lies on what is under it.", &cmd)?.text(),
        false => host.run_ok(&cmd)?.text(),
    };
    let holds = |target: &Target| (target.start..target.start + target.sectors).contains(&(byte / SECTOR));
    let Some((number, byte)) =
        table.lines().filter_map(Target::parse).find(holds).and_then(|target| target.below(byte))
    else {
        return Ok(None);
    };
    let device = host.resolve(&format!("/sys/dev/block/{number}"))?;
    Ok(Some((format!("/dev/{}", device.rsplit('/').next().unwrap_or_default()), byte)))
}

/// What the kernel calls a device: the last part of its path in sysfs.
pub(crate) fn kernel_name(scene: &Scene<'_>, node: &str) -> Result<String, FeatureCheckError> {
    let host = scene.subject.host;
    let device = host.resolve(&host.block_device(node)?.sysfs())?;
    Ok(device.rsplit('/').next().unwrap_or_default().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn below(line: &str, byte: u64) -> Option<(String, u64)> {
        Target::parse(line).unwrap().below(byte)
    }

    #[test]
    fn mappings_are_followed_down() {
        let crypt = "0 1540096 crypt aes-xts-plain64 :64:logon:cryptsetup:x 0 259:0 32768 1 same_cpu_crypt";
        assert_eq!(below(crypt, 4096), Some(("259:0".to_owned(), 16 * 1024 * 1024 + 4096)));
        assert_eq!(below("8 80 linear 253:1 2048", 4096 + 512), Some(("253:1".to_owned(), 2048 * 512 + 512)));
        assert_eq!(below("0 80 striped 2 128 259:0 0 259:1 0", 0), None);
    }

    #[test]
    fn tags_lie_before_the_data_that_they_are_for() {
        // 4 bytes for each of 4096 blocks of 4 KiB: 32 sectors of tags before every 32768 sectors of data.
        let line = "0 9999999 integrity 259:0 0 4 J 7 interleave_sectors:32768 buffer_sectors:128 journal_sectors:24 \
                    block_size:4096 fix_padding internal_hash:crc32c";
        let initial = 8 + 24;
        assert_eq!(below(line, 0), Some(("259:0".to_owned(), (initial + 32) * 512)));
        assert_eq!(below(line, 512 * 32768 + 7), Some(("259:0".to_owned(), (initial + 64 + 32768) * 512 + 7)));
        // Without `fix_padding` runs of tags are padded to 128 KiB.
        let old = line.replace(" fix_padding", "");
        assert_eq!(below(&old, 0), Some(("259:0".to_owned(), (initial + 256) * 512)));
    }
}
