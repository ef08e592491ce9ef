//! Data that are known: blocks that say what they are, written through the stack, read back and compared.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use terms::plan::WorkPlace;
use terms::{Cmd, Nanos};

use crate::error::FeatureCheckError;
use crate::scene::Scene;

/// Bytes of a block: the page of the machine, and the smallest that every file system here keeps in one piece.
pub(crate) const BLOCK: u64 = 4096;
/// Blocks of a piece of data: 8 MiB, so that every drive of a striped layer holds some of each.
pub(crate) const BLOCKS: u64 = 2048;
/// Blocks of different drives never lie at the same place of a stripe: so many blocks, 64 KiB, divide every usual chunk.
pub(crate) const ROW: u64 = 16;
/// Where pieces begin on a stack that ends in a device: far apart, so that they share no stripe.
const APART: u64 = 16 << 20;
/// Where the guest keeps what it compares with: its own memory.
const KEPT: &str = "/run/bedplate-trial";
/// How every block begins.
const MARK: &str = "BEDPLATE-TRIAL";
/// Digits of a block's number, after its mark.
pub(crate) const DIGITS: usize = 6;

/// A piece of data: a file, or a range of a device.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Data {
    /// Its number within the feature check.
    number: u64,
    /// What tells it from all other data.
    nonce: u64,
    /// The file or device.
    pub(crate) path: String,
    /// The block of the path at which it begins.
    begin: u64,
    bytes: Vec<u8>,
    /// Its copy in the guest's memory.
    kept: String,
}

/// What a read of one block gave.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Read {
    /// What was written.
    Right,
    /// Other bytes, as if they were right.
    Wrong,
    /// An error.
    Refused,
}

impl Data {
    /// Makes a piece of data; the same seed and label give the same bytes.
    pub(crate) fn new(scene: &Scene<'_>, label: &str, number: u64) -> Self {
        let mut random = generator(scene.subject.seed, label, number);
        let nonce = random.next_u64();
        let bytes = make(&mut random, nonce, number);
        let (path, begin) = match scene.target() {
            WorkPlace::Directory(directory) => (format!("{directory}/trial-{label}-{number}"), 0),
            WorkPlace::Device(node) => (node.clone(), (number + 1) * APART / BLOCK),
        };
        Self { number, nonce, path, begin, bytes, kept: format!("{KEPT}/{label}-{number}") }
    }

    /// How every block of it begins; the number of the block follows.
    pub(crate) fn mark(&self) -> Vec<u8> {
        format!("{MARK}-{:016x}-{:02}-", self.nonce, self.number).into_bytes()
    }

    /// The bytes of a block.
    pub(crate) fn block(&self, block: u64) -> &[u8] {
        let start = usize::try_from(block * BLOCK).unwrap_or(usize::MAX).min(self.bytes.len());
        &self.bytes[start..(start + BLOCK as usize).min(self.bytes.len())]
    }

    /// Writes it through the stack and on to the drives.
    pub(crate) fn write(&self, scene: &Scene<'_>) -> Result<(), FeatureCheckError> {
        let host = scene.subject.host;
        host.run_ok(&Cmd::new(["mkdir", "-p", KEPT]))?;
        host.write(&self.kept, &self.bytes)?;
        self.copy(scene, "Known data, every block of which begins with a mark, are written through the stack.")?;
        settle(scene)
    }

    /// Copies what is kept in memory through the stack. Of what ZFS is asked to flush it writes a second copy, into its
    /// intent log, which nothing ever reads again; there syncing the pool brings the data to the drives.
    fn copy(&self, scene: &Scene<'_>, why: &str) -> Result<(), FeatureCheckError> {
        let conv = if scene.pool().is_some() { "conv=notrunc" } else { "conv=notrunc,fsync" };
        let cmd = Cmd::new([
            "dd".to_owned(),
            format!("if={}", self.kept),
            format!("of={}", self.path),
            format!("bs={BLOCK}"),
            format!("seek={}", self.begin),
            conv.to_owned(),
            "status=none".to_owned(),
        ]);
        scene.run_ok(why, &cmd).map(drop)
    }

    /// Reads all of it and compares.
    pub(crate) fn compare(&self, scene: &Scene<'_>, why: &str) -> Result<Read, FeatureCheckError> {
        let read = self.compare_with(scene, why, &self.path, self.begin)?;
        scene.seen(match read {
            Read::Right => format!("all {} bytes are what was written", self.bytes.len()),
            Read::Wrong => "other bytes than were written".to_owned(),
            Read::Refused => "an error, no data".to_owned(),
        });
        Ok(read)
    }

    /// Compares what stands at another path.
    pub(crate) fn compare_with(
        &self,
        scene: &Scene<'_>,
        why: &str,
        path: &str,
        begin: u64,
    ) -> Result<Read, FeatureCheckError> {
        let cmd = Cmd::new([
            "cmp".to_owned(),
            format!("--ignore-initial={}:0", begin * BLOCK),
            format!("--bytes={}", self.bytes.len()),
            path.to_owned(),
            self.kept.clone(),
        ]);
        let outcome = scene.run(why, &cmd.limit(Nanos::seconds(120)))?;
        Ok(match outcome.status {
            0 if !outcome.timed_out => Read::Right,
            // A file that ends early is another content; cmp says so with the same status.
            1 => Read::Wrong,
            _ => Read::Refused,
        })
    }

    /// Reads one block and compares.
    pub(crate) fn read_block(&self, scene: &Scene<'_>, why: &str, block: u64) -> Result<Read, FeatureCheckError> {
        let cmd = Cmd::new([
            "dd".to_owned(),
            format!("if={}", self.path),
            format!("bs={BLOCK}"),
            format!("skip={}", self.begin + block),
            "count=1".to_owned(),
            "status=none".to_owned(),
        ]);
        let outcome = scene.run(why, &cmd)?;
        let read = match () {
            () if !outcome.ok() => Read::Refused,
            () if outcome.stdout == self.block(block) => Read::Right,
            () => Read::Wrong,
        };
        if read != Read::Refused {
            scene.hide_output(outcome.stdout.len());
        }
        scene.seen(match read {
            Read::Right => format!("block {block}: right"),
            Read::Wrong => format!("block {block}: wrong bytes, and no error"),
            Read::Refused => format!("block {block}: an error"),
        });
        Ok(read)
    }

    /// Where it begins in its path, in blocks.
    pub(crate) const fn begin(&self) -> u64 {
        self.begin
    }
}

/// Writes out everything that is on its way, and forgets what was read: what is read next comes from the drives.
pub(crate) fn settle(scene: &Scene<'_>) -> Result<(), FeatureCheckError> {
    if let Some(pool) = scene.pool() {
        scene.run_ok("What ZFS holds back is written.", &Cmd::new(["zpool", "sync", &pool]))?;
    }
    scene.run_ok("What is on its way is written to the drives.", &Cmd::new(["sync"]))?;
    flush_journals(scene)?;
    forget(scene)
}

/// dm-integrity reads what its journal still holds from there: putting a mapping to sleep and waking it writes the
/// journal to its place (kernel, drivers/md/dm-integrity.c, `dm_integrity_postsuspend`).
fn flush_journals(scene: &Scene<'_>) -> Result<(), FeatureCheckError> {
    for name in crate::wiring::integrity_mappings(scene)? {
        let why = "The journal of dm-integrity is written to its place.";
        scene.run_ok(why, &Cmd::new(["dmsetup", "suspend", &name]))?;
        scene.run_ok("The mapping goes on.", &Cmd::new(["dmsetup", "resume", &name]))?;
    }
    Ok(())
}

/// Forgets what the guest's memory holds of files and devices.
pub(crate) fn forget(scene: &Scene<'_>) -> Result<(), FeatureCheckError> {
    scene.echo("What the machine's memory holds of files and devices is dropped.", "3", "/proc/sys/vm/drop_caches")
}

/// What a layer does with its own caches so that a read is a read from drives.
pub(crate) fn bypass_caches(scene: &Scene<'_>) -> Result<(), FeatureCheckError> {
    let Some(pool) = scene.pool() else { return Ok(()) };
    let why = "ZFS keeps no data in memory, so that a read is a read from the drives.";
    scene.run_ok(why, &Cmd::new(["zfs", "set", "primarycache=metadata", &pool]))?;
    let why = "With too few drives ZFS gives errors instead of waiting for them for ever.";
    scene.run_ok(why, &Cmd::new(["zpool", "set", "failmode=continue", &pool]))?;
    Ok(())
}

fn generator(seed: u64, label: &str, number: u64) -> ChaCha8Rng {
    let mut key = [0; 32];
    key[..8].copy_from_slice(&seed.to_le_bytes());
    key[8..16].copy_from_slice(&number.to_le_bytes());
    for (to, from) in key[16..].iter_mut().zip(label.bytes()) {
        *to = from;
    }
    ChaCha8Rng::from_seed(key)
}

/// Blocks that begin with their mark and cannot be compressed.
fn make(random: &mut ChaCha8Rng, nonce: u64, number: u64) -> Vec<u8> {
    let mut bytes = Vec::with_capacity((BLOCKS * BLOCK) as usize);
    for block in 0..BLOCKS {
        let mark = format!("{MARK}-{nonce:016x}-{number:02}-{block:0DIGITS$}");
        let mut content = vec![0; BLOCK as usize];
        random.fill_bytes(&mut content);
        content[..mark.len()].copy_from_slice(mark.as_bytes());
        bytes.extend(content);
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn data_are_the_same_again_and_differ_by_label_and_number() {
        let of = |label: &str, number| make(&mut generator(1, label, number), 7, number);
        assert_eq!(of("x", 0), of("x", 0));
        assert_ne!(of("x", 0), of("y", 0));
        assert_ne!(of("x", 0)[64..], of("x", 1)[64..]);
        assert!(of("x", 3)[BLOCK as usize..].starts_with(b"BEDPLATE-TRIAL-0000000000000007-03-000001"));
    }
}
