//! What a run made on its drives, and whether what is found there now is still that.

use host::{Devno, Host, HostError};

use crate::device::{Device, behind_node};
use crate::doubt::Doubt;
use crate::examination::{Evidence, Examination, Objection, Owner};
use crate::mark::WrittenMark;
use crate::signature;
use crate::survey::{Listed, registries};

/// Signatures of a device, as three witnesses see them.
///
/// # Errors
/// Where the device cannot be read, or what a tool says is not understood.
pub fn signatures(host: &dyn Host, node: &str) -> Result<Vec<WrittenMark>, HostError> {
    let what = format!("signatures of {node}");
    let unread = |doubt| unread(host, &what, doubt);
    let devno = behind_node(host, node)?.ok_or_else(|| unread(Doubt::words("it is no block device")))?;
    let device = Device::numbered(host, devno)?.ok_or_else(|| unread(Doubt::words("it is not there")))?;
    signature::read(host, &device, &node_of(node, &device)).map_err(unread)
}

/// Without udev a mapping has only the node that its maker gave it.
fn node_of(node: &str, device: &Device) -> String {
    if node.starts_with("/dev/mapper/") { node.to_owned() } else { device.node() }
}

/// Every device that some layer lists as its own where what lists it is the run's: an array, a mapping, a pool, a btrfs.
/// Somebody may have added another drive to it.
///
/// # Errors
/// Where a layer cannot be asked, or its answer is not understood.
pub fn members(host: &dyn Host, ours: &Ours) -> Result<Vec<(Devno, Owner)>, HostError> {
    let mut found = Vec::new();
    for (what, answer) in registries::all(host) {
        for Listed { devno, owner } in answer.map_err(|doubt| unread(host, what, doubt))?.devices {
            let is_ours = match &owner {
                Owner::Array(name) => {
                    Device::named(host, name)?.is_some_and(|array| ours.devices.contains(&array.devno))
                }
                owner => ours.made(&Evidence::Listed(owner.clone()), false),
            };
            if is_ours {
                found.push((devno, owner));
            }
        }
    }
    Ok(found)
}

fn unread(host: &dyn Host, what: &str, doubt: Doubt) -> HostError {
    match doubt {
        Doubt::Host(error) => error,
        Doubt::Words(words) => HostError::File {
            host: host.name(),
            doing: "understand",
            path: what.to_owned(),
            source: std::io::Error::other(words),
        },
    }
}

/// The kernel's node of a device; `None` where it is not there.
///
/// # Errors
/// Where the machine cannot be asked.
pub fn node_of_devno(host: &dyn Host, devno: Devno) -> Result<Option<String>, HostError> {
    Ok(Device::numbered(host, devno)?.map(|device| device.node()))
}

/// The device number behind a node, links followed; `None` where there is no block device.
///
/// # Errors
/// Where the machine cannot be asked.
pub fn devno_of(host: &dyn Host, node: &str) -> Result<Option<Devno>, HostError> {
    behind_node(host, node)
}

/// What LVM adds to the name of a volume for the layers inside it, and for the volumes that one is made of, which nobody else may
/// name so (lib/misc/lvm-string.c of LVM2, `layers` and `_lvname_has_reserved_string`).
const INNER: [&str; 3] = ["-tpool", "-real", "-cow"];
const PARTS: [&str; 17] = [
    "_cdata", "_cmeta", "_corig", "_cpool", "_cvol", "_imeta", "_iorig", "_mimage", "_mlog", "_pmspare", "_rimage",
    "_rmeta", "_tdata", "_tmeta", "_vdata", "_vorigin", "_wcorig",
];

/// What cryptsetup adds for the integrity below an encryption (lib/luks2/luks2_json_metadata.c). A volume of LVM may be named so.
pub const INTEGRITY_BELOW: &str = "_dif";
/// What a layer of a run may leave where no tool takes it away: writecaches, caches and thin pools.
const LEFT_BEHIND: [&str; 3] = ["DM_writecache", "DM_cache_metadata", "DM_thin_metadata"];

/// What a run made: the only things on a drive that may be taken away without a person's saying so.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Ours {
    /// Signatures that it wrote.
    pub signatures: Vec<WrittenMark>,
    /// Devices of today that carry its names.
    pub devices: Vec<Devno>,
    /// Names of its mappings and pools.
    pub names: Vec<String>,
    /// Directories that it mounted on.
    pub mounts: Vec<String>,
    /// Was the lock kept since it was made? Then a signature without an identifier is the run's too: whoever heeds the
    /// lock could not put another in its place.
    pub kept: bool,
}

impl Ours {
    /// Was this made by the run? `stands` says whether something of the run is open on the device: what has no identifier
    /// is known by that.
    #[must_use]
    pub fn made(&self, evidence: &Evidence, stands: bool) -> bool {
        match evidence {
            Evidence::Upper { devno, name } => self.devices.contains(devno) || self.named(name),
            Evidence::Mount(point) => self.mounts.contains(point),
            // There the same mount may lie below a directory of its own.
            Evidence::MountElsewhere(point) => self.mounts.iter().any(|ours| point.ends_with(ours.as_str())),
            Evidence::Signature(found) => {
                let fits = |made: &WrittenMark| made.is(found) || ((self.kept || stands) && made.may_be(found));
                // No tool takes these away with what they were part of: an earlier stack of the run may have left one where a
                // partition or a volume begins now.
                let is_stale = self.kept && found.uuid.is_none() && LEFT_BEHIND.contains(&found.kind.as_str());
                is_stale || self.signatures.iter().any(fits)
            }
            Evidence::Listed(Owner::Mapping(name) | Owner::Pool(name)) => self.named(name),
            Evidence::Listed(Owner::Btrfs(id)) => {
                let found = WrittenMark { kind: "btrfs".to_owned(), uuid: Some(id.clone()) };
                self.signatures.iter().any(|made| made.is(&found))
            }
            // Who holds it is told by what is on top of it.
            Evidence::Listed(Owner::Array(_)) | Evidence::Exclusive => false,
            Evidence::Listed(Owner::Target(_)) => false,
        }
    }

    /// Is it one of the names, or one that the tools make of it: `NAME_rimage_0`, `NAME_dif`, `NAME-tpool`, `NAME-cow`?
    #[must_use]
    pub fn named(&self, name: &str) -> bool {
        let is_part = |rest: &str| PARTS.iter().any(|part| rest.starts_with(part));
        let made_of = |rest: &str| rest.is_empty() || is_part(rest) || rest == INTEGRITY_BELOW || INNER.contains(&rest);
        !name.is_empty() && self.names.iter().any(|ours| name.strip_prefix(ours.as_str()).is_some_and(made_of))
    }

    /// What of an examination is not the run's work, or cannot be shown to be.
    #[must_use]
    pub fn strange<'e>(&self, examination: &'e Examination) -> Vec<&'e Objection> {
        let made = |finding: &&Objection| {
            let stands = self.stands_at(examination, &finding.node);
            finding.evidence.as_ref().is_some_and(|evidence| self.made(evidence, stands))
        };
        let held = |finding: &&Objection| {
            matches!(
                finding.evidence,
                Some(Evidence::Upper { .. } | Evidence::Mount(_) | Evidence::MountElsewhere(_) | Evidence::Listed(_))
            )
        };
        // A device is claimed once: where all that is on it is ours, the claim is.
        let uppers: Vec<&Objection> = examination.findings.iter().filter(held).collect();
        let is_follower = |finding: &Objection| {
            matches!(finding.evidence, Some(Evidence::Exclusive | Evidence::Listed(Owner::Array(_))))
        };
        let leaders: Vec<&&Objection> = uppers.iter().filter(|finding| !is_follower(finding)).collect();
        let all_ours = !leaders.is_empty() && leaders.iter().all(|finding| made(finding));
        let explained = |finding: &Objection| all_ours && is_follower(finding);
        examination.findings.iter().filter(|finding| !made(finding) && !explained(finding)).collect()
    }

    /// Does anything on the drive show that it is still the run's?
    #[must_use]
    pub fn shows_on(&self, examination: &Examination) -> bool {
        let stands = self.stands_on(examination);
        let is_signature = |evidence: &Evidence| matches!(evidence, Evidence::Signature(_));
        stands || examination.shows(|evidence| is_signature(evidence) && self.made(evidence, false))
    }

    /// Is all that is written on the drive somebody else's, and nothing of the run? Of what has no signature nobody knows.
    #[must_use]
    pub fn is_gone_from(&self, examination: &Examination) -> bool {
        let evidence = examination.findings.iter().filter_map(|finding| finding.evidence.as_ref());
        let mut signatures = evidence.filter(|evidence| matches!(evidence, Evidence::Signature(_))).peekable();
        !self.stands_on(examination) && signatures.peek().is_some() && signatures.all(|found| !self.made(found, true))
    }

    /// Is a mapping, an array or a pool of the run open on the drive?
    #[must_use]
    pub fn stands_on(&self, examination: &Examination) -> bool {
        self.stands_at(examination, &examination.identity.node)
    }

    /// The same of one of its nodes: what is open on one partition says nothing of what lies on another.
    fn stands_at(&self, examination: &Examination, node: &str) -> bool {
        let is_open = |evidence: &Evidence| {
            matches!(evidence, Evidence::Upper { .. } | Evidence::Listed(Owner::Pool(_))) && self.made(evidence, false)
        };
        let is_here = |finding: &&Objection| finding.node == node || examination.identity.node == node;
        examination.findings.iter().filter(is_here).filter_map(|finding| finding.evidence.as_ref()).any(is_open)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::examination::Class;

    fn signature(kind: &str, uuid: Option<&str>) -> WrittenMark {
        WrittenMark { kind: kind.to_owned(), uuid: uuid.map(str::to_owned) }
    }

    #[test]
    fn a_signature_is_known_by_its_identifier() {
        let made = signature("ext4", Some("3F6A-01"));
        assert!(made.is(&signature("ext4", Some("3f6a01"))));
        for other in [signature("ext4", Some("3f6a02")), signature("ext4", None), signature("xfs", Some("3f6a01"))] {
            assert!(!made.is(&other) && !made.may_be(&other), "{other:?}");
        }
    }

    #[test]
    fn what_has_no_identifier_is_known_by_the_lock_or_by_what_stands_on_it() {
        let found = Evidence::Signature(signature("DM_integrity", None));
        for (made, kept, stands, is_ours) in [
            ("DM_integrity", false, false, false),
            ("DM_integrity", true, false, true),
            ("DM_integrity", false, true, true),
            ("LVM2_member", true, true, false),
        ] {
            let ours = Ours { signatures: vec![signature(made, None)], kept, ..Ours::default() };
            assert_eq!(ours.made(&found, stands), is_ours, "{made}, kept {kept}, stands {stands}");
        }
    }

    #[test]
    fn names_are_ours_with_what_tools_add_and_no_others() {
        let ours = Ours {
            names: vec!["bp-x-luks".to_owned(), terms::plan::mapping_of_volume("bp-x", "data")],
            ..Ours::default()
        };
        for name in [
            "bp-x-luks",
            "bp--x-data",
            "bp--x-data_rimage_0",
            "bp-x-luks_dif",
            "bp--x-data-cow",
            "bp--x-data_rimage_0_imeta",
        ] {
            assert!(ours.named(name), "{name}");
        }
        for name in [
            "",
            "bp-x-luks2",
            "bp--x-precious",
            "bp--x-data2",
            "bp--x-data-mine",
            "bp--x-data_mine",
            "bp--x-data_diff",
            "other",
            "bp",
        ] {
            assert!(!ours.named(name), "{name}");
        }
    }

    #[test]
    fn a_mount_is_ours_in_every_namespace_and_at_no_other_path_of_our_own() {
        let ours = Ours { mounts: vec!["/mnt/bedplate/x".to_owned()], ..Ours::default() };
        for (point, here, elsewhere) in [
            ("/mnt/bedplate/x", true, true),
            ("/var/lib/snapd/hostfs/mnt/bedplate/x", false, true),
            ("/mnt/bedplate/x/y", false, false),
            ("/mnt/x", false, false),
        ] {
            assert_eq!(ours.made(&Evidence::Mount(point.to_owned()), false), here, "{point}");
            assert_eq!(ours.made(&Evidence::MountElsewhere(point.to_owned()), false), elsewhere, "{point}");
        }
    }

    #[test]
    fn what_is_not_shown_to_be_ours_is_strange() {
        let identity = crate::identity::tests::any();
        let finding = |class, evidence| Objection { evidence, ..Objection::new(class, "/dev/a", "x", "") };
        let upper =
            |minor, name: &str| Some(Evidence::Upper { devno: Devno { major: 253, minor }, name: name.to_owned() });
        let ours = Ours {
            signatures: vec![signature("crypto_LUKS", Some("1-2"))],
            names: vec!["bp-x-luks".to_owned()],
            ..Ours::default()
        };
        let mut examination = Examination {
            identity,
            findings: vec![
                finding(Class::InUse, upper(0, "bp-x-luks")),
                finding(Class::InUse, Some(Evidence::Exclusive)),
                finding(Class::InUse, Some(Evidence::Listed(Owner::Mapping("bp-x-luks".to_owned())))),
                finding(Class::Holds, Some(Evidence::Signature(signature("crypto_LUKS", Some("12"))))),
            ],
            partitions: Vec::new(),
        };
        assert!(ours.strange(&examination).is_empty() && ours.shows_on(&examination));
        for (class, evidence) in [
            (Class::InUse, None),
            (Class::Unknown, None),
            (Class::InUse, Some(Evidence::Mount("/home".to_owned()))),
            (Class::Holds, Some(Evidence::Signature(signature("crypto_LUKS", Some("13"))))),
        ] {
            examination.findings.push(finding(class, evidence));
            let strange = ours.strange(&examination);
            assert!(strange.contains(&examination.findings.last().unwrap()), "{strange:?}");
            examination.findings.pop();
        }
        // What is open on the drive itself says nothing of what lies on a partition of it.
        let nameless = |node: &str| Objection {
            evidence: Some(Evidence::Signature(signature("DM_integrity", None))),
            ..Objection::new(Class::Holds, node, "x", "")
        };
        let ours = Ours { signatures: vec![signature("DM_integrity", None)], ..ours };
        for (node, is_strange) in [("/dev/a", false), ("/dev/a2", true)] {
            let examination = Examination {
                findings: vec![finding(Class::InUse, upper(0, "bp-x-luks")), nameless(node)],
                ..examination.clone()
            };
            assert_eq!(!ours.strange(&examination).is_empty(), is_strange, "{node}");
        }
        let ours = Ours { signatures: vec![signature("crypto_LUKS", Some("1-2"))], ..ours };
        // Somebody else's mapping on it, and the claim is no longer explained.
        examination.findings.push(finding(Class::InUse, upper(1, "theirs")));
        assert_eq!(ours.strange(&examination).len(), 2);
        assert!(!Ours::default().shows_on(&examination));
    }
}
