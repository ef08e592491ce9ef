//! Pulling a drive out of a running machine, and putting it back.

use host::inspect;
use terms::{Cmd, Drive, Name, Nanos};

use crate::error::FeatureCheckError;
use crate::scene::{Scene, WHOLE};

/// How long the kernel may take to notice.
const NOTICE: Nanos = Nanos::seconds(30);

/// A drive that was pulled.
#[derive(Debug)]
pub(crate) struct Pulled {
    pub(crate) name: Name,
    serial: String,
    kind: Kind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Nvme,
    Scsi,
}

/// Takes a drive from the machine as if somebody had pulled it: NVMe by its PCI function, SATA by its SCSI device.
pub(crate) fn pull(scene: &Scene<'_>, name: &Name) -> Result<Pulled, FeatureCheckError> {
    let node = scene.drive(name)?;
    let drives = inspect::drives(scene.subject.host)?;
    let drive = drives.iter().find(|drive| drive.node() == node);
    let known = drive.and_then(|drive| Some((drive, drive.serial.clone()?)));
    let Some((drive, serial)) = known else {
        return Err(FeatureCheckError::Strange(format!("drive `{name}` cannot be pulled: it is no plugged-in drive")));
    };
    let (kind, path) = switch(scene, drive, &serial)?;
    scene.echo(&format!("Drive `{name}` is pulled, in the middle of everything."), "1", &path)?;
    let pulled = Pulled { name: name.clone(), serial, kind };
    scene.await_that("the drive to be gone", NOTICE, || Ok(pulled.node(scene)?.is_none()))?;
    Ok(pulled)
}

/// The file that takes a drive away.
fn switch(scene: &Scene<'_>, drive: &Drive, serial: &str) -> Result<(Kind, String), FeatureCheckError> {
    let host = scene.subject.host;
    if drive.transport != terms::DriveTransport::Nvme {
        return Ok((Kind::Scsi, format!("/sys/class/block/{}/device/delete", drive.kernel_name)));
    }
    for controller in host.list("/sys/class/nvme")? {
        let directory = format!("/sys/class/nvme/{controller}");
        if host.read_text(&format!("{directory}/serial"))?.trim() == serial {
            return Ok((Kind::Nvme, format!("{}/remove", host.resolve(&format!("{directory}/device"))?)));
        }
    }
    Err(FeatureCheckError::Strange(format!("no NVMe controller has the serial number of `{}`", drive.kernel_name)))
}

impl Pulled {
    /// Its node, if it is there.
    fn node(&self, scene: &Scene<'_>) -> Result<Option<String>, FeatureCheckError> {
        let drives = inspect::drives(scene.subject.host)?;
        Ok(drives.iter().find(|drive| drive.serial.as_ref() == Some(&self.serial)).map(Drive::node))
    }

    /// Puts it back with nothing on it, as a new drive would come.
    pub(crate) fn replace_with_blank(&self, scene: &Scene<'_>) -> Result<(), FeatureCheckError> {
        let why = "A drive is put in its place.";
        match self.kind {
            Kind::Nvme => scene.echo(why, "1", "/sys/bus/pci/rescan")?,
            Kind::Scsi => {
                for adapter in scene.subject.host.list("/sys/class/scsi_host")? {
                    scene.echo(why, "- - -", &format!("/sys/class/scsi_host/{adapter}/scan"))?;
                }
            }
        }
        let mut node = None;
        scene.await_that("the drive to be back", NOTICE, || {
            node = self.node(scene)?;
            Ok(node.is_some())
        })?;
        let node = node.unwrap_or_default();
        let blank = Cmd::new(["blkdiscard", "--force", "--zeroout", &node]).limit(WHOLE);
        scene.run_ok("It holds nothing: a new one, not the old one with its memories.", &blank)?;
        scene.seen(format!("drive `{}` is `{node}` now", self.name));
        scene.rebind(&self.name, node);
        Ok(())
    }
}
