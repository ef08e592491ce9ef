//! How many bytes the drives may move for each byte of the application: from the layers of a stack, lower and upper
//! bounds for reads and writes.
//!
//! Bounds are wide where a layer's behaviour depends on what it was through: they are for telling bytes that nobody
//! asked for and bytes that never arrived, not for predicting.

mod layers;

use terms::design::Ref;
use terms::{Bytes, LayerNode};

/// Bytes on the drives for each byte of the application, all drives together.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Bounds {
    /// Bytes read for a byte read: least and most.
    pub(crate) read: (f64, f64),
    /// Bytes written for a byte written: least and most.
    pub(crate) write: (f64, f64),
    /// Most bytes read for a byte written.
    pub(crate) read_by_write: f64,
    /// Most bytes written for a byte read.
    pub(crate) write_by_read: f64,
}

/// What one layer needs to know of the work.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Work {
    /// Bytes of one operation.
    pub(crate) block: Bytes,
    /// A flush after so many writes.
    pub(crate) fsync_every: Option<u32>,
}

impl Bounds {
    /// One byte for one byte: a drive, a mapping that adds nothing.
    pub(crate) const SAME: Self = Self { read: (1.0, 1.0), write: (1.0, 1.0), read_by_write: 0.0, write_by_read: 0.0 };

    /// This layer on top of what is below it.
    fn above(self, below: Self) -> Self {
        Self {
            read: (self.read.0 * below.read.0, self.read.1 * below.read.1 + self.write_by_read * below.read_by_write),
            write: (
                self.write.0 * below.write.0,
                self.write.1 * below.write.1 + self.read_by_write * below.write_by_read,
            ),
            read_by_write: self.read_by_write * below.read.1 + self.write.1 * below.read_by_write,
            write_by_read: self.write_by_read * below.write.1 + self.read.1 * below.write_by_read,
        }
    }

    /// Either of two: what is below a layer may differ from place to place.
    pub(crate) fn or(self, other: Self) -> Self {
        Self {
            read: (self.read.0.min(other.read.0), self.read.1.max(other.read.1)),
            write: (self.write.0.min(other.write.0), self.write.1.max(other.write.1)),
            read_by_write: self.read_by_write.max(other.read_by_write),
            write_by_read: self.write_by_read.max(other.write_by_read),
        }
    }
}

/// Bytes for a byte that no known layer reaches: an upper bound where the layers are not known.
const ANYTHING: f64 = 1e6;

/// The bounds of a file system that somebody else built: what arrives may be multiplied in any way, so bytes of others
/// cannot be told from its own.
pub(crate) const UNKNOWN: Bounds =
    Bounds { read: (1.0, ANYTHING), write: (1.0, ANYTHING), read_by_write: ANYTHING, write_by_read: ANYTHING };

/// The bounds of a stack, its layers in building order; none means the bare drive.
pub(crate) fn bounds(nodes: &[LayerNode], work: Work) -> Bounds {
    nodes.last().map_or(Bounds::SAME, |top| of(nodes, top, work))
}

fn of(nodes: &[LayerNode], node: &LayerNode, work: Work) -> Bounds {
    let below = node.below().map(|below| match below {
        Ref::Layer(name) => nodes
            .iter()
            // Each rests only on nodes before it, so this ends.
            .take_while(|earlier| earlier.name != node.name)
            .find(|earlier| &earlier.name == name)
            .map_or(Bounds::SAME, |earlier| of(nodes, earlier, work)),
        Ref::Drive(_) => Bounds::SAME,
    });
    let below = below.reduce(Bounds::or).unwrap_or(Bounds::SAME);
    layers::own(&node.layer, node.on.len(), work).above(below)
}

#[cfg(test)]
mod tests {
    use terms::Name;
    use terms::layer::{ArrayState, Integrity, Layer, Luks, Raid, RaidLevel};

    use super::*;

    fn work() -> Work {
        Work { block: Bytes::kib(4), fsync_every: None }
    }

    fn node(name: &str, layer: Layer, on: &[Ref]) -> LayerNode {
        LayerNode { name: Name::new(name).unwrap(), layer, on: on.to_vec(), special: Vec::new() }
    }

    fn drives(count: usize) -> Vec<Ref> {
        (0..count).map(|number| Ref::Drive(Name::new(format!("d{number}")).unwrap())).collect()
    }

    fn raid(level: RaidLevel) -> Layer {
        Layer::Raid(Raid { level, bitmap: terms::layer::Bitmap::None, ..Raid::default() })
    }

    #[test]
    fn every_level_writes_what_it_must() {
        let cases = [
            (RaidLevel::Raid0, 2, (1.0, 1.0), 0.0),
            (RaidLevel::Raid1, 3, (3.0, 3.0), 0.0),
            (RaidLevel::Raid10, 4, (2.0, 2.0), 0.0),
            (RaidLevel::Raid5, 3, (1.5, 2.0), 2.0),
            (RaidLevel::Raid6, 4, (2.0, 3.0), 3.0),
        ];
        for (level, members, write, read_by_write) in cases {
            let bounds = bounds(&[node("a", raid(level), &drives(members))], work());
            assert!((bounds.write.0 - write.0).abs() < 1e-9 && bounds.write.1 >= write.1, "{level:?}: {bounds:?}");
            assert!(bounds.read_by_write >= read_by_write && bounds.read.0 >= 1.0, "{level:?}: {bounds:?}");
        }
    }

    /// One of a thin volume is taken before anything is written to it, and shares nothing.
    #[test]
    fn only_a_snapshot_of_what_was_written_copies() {
        let of = |thin_chunk, snapshot| {
            let lvm = terms::layer::Lvm { thin_chunk, snapshot, ..terms::layer::Lvm::default() };
            bounds(&[node("a", Layer::Lvm(lvm), &drives(1))], work())
        };
        let (thin, both) = (of(Some(Bytes::mib(1)), false), of(Some(Bytes::mib(1)), true));
        assert!((thin.write.1 - both.write.1).abs() < 1e-9, "{thin:?} {both:?}");
        assert!(of(None, true).write.1 >= of(None, false).write.1 + 1.0);
    }

    /// Blocks that end within pages: the kernel reads what it does not overwrite of each.
    #[test]
    fn what_is_left_of_a_page_is_read_before_it_is_written() {
        let ext4 = [node("f", Layer::Ext4(terms::layer::Ext4::default()), &drives(1))];
        let read = |block: u64| bounds(&ext4, Work { block: Bytes(block), ..work() }).read_by_write;
        for (block, least, most) in
            [(4096, 0.0, 0.2), (65536, 0.0, 0.2), (2048, 1.0, 1.2), (4000, 1.024, 1.2), (10_000, 0.4, 0.8)]
        {
            assert!((least..=most).contains(&read(block)), "{block}: {}", read(block));
        }
    }

    #[test]
    fn an_array_without_a_member_writes_less_and_one_in_resync_anything() {
        let state = |level, state| {
            let raid = Raid { level, state, bitmap: terms::layer::Bitmap::None, ..Raid::default() };
            bounds(&[node("a", Layer::Raid(raid), &drives(4))], work())
        };
        let mirror = state(RaidLevel::Raid1, ArrayState::Degraded);
        assert!((mirror.write.0 - 3.0).abs() < 1e-9 && mirror.read == (1.0, 1.0), "{mirror:?}");
        let parity = state(RaidLevel::Raid5, ArrayState::Degraded);
        let whole = state(RaidLevel::Raid5, ArrayState::Whole);
        // What was on the lost member is made of the three others.
        assert!(parity.read.1 >= 3.0 && parity.write.0 < whole.write.0, "{parity:?}");
        let resync = state(RaidLevel::Raid1, ArrayState::Resync);
        assert!(resync.read_by_write > 1e3 && resync.write_by_read > 1e3 && resync.write.0 > 3.9, "{resync:?}");
    }

    #[test]
    fn layers_multiply_along_the_way_and_not_across() {
        assert_eq!(bounds(&[], work()), Bounds::SAME);
        let journal = |name, on: Ref| node(name, Layer::Integrity(Integrity::default()), &[on]);
        let [first, second] = <[Ref; 2]>::try_from(drives(2)).unwrap();
        let on = [Ref::Layer(Name::new("i0").unwrap()), Ref::Layer(Name::new("i1").unwrap())];
        let nodes = [
            journal("i0", first),
            journal("i1", second),
            node("m", raid(RaidLevel::Raid1), &on),
            node("l", Layer::Luks(Luks::default()), &[Ref::Layer(Name::new("m").unwrap())]),
        ];
        let found = bounds(&nodes, work());
        let alone = bounds(&nodes[..1], work());
        assert!((found.write.0 - 2.0 * alone.write.0).abs() < 1e-9, "{found:?} {alone:?}");
        assert!((found.write.1 - 2.0 * alone.write.1).abs() < 1e-6, "{found:?} {alone:?}");
    }
}
