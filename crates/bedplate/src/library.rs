//! The studies that come with the program, in the program: they are found by name where no file of that name is.

use std::path::Path;

use crate::exit::Failure;

/// A study by its name, and its text.
pub(crate) type Known = (&'static str, &'static str);

macro_rules! studies {
    ($($name:literal),* $(,)?) => {
        [$(($name, include_str!(concat!("../../../studies/", $name, ".toml")))),*]
    };
}

/// All of them, the one to begin with first.
pub(crate) const ALL: [Known; 10] = studies![
    "quickstart",
    "foretold",
    "hard-disks",
    "long-term-storage",
    "nvme-raid-encryption",
    "pcie-switch",
    "remote-flash",
    "remote-path-lost",
    "remote-two-hosts",
    "workstation",
];

/// The text of the study that a path names, if it is the bare name of one: with its ending or without, or as it lies in
/// the sources.
pub(crate) fn text(path: &Path) -> Option<&'static str> {
    let name = bare(path)?;
    ALL.iter().find(|known| known.0 == name).map(|known| known.1)
}

/// `quickstart`, of that, `quickstart.toml` or `studies/quickstart.toml`.
fn bare(path: &Path) -> Option<&str> {
    let path = path.strip_prefix("studies").unwrap_or(path);
    let name = path.to_str()?;
    let name = name.strip_suffix(".toml").unwrap_or(name);
    (!name.contains('/')).then_some(name)
}

/// What was likely meant by a study that is neither a file nor ours.
pub(crate) fn hint(path: &Path) -> String {
    let near = bare(path).map(|name| spec::did_you_mean(name, ALL.map(|known| known.0))).unwrap_or_default();
    format!("{near}`bedplate studies` lists those that come with the program")
}

/// What was likely meant by the name of a profile that is none.
pub(crate) fn no_profile(name: &str) -> Failure {
    let all = spec::profile::all();
    let near = spec::did_you_mean(name, all.iter().map(|profile| profile.name));
    Failure::told(format!("error: no profile is called `{name}`\n\nhint: {near}`bedplate profiles` lists them"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_study_of_the_sources_is_in_the_program() {
        let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../studies");
        let files = std::fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path());
        let mut names: Vec<String> =
            files.map(|path| path.file_stem().unwrap().to_string_lossy().into_owned()).collect();
        let mut known: Vec<String> = ALL.iter().map(|known| known.0.to_owned()).collect();
        names.sort();
        known.sort();
        assert_eq!(names, known);
        for (name, text) in ALL {
            let (design, notes) = spec::parse(text);
            assert!(design.is_some(), "{name}: {notes:?}");
        }
    }

    #[test]
    fn studies_are_known_by_their_bare_names_only() {
        for name in ["quickstart", "quickstart.toml", "studies/quickstart.toml"] {
            assert!(text(Path::new(name)).is_some(), "{name}");
        }
        for name in ["./quickstart", "/tmp/quickstart.toml", "other/quickstart", "quikstart"] {
            assert!(text(Path::new(name)).is_none(), "{name}");
        }
        assert!(hint(Path::new("quikstart")).contains("`quickstart`"));
        assert!(!hint(Path::new("/tmp/quikstart")).contains("did you mean"));
    }
}
