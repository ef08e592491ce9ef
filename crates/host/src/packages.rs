//! Which package brings what is missing, on the distributions that people use.

use terms::plan::Prerequisite;

use crate::{Host, HostError};

/// A family of distributions by its package tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Family {
    /// Debian and its children.
    Debian,
    /// Ubuntu and its children: the same tool, other names for kernels.
    Ubuntu,
    /// Fedora, RHEL and theirs.
    Dnf,
    /// Arch and theirs.
    Pacman,
    /// openSUSE and SLES.
    Zypper,
}

/// What brings a thing: its packages on Debian (and Ubuntu, where nothing else is said), for dnf, pacman and zypper.
struct Brings {
    things: &'static [&'static str],
    packages: [&'static str; 4],
}

const TABLE: &[Brings] = &[
    Brings {
        things: &["qemu-system-x86_64"],
        packages: ["qemu-system-x86", "qemu-system-x86", "qemu-system-x86", "qemu-x86"],
    },
    Brings {
        things: &["kernel", "9p", "9pnet_virtio", "virtio_console", "overlay"],
        packages: ["linux-image-amd64", "kernel-core kernel-modules kernel-modules-extra", "linux", "kernel-default"],
    },
    Brings { things: &["fio"], packages: ["fio"; 4] },
    Brings { things: &["mdadm"], packages: ["mdadm"; 4] },
    Brings {
        things: &["cryptsetup", "integritysetup"],
        packages: ["cryptsetup-bin", "cryptsetup integritysetup", "cryptsetup", "cryptsetup"],
    },
    Brings {
        things: &[
            "lvm",
            "lvs",
            "pvcreate",
            "pvremove",
            "vgcreate",
            "vgextend",
            "vgreduce",
            "vgremove",
            "lvcreate",
            "lvconvert",
            "lvchange",
            "lvremove",
        ],
        packages: ["lvm2"; 4],
    },
    Brings {
        things: &["thin_check", "cache_check"],
        packages: [
            "thin-provisioning-tools",
            "device-mapper-persistent-data",
            "thin-provisioning-tools",
            "thin-provisioning-tools",
        ],
    },
    Brings { things: &["make-bcache"], packages: ["bcache-tools"; 4] },
    Brings { things: &["mkfs.ext4", "dumpe2fs"], packages: ["e2fsprogs"; 4] },
    Brings { things: &["mkfs.xfs"], packages: ["xfsprogs"; 4] },
    Brings { things: &["mkfs.btrfs", "btrfs"], packages: ["btrfs-progs", "btrfs-progs", "btrfs-progs", "btrfsprogs"] },
    Brings {
        things: &["zpool", "zfs"],
        packages: ["linux-headers-amd64 zfs-dkms zfsutils-linux", "zfs", "zfs-dkms zfs-utils", "zfs"],
    },
    Brings { things: &["nvme"], packages: ["nvme-cli"; 4] },
    Brings { things: &["hdparm"], packages: ["hdparm"; 4] },
    Brings { things: &["ip"], packages: ["iproute2", "iproute", "iproute2", "iproute2"] },
    Brings { things: &["parted", "partprobe"], packages: ["parted"; 4] },
    Brings {
        things: &[
            "blkid",
            "wipefs",
            "blkdiscard",
            "blockdev",
            "setsid",
            "setpriv",
            "prlimit",
            "lsblk",
            "mount",
            "umount",
        ],
        packages: ["util-linux"; 4],
    },
    Brings { things: &["modprobe"], packages: ["kmod"; 4] },
    Brings { things: &["xz"], packages: ["xz-utils", "xz", "xz", "xz"] },
    Brings { things: &["zstd"], packages: ["zstd"; 4] },
    Brings { things: &["rsvg-convert"], packages: ["librsvg2-bin", "librsvg2-tools", "librsvg", "rsvg-convert"] },
    Brings { things: &["cmp"], packages: ["diffutils"; 4] },
    Brings { things: &["dmsetup"], packages: ["dmsetup", "device-mapper", "device-mapper", "device-mapper"] },
];

/// The family of a machine; `None` where it is none of those known.
///
/// # Errors
/// Where the machine is lost.
pub fn family(host: &dyn Host) -> Result<Option<Family>, HostError> {
    let release = match host.read_text("/etc/os-release") {
        Ok(text) => text,
        Err(HostError::File { .. }) => return Ok(None),
        Err(error) => return Err(error),
    };
    Ok(family_of(&release))
}

fn family_of(os_release: &str) -> Option<Family> {
    let value = |key: &str| os_release.lines().find_map(|line| line.strip_prefix(key)).unwrap_or("").replace('"', "");
    let words = format!("{} {}", value("ID="), value("ID_LIKE="));
    words.split_whitespace().find_map(|word| match word {
        "ubuntu" => Some(Family::Ubuntu),
        "debian" => Some(Family::Debian),
        "fedora" | "rhel" | "centos" => Some(Family::Dnf),
        "arch" => Some(Family::Pacman),
        "suse" | "opensuse" | "opensuse-tumbleweed" | "opensuse-leap" | "sles" => Some(Family::Zypper),
        _ => None,
    })
}

/// The command that brings these things, for a person to run.
#[must_use]
pub fn install_line(family: Option<Family>, things: &[&str]) -> String {
    let Some(family) = family else { return format!("install what brings: {}", things.join(", ")) };
    let column = match family {
        Family::Debian | Family::Ubuntu => 0,
        Family::Dnf => 1,
        Family::Pacman => 2,
        Family::Zypper => 3,
    };
    let mut packages: Vec<&str> = Vec::new();
    for thing in things {
        let found = TABLE.iter().find(|row| row.things.contains(thing)).map_or(*thing, |row| row.packages[column]);
        for package in found.split(' ') {
            let package = if family == Family::Ubuntu { on_ubuntu(package) } else { package };
            if package.is_empty() {
                continue;
            }
            if !packages.contains(&package) {
                packages.push(package);
            }
        }
    }
    let tool = match family {
        Family::Debian | Family::Ubuntu => "apt-get install --no-install-recommends",
        Family::Dnf => "dnf install",
        Family::Pacman => "pacman -S --needed",
        Family::Zypper => "zypper install",
    };
    let contrib = family == Family::Debian && packages.contains(&"zfs-dkms");
    let line = format!("sudo {tool} {}", packages.join(" "));
    if contrib { format!("{line}   (zfs-dkms is in contrib)") } else { line }
}

/// Ubuntu's name for a Debian package; empty where it brings the same with its kernel.
fn on_ubuntu(package: &str) -> &str {
    match package {
        "linux-image-amd64" => "linux-image-generic",
        "linux-headers-amd64" | "zfs-dkms" => "",
        other => other,
    }
}

/// The thing to look up for a plan's need: modules that come with the kernel are brought by the kernel.
#[must_use]
pub fn thing_for(need: &Prerequisite) -> &str {
    match need {
        Prerequisite::Program(program) => program,
        Prerequisite::Module(module) if module == "zfs" => "zfs",
        Prerequisite::Module(_) => "kernel",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn families_are_distinguished() {
        assert_eq!(family_of("ID=debian\n"), Some(Family::Debian));
        assert_eq!(family_of("ID=linuxmint\nID_LIKE=\"ubuntu debian\"\n"), Some(Family::Ubuntu));
        assert_eq!(family_of("ID=\"rocky\"\nID_LIKE=\"rhel centos fedora\"\n"), Some(Family::Dnf));
        assert_eq!(family_of("ID=nixos\n"), None);
    }

    #[test]
    fn a_line_names_every_package_once() {
        assert_eq!(
            install_line(Some(Family::Debian), &["cryptsetup", "integritysetup", "fio"]),
            "sudo apt-get install --no-install-recommends cryptsetup-bin fio"
        );
        assert_eq!(install_line(Some(Family::Pacman), &["zpool"]), "sudo pacman -S --needed zfs-dkms zfs-utils");
        assert!(install_line(Some(Family::Debian), &["zfs"]).contains("contrib"));
        let ubuntu = install_line(Some(Family::Ubuntu), &["kernel", "zfs"]);
        assert!(ubuntu.ends_with("linux-image-generic zfsutils-linux"), "{ubuntu}");
        assert_eq!(install_line(None, &["fio"]), "install what brings: fio");
    }

    #[test]
    fn a_program_is_no_module_of_the_same_name() {
        let needs = [Prerequisite::Program("nvme".to_owned()), Prerequisite::Module("nvme".to_owned())];
        let lines = needs.map(|need| install_line(Some(Family::Debian), &[thing_for(&need)]));
        assert!(lines[0].ends_with(" nvme-cli") && lines[1].ends_with(" linux-image-amd64"), "{lines:?}");
    }
}
