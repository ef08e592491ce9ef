//! The machine when all texts are read: what only several of them tell together, and then all of it as a capture.

use super::machine::{Machine, push};
use super::{blkid, btrfs, daemons, examine, leaves, lspci, luks, mdadm, smartd, wipefs, xfs, zdb, zfs_get, zpool};
use crate::capture::Capture;

impl Machine {
    /// What was read, and what was refused.
    pub(super) fn capture(mut self) -> (Capture, Vec<String>) {
        self.reading = "smartctl";
        self.place_nameless();
        self.reading = "smartd";
        smartd::put_all(&mut self);
        self.reading = "";
        daemons::put_all(&mut self);
        zdb::put_all(&mut self);
        zpool::put_all(&mut self);
        zfs_get::put_all(&mut self);
        self.reading = "mdadm --detail";
        mdadm::put_linked(&mut self);
        self.reading = "mdadm --examine";
        examine::put_all(&mut self);
        self.reading = "";
        self.reading = "dmsetup status";
        std::mem::take(&mut self.dmsetup).put(&mut self);
        self.reading = "btrfs";
        btrfs::put_all(std::mem::take(&mut self.btrfs), &mut self);
        self.reading = "";
        std::mem::take(&mut self.lvm).put(&mut self);
        luks::put_all(&mut self);
        xfs::put_all(&mut self);
        blkid::put_all(&mut self);
        wipefs::put_all(&mut self);
        self.reading = "lspci -vv";
        lspci::put_all(&std::mem::take(&mut self.devices), &mut self);
        leaves::put_all(&mut self);
        self.put_blocks();
        self.cite_programs();
        // A text may be a part: what else is in these is not known, and each list has a name that says so.
        let lists =
            [("/sys/bus/pci/devices", "others"), ("/sys/class/block", "loop-others"), ("/sys/block", "loop-others")];
        for (list, more) in lists {
            self.directories.get_mut(list).into_iter().for_each(|names| push(names, more));
        }
        (Capture::from_texts(self.files, self.links, self.directories, self.runs, self.told_by), self.refused)
    }
}
