//! Names under `/dev/disk/by-id`, made from what a drive tells of itself, for machines without udev.
//!
//! The rules are those of udev's `60-persistent-storage.rules`; only forms that can be made from sysfs alone are here.

use terms::{Drive, DriveTransport};

/// Names that udev would give a whole drive, the most telling first.
pub(crate) fn names(drive: &Drive) -> Vec<String> {
    let mut names = Vec::new();
    let wwid = drive.wwid.as_deref().map(str::trim).filter(|wwid| !wwid.is_empty());
    match drive.transport {
        DriveTransport::Nvme => {
            if let (Some(model), Some(serial)) = (&drive.model, &drive.serial) {
                let name = format!("nvme-{}_{}", word(model), word(serial));
                // Newer udev adds the number of the namespace, which the kernel name ends in.
                let namespace = drive.kernel_name.rsplit_once('n').map(|(_, number)| format!("{name}_{number}"));
                names.extend([name].into_iter().chain(namespace));
            }
            names.extend(wwid.map(|wwid| format!("nvme-{}", word(wwid))));
        }
        DriveTransport::Virtio => {
            names.extend(drive.serial.as_deref().map(|serial| format!("virtio-{}", word(serial))))
        }
        _ => {
            // `t10.ATA` and model and serial number, in columns.
            let ata = wwid.and_then(|wwid| wwid.strip_prefix("t10.ATA"));
            names.extend(ata.and_then(ata_name));
            names.extend(wwid.and_then(|wwid| wwid.strip_prefix("naa.")).map(|number| format!("wwn-0x{number}")));
        }
    }
    names
}

/// `     QEMU HARDDISK                           QM00001` is the model, then the serial number.
fn ata_name(columns: &str) -> Option<String> {
    let (model, serial) = columns.trim().rsplit_once(char::is_whitespace)?;
    Some(format!("ata-{}_{}", word(model), word(serial)))
}

/// A value as udev writes it into a name: runs of white space and characters of no file name become `_`.
pub(crate) fn word(value: &str) -> String {
    let kept = |c: char| c.is_ascii_alphanumeric() || "#+-.:=@_/".contains(c) || !c.is_ascii();
    let words: Vec<&str> = value.split_whitespace().collect();
    let replaced = |c: char| if kept(c) && c != '/' { c } else { '_' };
    words.join("_").chars().map(replaced).collect()
}

#[cfg(test)]
mod tests {
    use terms::Bytes;

    use super::*;

    fn drive(transport: DriveTransport, kernel_name: &str, model: &str, serial: &str, wwid: &str) -> Drive {
        let some = |text: &str| (!text.is_empty()).then(|| text.to_owned());
        Drive {
            kernel_name: kernel_name.into(),
            serial: some(serial),
            wwid: some(wwid),
            model: some(model),
            firmware: None,
            transport,
            size: Bytes::gib(1),
            logical_block: Bytes(512),
            physical_block: Bytes(512),
            rotational: false,
            scheduler: None,
            write_cache: None,
            pci_address: None,
            detail: None,
        }
    }

    #[test]
    fn names_are_those_of_udev() {
        let nvme =
            drive(DriveTransport::Nvme, "nvme3n1", "Samsung SSD 970 EVO Plus 1TB ", "S4EWNX0N", "eui.0025385b01");
        assert_eq!(
            names(&nvme),
            [
                "nvme-Samsung_SSD_970_EVO_Plus_1TB_S4EWNX0N",
                "nvme-Samsung_SSD_970_EVO_Plus_1TB_S4EWNX0N_1",
                "nvme-eui.0025385b01"
            ]
        );
        let ata = drive(
            DriveTransport::Sata,
            "sda",
            "QEMU HARDDISK",
            "QM00001",
            "t10.ATA     QEMU HARDDISK            QM00001",
        );
        assert_eq!(names(&ata), ["ata-QEMU_HARDDISK_QM00001"]);
        assert_eq!(names(&drive(DriveTransport::Sata, "sda", "X", "Y", "naa.5000c500a")), ["wwn-0x5000c500a"]);
        assert_eq!(names(&drive(DriveTransport::Virtio, "vda", "", "root", "")), ["virtio-root"]);
        assert!(names(&drive(DriveTransport::Ram, "ram0", "", "", "")).is_empty());
        assert_eq!(word(" a  b/c\td$ "), "a_b_c_d_");
    }
}
