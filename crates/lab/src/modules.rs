//! Kernel modules of one release: which files, in which order.

use std::collections::{BTreeMap, BTreeSet};

use host::{Host, HostError};

/// Modules of a kernel release, as depmod wrote them down.
#[derive(Debug, Clone, Default)]
pub(crate) struct Modules {
    directory: String,
    /// Module name to its file and the files it needs, nearest last.
    files: BTreeMap<String, (String, Vec<String>)>,
    built_in: BTreeSet<String>,
}

/// `kernel/drivers/md/dm-crypt.ko.xz` is module `dm_crypt`.
pub(crate) fn name_of(file: &str) -> String {
    let base = file.rsplit('/').next().unwrap_or(file);
    base.split(".ko").next().unwrap_or(base).replace('-', "_")
}

impl Modules {
    /// Reads `modules.dep` and `modules.builtin` of a release.
    pub(crate) fn read(host: &dyn Host, release: &str) -> Result<Self, HostError> {
        let directory = format!("/lib/modules/{release}");
        let dependencies = host.read_text(&format!("{directory}/modules.dep"))?;
        let built_in = host.read_text(&format!("{directory}/modules.builtin"))?;
        Ok(Self::parse(&directory, &dependencies, &built_in))
    }

    fn parse(directory: &str, dependencies: &str, built_in: &str) -> Self {
        let files = dependencies.lines().filter_map(|line| line.split_once(':')).map(|(file, needs)| {
            let needs = needs.split_whitespace().map(ToOwned::to_owned).collect();
            (name_of(file), (file.to_owned(), needs))
        });
        Self {
            directory: directory.to_owned(),
            files: files.collect(),
            built_in: built_in.lines().map(name_of).collect(),
        }
    }

    /// Is it there, as a file or in the kernel?
    pub(crate) fn has(&self, module: &str) -> bool {
        let name = module.replace('-', "_");
        self.files.contains_key(&name) || self.built_in.contains(&name)
    }

    /// Absolute paths of the files to insert for these modules, each after what it needs, each once.
    pub(crate) fn order(&self, modules: &[&str]) -> Vec<String> {
        let mut order: Vec<String> = Vec::new();
        for module in modules {
            let Some((file, needs)) = self.files.get(&module.replace('-', "_")) else { continue };
            // depmod lists what is needed with the deepest last.
            for file in needs.iter().rev().chain([file]) {
                let path = format!("{}/{file}", self.directory);
                if !order.contains(&path) {
                    order.push(path);
                }
            }
        }
        order
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modules_come_after_what_they_need() {
        let dependencies = "kernel/fs/9p/9p.ko: kernel/fs/netfs/netfs.ko kernel/net/9p/9pnet.ko\n\
                            kernel/fs/netfs/netfs.ko:\nkernel/net/9p/9pnet.ko.xz:\n";
        let modules = Modules::parse("/lib/modules/1", dependencies, "kernel/drivers/virtio/virtio_pci.ko\n");
        assert!(modules.has("virtio-pci") && modules.has("9p") && !modules.has("zfs"));
        assert_eq!(
            modules.order(&["9p", "netfs", "virtio_pci"]),
            [
                "/lib/modules/1/kernel/net/9p/9pnet.ko",
                "/lib/modules/1/kernel/fs/netfs/netfs.ko",
                "/lib/modules/1/kernel/fs/9p/9p.ko"
            ]
        );
    }

    #[test]
    fn names_lose_path_ending_and_dashes() {
        assert_eq!(name_of("kernel/drivers/md/dm-crypt.ko.zst"), "dm_crypt");
    }
}
