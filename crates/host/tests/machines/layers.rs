//! What stands on drives: arrays, mappings, volumes, file systems.

use super::{Limits, Machine, uuid};

const VIRTUAL: &str = "/sys/devices/virtual/block";

impl Machine {
    /// An md array, in sync.
    pub fn array(&mut self, name: &str, level: &str, chunk: u32, members: &[&str], size: u64, limits: Limits) {
        let directory = self.block(VIRTUAL, name, 9, size, Limits { scheduler: "", queues: 0, ..limits });
        self.stands_on(name, members);
        let id = uuid(self.minor(1001) + 900);
        for (file, value) in [
            ("level", level.to_owned()),
            ("uuid", id.clone()),
            ("metadata_version", "1.2".to_owned()),
            ("chunk_size", chunk.to_string()),
            ("layout", "0".to_owned()),
            ("raid_disks", members.len().to_string()),
            ("array_state", "clean".to_owned()),
        ] {
            self.file(format!("{directory}/md/{file}"), value);
        }
        // Levels without redundancy have none of these.
        if level != "raid0" {
            for (file, value) in [
                ("degraded", "0"),
                ("sync_action", "idle"),
                ("sync_completed", "none"),
                ("mismatch_cnt", "0"),
                ("bitmap/location", "+8"),
                ("consistency_policy", "bitmap"),
                ("max_read_errors", "20"),
                ("sync_speed_max", "200000 (system)"),
            ] {
                self.file(format!("{directory}/md/{file}"), value);
            }
        }
        if ["raid4", "raid5", "raid6"].contains(&level) {
            self.file(format!("{directory}/md/stripe_cache_size"), 256);
            self.file(format!("{directory}/md/group_thread_cnt"), 0);
        }
        for (slot, member) in members.iter().enumerate() {
            let below = format!("{directory}/md/dev-{member}");
            self.file(format!("{below}/slot"), slot);
            self.file(format!("{below}/state"), "in_sync");
            self.file(format!("{below}/errors"), 0);
            self.file(format!("{below}/offset"), 264_192);
            let target = self.links[&format!("/sys/class/block/{member}")].clone();
            self.link(format!("{below}/block"), target);
            self.signature(member, "0x1000", "linux_raid_member", &id, "host:0");
        }
        self.file("/proc/mdstat", format!("Personalities : [{level}]"));
    }

    /// Changes a file of an array.
    pub fn array_says(&mut self, name: &str, file: &str, value: &str) {
        self.file(format!("{VIRTUAL}/{name}/md/{file}"), value);
    }

    /// A mapping with one target; `table` is its kind and parameters, with `{}` for the number of the first device.
    pub fn mapping(
        &mut self,
        (label, id): (&str, &str),
        size: u64,
        on: &[&str],
        table: &str,
        status: &str,
        limits: Limits,
    ) -> String {
        let name = format!("dm-{}", self.minors.get(&253).copied().unwrap_or(0));
        let directory = self.block(VIRTUAL, &name, 253, size, Limits { scheduler: "", queues: 0, ..limits });
        self.stands_on(&name, on);
        self.file(format!("{directory}/dm/name"), label);
        self.file(format!("{directory}/dm/uuid"), id);
        self.file(format!("{directory}/dm/suspended"), 0);
        let mut table = table.to_owned();
        for device in on {
            table = table.replacen("{}", &self.number(device), 1);
        }
        let kind = table.split(' ').next().unwrap().to_owned();
        self.tables.push(format!("{label}: 0 {} {table}", size / 512));
        self.statuses.push(format!("{label}: 0 {} {kind} {status}", size / 512));
        name
    }

    /// A LUKS2 volume that is open.
    pub fn luks(&mut self, label: &str, on: &str, size: u64, sector: u32, flags: &str, limits: Limits) -> String {
        let id = uuid(self.minor(1002) + 500);
        let count = flags.split_whitespace().count() + usize::from(sector > 512);
        let sector_flag = if sector > 512 { format!(" sector_size:{sector}") } else { String::new() };
        let optional = if count > 0 {
            format!(" {count}{sector_flag}{}{flags}", if flags.is_empty() { "" } else { " " })
        } else {
            String::new()
        };
        let table = format!("crypt aes-xts-plain64 :64:logon:cryptsetup:{id}-d0 0 {{}} 32768{optional}");
        self.signature(on, "0x0", "crypto_LUKS", &id, "");
        self.says(format!("cryptsetup luksDump /dev/{on}"), format!(
            "LUKS header information\nVersion:       \t2\nUUID:          \t{id}\nFlags:       \t(no flags)\n\nData segments:\n  0: crypt\n\t\
             offset: 16777216 [bytes]\n\tlength: (whole device)\n\tcipher: aes-xts-plain64\n\tsector: {sector} [bytes]\n\nKeyslots:\n  0: luks2\n\t\
             PBKDF:      argon2id\n"
        ));
        let dm_id = format!("CRYPT-LUKS2-{}-{label}", id.replace('-', ""));
        self.mapping((label, &dm_id), size - 16_777_216, &[on], &table, "", limits)
    }

    /// ext4 on a device.
    pub fn ext4(&mut self, name: &str, label: &str, stride: u32, width: u32) {
        let id = uuid(self.minor(1003) + 100);
        self.signature(name, "0x438", "ext4", &id, label);
        let raid = if stride > 0 {
            format!("RAID stride:              {stride}\nRAID stripe width:        {width}\n")
        } else {
            String::new()
        };
        self.says(format!("dumpe2fs -h /dev/{name}"), format!(
            "Filesystem UUID:          {id}\nFilesystem features:      has_journal extent 64bit metadata_csum\nBlock size:               4096\n{raid}"
        ));
    }

    /// A volume group on one device with linear volumes: names and sizes.
    pub fn volumes(&mut self, group: &str, on: &str, volumes: &[(&str, u64)], size: u64) -> Vec<String> {
        let id = "oQ3Xkf-1Zbc-d2Ef-gH3i-J4kL-m5No-pQ6rSt";
        self.signature(on, "0x218", "LVM2_member", id, "");
        let path = self.path_of(on);
        let mut names = Vec::new();
        let mut rows = Vec::new();
        for (number, (volume, bytes)) in volumes.iter().enumerate() {
            let dm_id = format!("LVM-{}{:032}", id.replace('-', ""), number + 1);
            let label = format!("{}-{}", group.replace('-', "--"), volume.replace('-', "--"));
            let start = 2048 + number * 8_388_608;
            let name =
                self.mapping((&label, &dm_id), *bytes, &[on], &format!("linear {{}} {start}"), "", Limits::default());
            let minor = self.number(&name).split(':').next_back().unwrap().to_owned();
            rows.push(format!(
                "{{\"vg_name\":\"{group}\",\"lv_name\":\"{volume}\",\"lv_size\":\"{bytes}\",\"lv_attr\":\"-wi-ao----\",\"lv_kernel_major\":\"253\",\
                 \"lv_kernel_minor\":\"{minor}\",\"data_percent\":\"\",\"metadata_percent\":\"\",\"copy_percent\":\"\",\"pool_lv\":\"\",\
                 \"segtype\":\"linear\",\"stripes\":\"1\",\"stripe_size\":\"0\",\"devices\":\"{path}(0)\"}}"
            ));
            names.push(name);
        }
        let used: u64 = volumes.iter().map(|(_, bytes)| bytes).sum();
        self.lvm(&[
            format!("{{\"vg_name\":\"{group}\",\"vg_uuid\":\"{id}\",\"vg_size\":\"{size}\",\"vg_free\":\"{}\",\"vg_extent_size\":\"4194304\",\
                     \"vg_mda_size\":\"1044480\",\"vg_mda_free\":\"520192\",\"vg_missing_pv_count\":\"0\"}}", size - used),
        ], &[
            format!("{{\"vg_name\":\"{group}\",\"pv_name\":\"{path}\",\"pv_uuid\":\"{id}\",\"pe_start\":\"1048576\",\"pv_size\":\"{size}\",\"pv_free\":\"{}\"}}", size - used),
        ], &rows);
        names
    }

    /// What the three programs of LVM say.
    pub fn lvm(&mut self, groups: &[String], physical: &[String], logical: &[String]) {
        let form = "--reportformat json --units b --nosuffix -o";
        let report = |kind: &str, rows: &[String]| format!("{{\"report\":[{{\"{kind}\":[\n{}]}}]}}", rows.join(",\n"));
        self.says(
            format!("lvm vgs {form} vg_name,vg_uuid,vg_size,vg_free,vg_extent_size,vg_mda_size,vg_mda_free,vg_missing_pv_count"),
            report("vg", groups),
        );
        self.says(format!("lvm pvs {form} vg_name,pv_name,pv_uuid,pe_start,pv_size,pv_free"), report("pv", physical));
        self.says(
            format!("lvm lvs -a --segments {form} vg_name,lv_name,lv_size,lv_attr,lv_kernel_major,lv_kernel_minor,data_percent,metadata_percent,copy_percent,pool_lv,segtype,stripes,stripe_size,devices"),
            report("seg", logical),
        );
    }

    fn path_of(&self, name: &str) -> String {
        let label = self.files.get(&format!("{VIRTUAL}/{name}/dm/name"));
        label.map_or(format!("/dev/{name}"), |label| format!("/dev/mapper/{}", String::from_utf8_lossy(label).trim()))
    }

    /// ZFS is there, in this version.
    pub fn zfs(&mut self, version: &str) {
        self.missing.retain(|program| program != "zfs");
        self.file("/sys/module/zfs/version", version);
        self.file("/sys/module/zfs/parameters/zfs_arc_max", 0);
        self.file("/sys/module/zfs/parameters/zfs_nocacheflush", 0);
        self.file(
            "/proc/spl/kstat/zfs/arcstats",
            "13 1 0x01 147 39984 1 2\nname type data\nsize 4 4294967296\nc_max 4 33756000256",
        );
        self.says("zfs --version", format!("zfs-{version}\nzfs-kmod-{version}"));
    }

    /// A pool: the lines of its devices in `zpool status`, and for each at the top its kind and `ashift`.
    pub fn pool(&mut self, name: &str, tree: &str, tops: &[(&str, u32, &[&str])], record: &str) {
        let list = self.runs.entry("zpool list -H -o name,health".to_owned()).or_default();
        list.1 += &format!("{name}\tONLINE\n");
        self.says(format!("zpool status -P {name}"), format!(
            "  pool: {name}\n state: ONLINE\n  scan: scrub repaired 0B in 00:10:00 with 0 errors on Sun Sep  1 00:34:02 2024\nconfig:\n\n\
             \tNAME              STATE     READ WRITE CKSUM\n\t{name}              ONLINE       0     0     0\n{tree}\nerrors: No known data errors\n"
        ));
        let children: Vec<String> = tops
            .iter()
            .enumerate()
            .map(|(at, (kind, shift, _))| format!("            children[{at}]:\n                type: '{kind}'\n                id: {at}\n                ashift: {shift}"))
            .collect();
        self.says(
            format!("zdb -C {name}"),
            format!("MOS Configuration:\n        vdev_tree:\n            type: 'root'\n{}", children.join("\n")),
        );
        self.says(
            format!("zpool get -H -p -o property,value all {name}"),
            "ashift\t12\nautotrim\toff\nfragmentation\t3",
        );
        let properties = "type,recordsize,volblocksize,primarycache,secondarycache,sync,compression,atime,encryption,checksum,logbias,special_small_blocks,copies,dedup";
        self.says(
            format!("zfs get -H -p -r -t filesystem,volume -o name,property,value {properties} {name}"),
            format!("{name}\ttype\tfilesystem\n{name}\trecordsize\t{record}\n{name}\tvolblocksize\t-\n{name}\tprimarycache\tall\n{name}\tsync\tstandard\n{name}\tcompression\tlz4\n{name}\tatime\toff"),
        );
        self.mount_as("0:50", name, &format!("/mnt/{name}"), "zfs", "noatime,xattr");
    }

    /// Takes away what only root can read: keeps 64 bytes of configuration space, and lets programs fail.
    pub fn without_root(&mut self) {
        self.file("/proc/self/status", "Name:\tbedplate\nUid:\t1000\t1000\t1000\t1000");
        for (_, content) in self.files.iter_mut().filter(|(path, _)| path.ends_with("/config")) {
            content.truncate(64);
        }
        for names in std::mem::take(&mut self.signatures).into_keys() {
            self.runs.insert(
                format!("wipefs --no-act --json /dev/{names}"),
                (1, "wipefs: error: Permission denied".to_owned()),
            );
        }
        let only_root = [
            "nvme id",
            "nvme smart",
            "nvme get",
            "dmidecode",
            "dumpe2fs",
            "cryptsetup luksDump",
            "lvm vgs",
            "lvm pvs",
            "lvm lvs",
            "dmsetup",
            "dmesg",
        ];
        for (command, ran) in &mut self.runs {
            if only_root.iter().any(|start| command.starts_with(start)) {
                let program = command.split(' ').next().unwrap_or_default();
                *ran = (1, format!("{program}: Permission denied"));
            }
        }
        // They are asked once the mapping is there, and refuse as the others do.
        self.tables.clear();
        for command in ["dmsetup table", "dmsetup status"] {
            self.runs.insert(command.to_owned(), (1, "dmsetup: Permission denied".to_owned()));
        }
    }
}
