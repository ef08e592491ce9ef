//! JSON: one pretty document with a schema and a version, units in the keys, and a reason beside everything missing.

use serde::ser::SerializeSeq as _;
use serde::{Serialize, Serializer};
use terms::finding::Findings;
use terms::inventory::Inventory;
use terms::record::{GuardNote, Provenance, Sample};

use crate::columns::{BuildRow, CellRow, build_rows, builds, cell_rows, cells};
use crate::prose;
use crate::table::{Column, RowObject};

/// What the document says it is.
pub const JSON_SCHEMA: &str = "bedplate.report";

/// Its version. Keys are never renamed or dropped within one.
pub const JSON_VERSION: u32 = 1;

/// The findings as one JSON document. In each row of `cells` and `builds` every key is always there; what is missing
/// is null, and `missing` beside it tells why. fio's latency bins stay in the record.
#[must_use]
pub fn json(findings: &Findings) -> String {
    let document = Document {
        schema: JSON_SCHEMA,
        version: JSON_VERSION,
        label: prose::label(findings),
        provenance: &findings.provenance,
        machine: &findings.inventory,
        cells: Cells(findings),
        builds: Builds(findings),
        not_checked: &findings.not_checked,
    };
    let mut text = serde_json::to_string_pretty(&document)
        .expect("every map has text for keys and every number is finite or becomes null");
    text.push('\n');
    text
}

/// The document.
#[derive(Serialize)]
struct Document<'a> {
    schema: &'static str,
    version: u32,
    label: Option<String>,
    provenance: &'a Provenance,
    machine: &'a Inventory,
    cells: Cells<'a>,
    builds: Builds<'a>,
    not_checked: &'a [String],
}

/// Rows of cells.
struct Cells<'a>(&'a Findings);

/// Rows of builds.
struct Builds<'a>(&'a Findings);

/// A row of cells with what has no column: the witnesses of guards, and throughput over time.
struct FullCell<'a> {
    columns: &'a [Column<CellRow<'a>>],
    row: &'a CellRow<'a>,
}

impl Serialize for Cells<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let columns: Vec<_> = cells().into_iter().filter(|column| column.key != "guards").collect();
        let rows = cell_rows(self.0);
        let mut seq = serializer.serialize_seq(Some(rows.len()))?;
        for row in &rows {
            seq.serialize_element(&FullCell { columns: &columns, row })?;
        }
        seq.end()
    }
}

impl Serialize for FullCell<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Flat<'a> {
            #[serde(flatten)]
            row: RowObject<'a, CellRow<'a>>,
            guards: &'a [GuardNote],
            samples: &'a [Sample],
        }
        let row = RowObject { columns: self.columns, row: self.row };
        let guards = self.row.any.map_or(&[][..], |finding| &finding.guards);
        let samples = self.row.finding.map_or(&[][..], |finding| &finding.samples);
        Flat { row, guards, samples }.serialize(serializer)
    }
}

impl Serialize for Builds<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let columns = builds();
        let rows: Vec<BuildRow> = build_rows(self.0);
        serializer.collect_seq(rows.iter().map(|row| RowObject { columns: &columns, row }))
    }
}
