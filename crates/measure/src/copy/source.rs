//! The directory that files are copied from, on a stack that was built for it.

use host::{Host, HostError};
use terms::Cmd;

use crate::error::MeasureError;

/// Where files are copied from. The tree is written there, and what is mounted there is mounted anew before each copy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CopySource {
    directory: String,
    /// Which file system it is in; `None` where nobody else could put another in its place.
    is: Option<String>,
}

impl CopySource {
    /// A directory of a stack that was just built.
    ///
    /// # Errors
    /// Where the machine cannot be asked.
    pub fn built(host: &dyn Host, directory: String) -> Result<Self, HostError> {
        let is = if host.is_throwaway() { None } else { Some(file_system(host, &directory)?) };
        Ok(Self { directory, is })
    }

    /// Where it is.
    #[must_use]
    pub fn directory(&self) -> &str {
        &self.directory
    }

    /// Refuses another file system than that of then: somebody may have mounted theirs there, or unmounted this one.
    ///
    /// # Errors
    /// [`MeasureError::Replaced`].
    pub(super) fn check(&self, host: &dyn Host) -> Result<(), MeasureError> {
        match &self.is {
            Some(is) if file_system(host, &self.directory).ok().as_ref() != Some(is) => {
                Err(MeasureError::Replaced { target: self.directory.clone() })
            }
            _ => Ok(()),
        }
    }
}

/// Identifier and kind of the file system that a directory is in (stat(1), statfs(2)). Unlike the number of its device it
/// stays the same when btrfs or ZFS is mounted anew.
fn file_system(host: &dyn Host, directory: &str) -> Result<String, HostError> {
    Ok(host.run_ok(&Cmd::new(["stat", "--file-system", "--format=%i %t", "--", directory]))?.text())
}

#[cfg(test)]
mod tests {
    use host::Local;
    use terms::record::CellKey;
    use terms::workload::{FileClass, FileTree, Pattern};
    use terms::{Bytes, MeasurePolicy, Name, Nanos, Workload};

    use super::*;
    use crate::{CellRequest, Filled, Writable};

    #[test]
    fn nothing_is_copied_from_another_file_system_than_was_built() {
        let (here, host) = (tempfile::tempdir().unwrap(), Local::new());
        let path = |name: &str| here.path().join(name).to_string_lossy().into_owned();
        std::fs::create_dir(path("source")).unwrap();
        let built = CopySource::built(&host, path("source")).unwrap();
        built.check(&host).unwrap();
        let mounted_over = CopySource { is: Some("another".to_owned()), ..built.clone() };
        let tree = FileTree {
            total: Bytes::mib(1),
            sizes: vec![FileClass { size: Bytes::kib(64), per_mille: 1000 }],
            source: None,
            goes: 1,
        };
        let on = Writable::directory(path("target"));
        let (argv, text) = (Vec::new(), String::new);
        let filled =
            Filled { on, span: Bytes(0), is: None, took: Nanos(0), argv, job: text(), output: text(), version: text() };
        let request = CellRequest {
            key: CellKey { round: 1, stack: "s".into(), workload: "w".into() },
            workload: &Workload::new(Name::new("w").unwrap(), Pattern::Read, Bytes(4096)),
            policy: &MeasurePolicy::default(),
            filled: &filled,
            nodes: &[],
            rate: None,
            source: Some(&mounted_over),
            address: None,
            others: &[],
            resyncs: &[],
            longer: None,
            watch: &|_, _| (),
            drives: &[],
            seed: 1,
            started: String::new(),
        };
        let measured = crate::copy::measure(&host, &request, &tree);
        assert!(matches!(measured, Err(MeasureError::Replaced { .. })), "{measured:?}");
        assert_eq!(std::fs::read_dir(path("source")).unwrap().count(), 0, "nothing was written there");
        // It was taken away.
        std::fs::remove_dir(path("source")).unwrap();
        assert!(matches!(built.check(&host), Err(MeasureError::Replaced { .. })));
    }
}
