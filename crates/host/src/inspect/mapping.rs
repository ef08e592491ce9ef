//! Device-mapper mappings: `dmsetup table` and `dmsetup status`, and the LUKS headers under them.
//!
//! Keys never leave this file. `dmsetup` shows noughts in their place unless it is asked for them, and here even those
//! are cut out.

use std::collections::BTreeMap;

use terms::inventory::{LuksHeader, Mapping, Readout, Target};

use super::source::{Source, needed};
use super::{luks, table};

/// What the device mapper says of all mappings.
pub(super) struct Mapper {
    tables: Readout<BTreeMap<String, Vec<table::Line>>>,
    status: Readout<BTreeMap<String, Vec<table::Line>>>,
}

impl Mapper {
    /// Asks it.
    pub(super) fn ask(source: &Source) -> Self {
        let ask = |what: &str| source.said(&["dmsetup", what]).map(|text| table::by_mapping(&text));
        Self { tables: ask("table"), status: ask("status") }
    }

    /// The mapping of a block device, if it is one.
    pub(super) fn mapping(&self, source: &Source, directory: &str) -> Option<Mapping> {
        let told = |file: &str| source.told(&format!("{directory}/dm/{file}"));
        let name = told("name")?;
        let targets = self.targets(&name);
        let encrypted = targets.known().is_none_or(|targets| targets.iter().any(|target| target.kind == "crypt"));
        let uuid = told("uuid");
        let from_luks = uuid.as_ref().is_some_and(|uuid| uuid.starts_with("CRYPT-LUKS"));
        Some(Mapping {
            suspended: needed("dm/suspended", source.number::<u8>(&format!("{directory}/dm/suspended")))
                .map(|flag| flag == 1),
            luks: if encrypted && from_luks { header(source, directory) } else { Readout::Known(None) },
            uuid,
            targets,
            name,
        })
    }

    fn targets(&self, name: &str) -> Readout<Vec<Target>> {
        self.tables.as_ref().and_then(|tables| match tables.get(name) {
            None => Readout::unknown(format!("`dmsetup table` does not name `{name}`")),
            Some(lines) => {
                Readout::Known(lines.iter().enumerate().map(|(at, line)| self.target(name, at, line)).collect())
            }
        })
    }

    fn target(&self, name: &str, at: usize, line: &table::Line) -> Target {
        let status = self.status.as_ref().and_then(|all| match all.get(name).and_then(|lines| lines.get(at)) {
            Some(line) => Readout::Known(line.rest.clone()),
            None => Readout::unknown(format!("`dmsetup status` does not name `{name}`")),
        });
        Target {
            start_sectors: line.start,
            length_sectors: line.length,
            kind: line.kind.clone(),
            parameters: line.rest.clone(),
            meaning: table::meaning(line, &status),
            status,
        }
    }
}

/// The header on the device that the mapping stands on.
fn header(source: &Source, directory: &str) -> Readout<Option<LuksHeader>> {
    match source.listed(&format!("{directory}/slaves")).first() {
        Some(under) => luks::read(source, &format!("/dev/{under}")).map(Some),
        None => Readout::unknown("it does not say what it stands on"),
    }
}
