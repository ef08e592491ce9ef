//! Which kernel a guest runs: the one that is asked for, or the newest on this machine that can share a root.

use host::{Host, HostError, Local, packages};

use crate::LabError;
use crate::modules::Modules;

/// What a guest cannot come up without.
pub(crate) const BOOT_MODULES: [&str; 7] =
    ["virtio_pci", "virtio_console", "9pnet_virtio", "9p", "overlay", "nvme", "virtio_ring"];

/// A kernel of this machine.
#[derive(Debug, Clone)]
pub struct GuestKernel {
    /// Release, such as `6.1.0-56-amd64`.
    pub release: String,
    /// The image's path.
    pub image: String,
    pub(crate) modules: Modules,
}

impl GuestKernel {
    /// Has it this module, built in or as a file?
    #[must_use]
    pub fn has_module(&self, name: &str) -> bool {
        self.modules.has(name)
    }
}

/// Releases of this machine's kernels that these names mean, in their order.
///
/// # Errors
/// [`LabError::Missing`] where one means none, [`LabError::Ambiguous`] where it means several.
pub fn releases(asked: &[String]) -> Result<Vec<String>, LabError> {
    let host = Local::new();
    let kernels = guests(&host, &mut Vec::new())?;
    asked.iter().map(|asked| Ok(meant(&host, &kernels, asked)?.release.clone())).collect()
}

/// The kernel that has most of the `wanted` modules, the newest among equals, or the one that is `asked` for.
///
/// # Errors
/// [`LabError::Missing`] with the package that brings one, [`LabError::Ambiguous`].
pub(crate) fn choose(host: &dyn Host, wanted: &[String], asked: Option<&str>) -> Result<GuestKernel, LabError> {
    let mut lacking = Vec::new();
    let kernels = guests(host, &mut lacking)?;
    if let Some(asked) = asked {
        return meant(host, &kernels, asked).cloned();
    }
    let rank = |kernel: &GuestKernel| {
        (wanted.iter().filter(|module| kernel.has_module(module)).count(), version_key(&kernel.release))
    };
    kernels.into_iter().max_by_key(rank).ok_or_else(|| LabError::Missing {
        what: if lacking.is_empty() {
            "no readable kernel with its modules under /boot and /lib/modules".to_owned()
        } else {
            format!("no kernel that can share this root ({})", lacking.join("; "))
        },
        remedy: package(host, "kernel"),
    })
}

/// The one kernel of that release, or whose release begins so.
fn meant<'k>(host: &dyn Host, kernels: &'k [GuestKernel], asked: &str) -> Result<&'k GuestKernel, LabError> {
    if let Some(kernel) = kernels.iter().find(|kernel| kernel.release == asked) {
        return Ok(kernel);
    }
    let fits: Vec<&GuestKernel> = kernels.iter().filter(|kernel| begins_with(&kernel.release, asked)).collect();
    let names = |of: &mut dyn Iterator<Item = &'k GuestKernel>| -> Vec<String> {
        let mut names: Vec<String> = of.map(|kernel| kernel.release.clone()).collect();
        names.sort_by_key(|release| version_key(release));
        names
    };
    match fits.as_slice() {
        [kernel] => Ok(kernel),
        [] => {
            let there = names(&mut kernels.iter());
            let what = format!("no kernel {asked} is installed that can be a guest's; there are: {}", there.join(", "));
            let other = there.last().map(|other| {
                format!("use `--kernel {other}`, or install another; on Debian 12 `scripts/install kernels` does")
            });
            Err(LabError::Missing { what, remedy: other.unwrap_or_else(|| package(host, "kernel")) })
        }
        several => {
            let releases = names(&mut several.iter().copied());
            Err(LabError::Ambiguous { asked: asked.to_owned(), releases })
        }
    }
}

/// Kernels that can be a guest's.
fn guests(host: &dyn Host, lacking: &mut Vec<String>) -> Result<Vec<GuestKernel>, HostError> {
    let mut kernels = Vec::new();
    for kernel in installed(host, lacking)? {
        match BOOT_MODULES.iter().find(|module| !kernel.has_module(module)) {
            Some(module) => lacking.push(format!("{} has no {module}", kernel.release)),
            None => kernels.push(kernel),
        }
    }
    Ok(kernels)
}

/// Kernels whose image can be read and whose modules are there.
fn installed(host: &dyn Host, lacking: &mut Vec<String>) -> Result<Vec<GuestKernel>, HostError> {
    let mut found = Vec::new();
    for release in list(host, "/lib/modules")? {
        let images = [format!("/boot/vmlinuz-{release}"), format!("/lib/modules/{release}/vmlinuz")];
        for image in images {
            if host.exists(&image)? && !host.run(&terms::Cmd::new(["test", "-r", &image]))?.ok() {
                lacking.push(format!("{image} is there, and only root may read it: sudo chmod a+r {image}"));
                break;
            }
            if host.exists(&image)? {
                if let Ok(modules) = Modules::read(host, &release) {
                    found.push(GuestKernel { release: release.clone(), image, modules });
                }
                break;
            }
        }
    }
    Ok(found)
}

fn list(host: &dyn Host, directory: &str) -> Result<Vec<String>, HostError> {
    host.list(directory).or_else(|error| if error.is_not_found() { Ok(Vec::new()) } else { Err(error) })
}

/// Is it that release, or one of that version? 6.1 is no beginning of 6.12.
fn begins_with(release: &str, asked: &str) -> bool {
    release.strip_prefix(asked).is_some_and(|rest| {
        !(rest.starts_with(|c: char| c.is_ascii_digit()) && asked.ends_with(|c: char| c.is_ascii_digit()))
    })
}

/// Numbers of a release in order, so that 6.10 comes after 6.9.
fn version_key(release: &str) -> Vec<u64> {
    release.split(|c: char| !c.is_ascii_digit()).filter_map(|part| part.parse().ok()).collect()
}

/// The command that brings a thing on this machine.
pub(crate) fn package(host: &dyn Host, thing: &str) -> String {
    packages::install_line(packages::family(host).unwrap_or(None), &[thing])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_is_a_beginning_up_to_a_whole_number() {
        for (release, asked, is) in [
            ("6.12.90+deb12-amd64", "6.12", true),
            ("6.1.0-56-amd64", "6.1", true),
            ("6.12.90+deb12-amd64", "6.1", false),
            ("6.1.0-56-amd64", "6.1.0-5", false),
            ("6.1.0-56-amd64", "6.1.0-56-amd64", true),
            ("6.1.0-56-amd64", "6.2", false),
        ] {
            assert_eq!(begins_with(release, asked), is, "{release} {asked}");
        }
    }

    #[test]
    fn a_name_means_one_kernel_or_says_which_there_are() {
        let kernel = |release: &str| GuestKernel {
            release: release.to_owned(),
            image: String::new(),
            modules: Modules::default(),
        };
        let kernels = ["6.12.90+deb12-amd64", "6.1.0-9-amd64", "6.1.0-56-amd64"].map(kernel);
        let said = |asked: &str| {
            meant(&Local::new(), &kernels, asked)
                .map_or_else(|error| error.to_string(), |kernel| kernel.release.clone())
        };
        assert_eq!(said("6.12"), "6.12.90+deb12-amd64");
        assert_eq!(said("6.1.0-9-amd64"), "6.1.0-9-amd64");
        assert_eq!(said("6.1"), "`6.1` is the beginning of several kernels: 6.1.0-9-amd64, 6.1.0-56-amd64");
        assert!(
            said("6.2").ends_with("there are: 6.1.0-9-amd64, 6.1.0-56-amd64, 6.12.90+deb12-amd64"),
            "{}",
            said("6.2")
        );
    }

    #[test]
    fn releases_are_compared_by_number() {
        assert!(version_key("6.10.0-1-amd64") > version_key("6.9.12-3-amd64"));
        assert!(version_key("6.1.0-56-amd64") > version_key("6.1.0-9-amd64"));
    }
}
