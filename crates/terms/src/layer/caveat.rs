//! What somebody has to know of a layer before data are kept on it for good.

use super::{Copies, Integrity, IntegrityMode, Layer, Lvm, RaidLevel};
use crate::design::Stack;

/// Something that a layer does not do, or that has to be seen to by hand.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Caveat {
    /// Kernel documentation, dm-integrity: "bitmap … less reliable than the journal", as checksums of dirty regions are made anew.
    BitmapMayMiss,
    /// integritytab(5): `mode=bitmap` since systemd 254; Debian 12 has 252.
    BitmapAtBoot,
    /// Kernel documentation, dm-integrity, mode `D`: data and tags may not match after a crash.
    TornByPowerCut,
    /// md(4), "Write hole"; lvmraid(7) builds on the same code.
    WriteHole,
    /// drivers/md/raid1-10.c, `exceed_read_errors`: 20 in an hour, above tags of dm-integrity.
    EvictsMembers,
    /// cryptsetup(8), "Authenticated disk encryption (experimental)".
    Experimental,
}

impl Caveat {
    /// A stable code for it.
    #[must_use]
    pub const fn code(self) -> &'static str {
        match self {
            Self::BitmapMayMiss => "bitmap-may-miss",
            Self::BitmapAtBoot => "bitmap-at-boot",
            Self::TornByPowerCut => "torn-by-power-cut",
            Self::WriteHole => "write-hole",
            Self::EvictsMembers => "evicts-members",
            Self::Experimental => "experimental",
        }
    }

    /// It in a sentence without a full stop.
    #[must_use]
    pub const fn words(self) -> &'static str {
        match self {
            Self::BitmapMayMiss => {
                "a bitmap of dm-integrity may miss damage after a crash: checksums there are made anew"
            }
            Self::BitmapAtBoot => {
                "`/etc/integritytab` opens such a bitmap from systemd 254 on; Debian 12 has 252 and needs a unit"
            }
            Self::TornByPowerCut => "without a journal, a power cut leaves blocks of dm-integrity that cannot be read",
            Self::WriteHole => "write hole: a crash and then a lost drive may take data that nobody was writing",
            Self::EvictsMembers => "set `max_read_errors` of the array at every boot, or md drops a damaged member",
            Self::Experimental => "cryptsetup calls authenticated encryption experimental",
        }
    }
}

impl Layer {
    /// What has to be known of it.
    #[must_use]
    pub fn caveats(&self) -> Vec<Caveat> {
        match self {
            Self::Integrity(Integrity { mode: IntegrityMode::Bitmap, .. }) => {
                vec![Caveat::BitmapMayMiss, Caveat::BitmapAtBoot]
            }
            Self::Integrity(Integrity { mode: IntegrityMode::NoJournal, .. }) => vec![Caveat::TornByPowerCut],
            Self::Luks(luks) if luks.integrity.is_some() => vec![Caveat::Experimental],
            // It keeps neither a journal nor partial parity.
            Self::Raid(_) if self.traits().copies == Copies::Parity => vec![Caveat::WriteHole],
            Self::Lvm(lvm) => of_lvm(lvm, self.traits().copies),
            _ => Vec::new(),
        }
    }
}

/// LVM opens the integrity of its own volumes at boot by itself.
fn of_lvm(lvm: &Lvm, copies: Copies) -> Vec<Caveat> {
    let mode = lvm.integrity.as_ref().map(|integrity| integrity.mode);
    let bitmap = mode.filter(|mode| *mode == IntegrityMode::Bitmap).map(|_| Caveat::BitmapMayMiss);
    bitmap.into_iter().chain((copies == Copies::Parity).then_some(Caveat::WriteHole)).collect()
}

impl Stack {
    /// What has to be known of its layers, and of how they stand on one another; each once.
    #[must_use]
    pub fn caveats(&self) -> Vec<Caveat> {
        let mut found: Vec<Caveat> = self.nodes.iter().flat_map(|node| node.layer.caveats()).collect();
        let is_tagged = self.nodes.iter().any(|node| node.layer.traits().checksums.are_tags());
        let counts = |layer: &Layer| matches!(layer, Layer::Raid(raid) if matches!(raid.level, RaidLevel::Raid1 | RaidLevel::Raid10));
        if is_tagged && self.nodes.iter().any(|node| counts(&node.layer)) {
            found.push(Caveat::EvictsMembers);
        }
        found.sort_unstable();
        found.dedup();
        found
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Ext4, Luks, LuksIntegrity, LvmIntegrity, Raid, Volume, Xfs, Zfs, ZfsLayout};
    use super::*;
    use crate::design::LayerNode;
    use crate::name::Name;

    fn of(layers: Vec<Layer>) -> Vec<Caveat> {
        let node = |(at, layer)| LayerNode {
            name: Name::new(format!("n{at}")).unwrap(),
            layer,
            on: Vec::new(),
            special: Vec::new(),
        };
        Stack { name: "s".to_owned(), note: None, nodes: layers.into_iter().enumerate().map(node).collect() }.caveats()
    }

    #[test]
    fn what_a_layer_does_not_do_is_told_once() {
        let integrity = |mode| Layer::Integrity(Integrity { mode, ..Integrity::default() });
        let raid = |level| Layer::Raid(Raid { level, ..Raid::default() });
        let (bitmap, parity) = (integrity(IntegrityMode::Bitmap), raid(RaidLevel::Raid5));
        let both = [Caveat::BitmapMayMiss, Caveat::BitmapAtBoot];
        assert_eq!(of(vec![bitmap.clone(), bitmap.clone(), parity]), [&both[..], &[Caveat::WriteHole]].concat());
        assert_eq!(of(vec![bitmap, raid(RaidLevel::Raid1)]), [&both[..], &[Caveat::EvictsMembers]].concat());
        assert_eq!(of(vec![integrity(IntegrityMode::NoJournal)]), [Caveat::TornByPowerCut]);
        let journal = integrity(IntegrityMode::Journal);
        assert_eq!(of(vec![journal, Layer::Ext4(Ext4::default())]), []);
        let sealed = Luks { integrity: Some(LuksIntegrity::HmacSha256), ..Luks::default() };
        assert_eq!(of(vec![Layer::Luks(sealed), raid(RaidLevel::Raid6)]), [Caveat::WriteHole, Caveat::Experimental]);
        let own = LvmIntegrity { mode: IntegrityMode::Bitmap, ..LvmIntegrity::default() };
        let lvm = Lvm { volume: Volume::Raid5, integrity: Some(own), ..Lvm::default() };
        assert_eq!(of(vec![Layer::Lvm(lvm)]), [Caveat::BitmapMayMiss, Caveat::WriteHole]);
        let pool = Layer::Zfs(Zfs { layout: ZfsLayout::Raidz1, ..Zfs::default() });
        assert_eq!(of(vec![pool]), [], "raidz writes no stripe twice");
        assert_eq!(of(vec![raid(RaidLevel::Raid10), Layer::Xfs(Xfs::default())]), []);
    }
}
