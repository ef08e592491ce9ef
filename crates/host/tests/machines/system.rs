//! The system: kernel, processors, memory, programs, services.

use super::Machine;

/// Processors.
#[derive(Debug, Clone, Copy)]
pub struct Cpu {
    pub model: &'static str,
    pub sockets: u32,
    pub cores: u32,
    pub threads: u32,
    pub flags: &'static str,
    pub governor: &'static str,
}

const DRIVERS: &str = "name         : xts(aes)\ndriver       : xts-aes-aesni\npriority     : 401\n\nname         : xts(aes)\n\
                       driver       : xts(ecb(aes-generic))\npriority     : 100\n\nname         : crc32c\ndriver       : crc32c-intel\n\
                       priority     : 200\n";

impl Machine {
    pub(super) fn system(&mut self, system: &str, kernel: &str) {
        self.file("/etc/os-release", format!("PRETTY_NAME=\"{system}\""));
        self.file("/proc/sys/kernel/osrelease", kernel);
        self.file("/proc/version", format!("Linux version {kernel} (gcc) #1 SMP"));
        self.file("/proc/cmdline", format!("BOOT_IMAGE=/vmlinuz-{kernel} ro quiet"));
        self.file("/proc/self/status", "Name:\tbedplate\nUid:\t0\t0\t0\t0");
        self.file("/proc/crypto", DRIVERS);
        self.file("/etc/fstab", "# fstab");
        self.file("/sys/module/nvme_core/parameters/default_ps_max_latency_us", "100000");
        self.file("/sys/module/pcie_aspm/parameters/policy", "[default] performance powersave powersupersave");
        self.says("dmesg", "");
        self.says("df -lPk", "Filesystem 1024-blocks Used Available Capacity Mounted on");
        self.says(
            "systemctl list-units --all --type=service,timer,socket --plain --no-legend --no-pager --full",
            "fstrim.timer loaded active waiting Discard unused blocks once a week",
        );
        self.says("dmsetup targets", "crypt            v1.24.0\nlinear           v1.4.0");
        for (command, says) in [
            ("fio --version", "fio-3.33"),
            ("mdadm --version", "mdadm - v4.2 - 2021-12-30"),
            ("cryptsetup --version", "cryptsetup 2.6.1"),
            ("lvm version", "  LVM version:     2.03.16(2) (2022-05-18)"),
            ("mkfs.ext4 -V", "mke2fs 1.47.0 (5-Feb-2023)"),
            ("mkfs.xfs -V", "mkfs.xfs version 6.1.0"),
            ("mkfs.btrfs --version", "mkfs.btrfs, part of btrfs-progs v6.2"),
            ("nvme version", "nvme version 2.4 (git 2.4)"),
        ] {
            self.says(command, says);
        }
        self.missing("zfs");
        self.missing("smartctl");
    }

    pub fn board(&mut self, maker: &str, name: &str) {
        self.file("/sys/class/dmi/id/sys_vendor", maker);
        self.file("/sys/class/dmi/id/product_name", name);
    }

    pub fn cpu(&mut self, cpu: Cpu) {
        let mut text = String::new();
        let per_socket = cpu.cores * cpu.threads;
        for number in 0..cpu.sockets * per_socket {
            let (socket, core) = (number / per_socket % cpu.sockets, number % cpu.cores);
            text += &format!(
                "processor\t: {number}\nmodel name\t: {}\nphysical id\t: {socket}\ncore id\t\t: {core}\nflags\t\t: {}\n\n",
                cpu.model, cpu.flags
            );
            if !cpu.governor.is_empty() {
                self.file(format!("/sys/devices/system/cpu/cpu{number}/cpufreq/scaling_governor"), cpu.governor);
            } else {
                self.directory(format!("/sys/devices/system/cpu/cpu{number}"));
            }
        }
        self.file("/proc/cpuinfo", text.trim_end());
        self.file("/sys/devices/system/cpu/smt/active", u8::from(cpu.threads > 1));
        self.file("/sys/devices/system/cpu/vulnerabilities/spectre_v2", "Mitigation: Retpolines");
        self.file("/sys/devices/system/cpu/vulnerabilities/meltdown", "Not affected");
    }

    /// Memory, in modules of one size: so many, each in a channel of its own.
    pub fn memory(&mut self, modules: u32, gib_each: u64, kind: &str, speed: u32) {
        let total = u64::from(modules) * gib_each;
        // The kernel keeps a little for itself.
        self.file("/proc/meminfo", format!("MemTotal:       {} kB", total * 1024 * 1024 - 131_072));
        let mut text = "# dmidecode 3.4\nGetting SMBIOS data from sysfs.\n".to_owned();
        for number in 0..modules {
            let letter = char::from(b'A' + u8::try_from(number).unwrap());
            text += &format!(
                "\nHandle 0x{number:04x}, DMI type 17, 92 bytes\nMemory Device\n\tSize: {gib_each} GB\n\tLocator: DIMM_{letter}1\n\t\
                 Bank Locator: Not Specified\n\tType: {kind}\n\tSpeed: {speed} MT/s\n\tSerial Number: 1A2B3C4{number}\n\t\
                 Configured Memory Speed: {speed} MT/s\n"
            );
        }
        self.says("dmidecode -t memory", text);
    }

    pub fn numa(&mut self, nodes: &[&str]) {
        for (number, cpus) in nodes.iter().enumerate() {
            let directory = format!("/sys/devices/system/node/node{number}");
            self.file(format!("{directory}/cpulist"), cpus);
            self.file(format!("{directory}/meminfo"), format!("Node {number} MemTotal:       33554432 kB"));
            let distances: Vec<&str> =
                (0..nodes.len()).map(|other| if other == number { "10" } else { "21" }).collect();
            self.file(format!("{directory}/distance"), distances.join(" "));
        }
    }
}
