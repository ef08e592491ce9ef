//! Drives: NVMe with what `nvme` says of them, SATA, virtio, RAM.

use super::{Limits, Machine};

/// An NVMe drive.
#[derive(Debug, Clone, Copy)]
pub struct Nvme {
    pub model: &'static str,
    pub firmware: &'static str,
    pub size: u64,
    /// Formats as powers of two of the block, with bytes of metadata and relative performance.
    pub formats: &'static [(u32, u32, u32)],
    pub format: usize,
    pub volatile_cache: bool,
    pub used: u32,
    pub celsius: u32,
    pub warning: u32,
    pub queues: u32,
}

impl Default for Nvme {
    fn default() -> Self {
        Self {
            model: "An NVMe Drive",
            firmware: "1.0",
            size: 1_000_204_886_016,
            formats: &[(9, 0, 2), (12, 0, 1)],
            format: 0,
            volatile_cache: true,
            used: 3,
            celsius: 41,
            warning: 0,
            queues: 9,
        }
    }
}

/// A SATA drive.
#[derive(Debug, Clone, Copy)]
pub struct Disk {
    pub model: &'static str,
    pub firmware: &'static str,
    pub size: u64,
    pub physical: u32,
    pub rotational: bool,
    pub cache: &'static str,
    pub scheduler: &'static str,
}

impl Machine {
    /// An NVMe drive in the directory of its PCI device: `nvmeN` with the namespace `nvmeNn1`.
    pub fn nvme(&mut self, pci: &str, number: u32, serial: &str, drive: Nvme) -> String {
        let address = pci.rsplit('/').next().unwrap();
        let controller = self.controller(&format!("{pci}/nvme"), number, serial, drive, ("pcie", address));
        self.link(format!("{controller}/device"), pci);
        for _ in 0..drive.queues.min(4) {
            self.interrupts += 1;
            let irq = self.interrupts + 30;
            self.file(format!("{pci}/msi_irqs/{irq}"), "msix");
            self.file(format!("/proc/irq/{irq}/effective_affinity_list"), irq % 4);
        }
        self.namespace(&controller, &format!("nvme{number}n1"), 1, drive)
    }

    /// A controller with what it says of itself; gives its directory.
    pub fn controller(
        &mut self,
        below: &str,
        number: u32,
        serial: &str,
        drive: Nvme,
        (transport, address): (&str, &str),
    ) -> String {
        let name = format!("nvme{number}");
        let directory = format!("{below}/{name}");
        self.link(format!("/sys/class/nvme/{name}"), &directory);
        for (file, value) in [
            ("model", drive.model.to_owned()),
            ("serial", serial.to_owned()),
            ("firmware_rev", drive.firmware.to_owned()),
            ("transport", transport.to_owned()),
            ("address", address.to_owned()),
            ("state", "live".to_owned()),
            ("queue_count", drive.queues.to_string()),
            ("subsysnqn", format!("nqn.2014-08.org.example:{serial}")),
        ] {
            self.file(format!("{directory}/{file}"), value);
        }
        let node = format!("/dev/{name}");
        self.says(format!("nvme id-ctrl -o json {node}"), format!(
            "{{\"vid\":1,\"sn\":\"{serial}\",\"mn\":\"{}\",\"fr\":\"{}\",\"mdts\":7,\"vwc\":{},\"fna\":0,\"nn\":1,\"npss\":4,\
             \"apsta\":1,\"wctemp\":358,\"cctemp\":363,\"tnvmcap\":{}}}",
            drive.model, drive.firmware, if drive.volatile_cache { 7 } else { 0 }, drive.size
        ));
        self.says(format!("nvme smart-log -o json {node}"), format!(
            "{{\"critical_warning\":{},\"temperature\":{},\"avail_spare\":100,\"spare_thresh\":10,\"percent_used\":{},\
             \"data_units_read\":4000000,\"data_units_written\":6000000,\"power_on_hours\":1234,\"unsafe_shutdowns\":5,\
             \"media_errors\":0,\"num_err_log_entries\":0,\"warning_temp_time\":0,\"critical_comp_time\":0,\
             \"thm_temp1_trans_count\":0,\"thm_temp2_trans_count\":0}}",
            drive.warning, drive.celsius + 273, drive.used
        ));
        if drive.volatile_cache {
            self.says(
                format!("nvme get-feature -f 6 {node}"),
                "get-feature:0x06 (Volatile Write Cache), Current value:0x00000001",
            );
        }
        directory
    }

    /// A namespace in a directory, as a block device.
    pub fn namespace(&mut self, below: &str, name: &str, nsid: u32, drive: Nvme) -> String {
        let logical = 1 << drive.formats[drive.format].0;
        let limits = Limits {
            logical,
            physical: logical,
            minimum_io: logical,
            write_cache: if drive.volatile_cache { "write back" } else { "write through" },
            queues: drive.queues - 1,
            ..Limits::default()
        };
        let directory = self.block(below, name, 259, drive.size, limits);
        self.file(format!("{directory}/nsid"), nsid);
        let wwid = format!("eui.{:016x}", 0x0025_3800_0000_0000_u64 + u64::from(self.minor(1000)) + 1);
        self.file(format!("{directory}/wwid"), wwid);
        if self.links.contains_key(&format!("/sys/class/nvme/{}", below.rsplit('/').next().unwrap())) {
            self.link(format!("{directory}/device"), below);
        }
        let formats: Vec<String> =
            drive.formats.iter().map(|(ds, ms, rp)| format!("{{\"ms\":{ms},\"ds\":{ds},\"rp\":{rp}}}")).collect();
        self.says(
            format!("nvme id-ns -o json /dev/{name}"),
            format!(
                "{{\"nsze\":{},\"flbas\":{},\"lbafs\":[{}]}}",
                drive.size / u64::from(logical),
                drive.format,
                formats.join(",")
            ),
        );
        name.to_owned()
    }

    /// A SATA drive on port `port` of a controller.
    pub fn disk(&mut self, pci: &str, port: u32, name: &str, serial: &str, disk: Disk) -> String {
        let place = format!("{}:0:0:0", port - 1);
        let host = format!("{pci}/ata{port}/host{}", port - 1);
        let device = format!("{host}/target{}:0:0/{place}", port - 1);
        let limits = Limits {
            physical: disk.physical,
            minimum_io: disk.physical,
            discard_max: if disk.rotational { 0 } else { 2_147_450_880 },
            scheduler: disk.scheduler,
            write_cache: disk.cache,
            rotational: disk.rotational,
            queues: 1,
            ..Limits::default()
        };
        let directory = self.block(&format!("{device}/block"), name, 8, disk.size, limits);
        self.link(format!("{directory}/device"), &device);
        self.file(format!("{device}/model"), disk.model);
        self.file(format!("{device}/rev"), disk.firmware);
        let mut page = vec![0, 0x80, 0, u8::try_from(serial.len()).unwrap()];
        page.extend(serial.bytes());
        self.bytes(format!("{device}/vpd_pg80"), page);
        self.file(format!("{device}/scsi_disk/{place}/cache_type"), disk.cache);
        self.file(format!("{pci}/ata{port}/link{port}/ata_link/link{port}/sata_spd"), "6.0 Gbps");
        name.to_owned()
    }

    /// RAM drives or virtio drives, which have no controller that tells of them.
    pub fn plain(&mut self, below: &str, name: &str, major: u32, size: u64, limits: Limits) -> String {
        self.block(&format!("{below}/block"), name, major, size, limits);
        name.to_owned()
    }

    /// A SAS drive on line `line` of a controller.
    pub fn sas_disk(&mut self, pci: &str, line: u32, name: &str, serial: &str, disk: Disk) -> String {
        let place = format!("0:0:{line}:0");
        let port = format!("{pci}/host0/port-0:{line}");
        let device = format!("{port}/end_device-0:{line}/target0:0:{line}/{place}");
        let limits = Limits {
            physical: disk.physical,
            minimum_io: disk.physical,
            discard_max: 0,
            scheduler: disk.scheduler,
            write_cache: disk.cache,
            rotational: disk.rotational,
            queues: 1,
            ..Limits::default()
        };
        let directory = self.block(&format!("{device}/block"), name, 8, disk.size, limits);
        self.link(format!("{directory}/device"), &device);
        self.file(format!("{device}/model"), disk.model);
        self.file(format!("{device}/rev"), disk.firmware);
        let mut page = vec![0, 0x80, 0, u8::try_from(serial.len()).unwrap()];
        page.extend(serial.bytes());
        self.bytes(format!("{device}/vpd_pg80"), page);
        self.file(format!("{device}/scsi_disk/{place}/cache_type"), disk.cache);
        self.directory(format!("{port}/phy-0:{line}"));
        self.file(format!("/sys/class/sas_phy/phy-0:{line}/negotiated_linkrate"), "12.0 Gbit");
        name.to_owned()
    }
}
