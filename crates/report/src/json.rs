//! JSON: one pretty document with a schema and a version, units in the keys, and a reason beside everything missing.

use serde::ser::SerializeSeq as _;
use serde::{Serialize, Serializer};
use terms::StackFeatureChecks;
use terms::finding::{ControlFinding, Curve, Findings, ImitationFinding, LayerCost, PartFinding, Scorecard};
use terms::inventory::Inventory;
use terms::preflight::DriveCheck;
use terms::record::{GuardNote, Probe, Provenance, Sample};
use terms::spelling::spell;

use crate::columns::{BuildRow, CellRow, build_rows, builds, cell_rows, cells, comparison_rows, comparisons};
use crate::confidence::{self, Confidence};
use crate::grid::Grid;
use crate::prose;
use crate::table::{Column, RowObject};

/// What the document says it is.
pub const JSON_SCHEMA: &str = "bedplate.report";

/// Its version. Keys are never renamed or dropped within one.
pub const JSON_VERSION: u32 = 1;

/// The findings as one JSON document. In each row of `cells` and `builds` every key is always there; what is missing
/// is null, and `missing` beside it tells why; `imitation` stands only where a tool was imitated. fio's latency bins stay in the record.
#[must_use]
pub fn json(findings: &Findings) -> String {
    let grid = Grid::without_points(findings);
    let document = Document {
        schema: JSON_SCHEMA,
        version: JSON_VERSION,
        label: prose::label(findings),
        answer: prose::answer(&grid).into_iter().map(|sentence| sentence.text).collect(),
        confidence: confidence::of(&grid),
        provenance: &findings.provenance,
        machine: &findings.inventory,
        cells: Cells(findings),
        builds: Builds(findings),
        comparisons: Comparisons(findings),
        controls: &findings.controls,
        layers: &findings.layers,
        curves: findings.curves.iter().map(without_bins).collect(),
        predicted: findings.predicted.as_ref(),
        preflight: &findings.preflight,
        feature_checks: &findings.feature_checks,
        not_checked: &findings.not_checked,
    };
    let mut text = serde_json::to_string_pretty(&document)
        .expect("every map has text for keys and every number is finite or becomes null");
    text.push('\n');
    spell(&text).into_owned()
}

/// The document.
#[derive(Serialize)]
struct Document<'a> {
    schema: &'static str,
    version: u32,
    label: Option<String>,
    answer: Vec<String>,
    confidence: Option<Confidence>,
    provenance: &'a Provenance,
    machine: &'a Inventory,
    cells: Cells<'a>,
    builds: Builds<'a>,
    comparisons: Comparisons<'a>,
    #[serde(rename = "anchors")]
    controls: &'a [ControlFinding],
    layers: &'a [LayerCost],
    curves: Vec<Curve>,
    #[serde(rename = "foretold")]
    predicted: Option<&'a Scorecard>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    preflight: &'a [DriveCheck],
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    #[serde(rename = "trials")]
    feature_checks: &'a [StackFeatureChecks],
    not_checked: &'a [String],
}

/// Rows of cells.
struct Cells<'a>(&'a Findings);

/// Rows of builds.
struct Builds<'a>(&'a Findings);

/// Rows of comparisons.
struct Comparisons<'a>(&'a Findings);

/// A curve without fio's bins of latency, which stay in the record.
fn without_bins(curve: &Curve) -> Curve {
    let mut curve = curve.clone();
    for latency in curve.points.iter_mut().filter_map(|point| point.latency.as_mut()) {
        latency.bins.clear();
    }
    curve
}

/// A row of cells with what has no column: the witnesses of guards, throughput over time, and what another tool would
/// have shown in full.
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
            #[serde(skip_serializing_if = "<[_]>::is_empty")]
            probes: &'a [Probe],
            #[serde(skip_serializing_if = "<[_]>::is_empty")]
            parts: &'a [PartFinding],
            #[serde(skip_serializing_if = "Option::is_none")]
            imitation: Option<&'a ImitationFinding>,
        }
        let row = RowObject { columns: self.columns, row: self.row };
        let guards = self.row.any.map_or(&[][..], |finding| &finding.guards);
        let ran = self.row.any.filter(|_| self.row.finding.is_some() || self.row.verdict == "unsteady");
        let samples = ran.map_or(&[][..], |finding| &finding.samples);
        let imitation = self.row.any.and_then(|finding| finding.imitation.as_ref());
        let probes = ran.map_or(&[][..], |finding| &finding.probes);
        let parts = ran.map_or(&[][..], |finding| &finding.parts);
        Flat { row, guards, samples, probes, parts, imitation }.serialize(serializer)
    }
}

impl Serialize for Builds<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let columns = builds();
        let rows: Vec<BuildRow> = build_rows(self.0);
        serializer.collect_seq(rows.iter().map(|row| RowObject { columns: &columns, row }))
    }
}

impl Serialize for Comparisons<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let columns = comparisons();
        let rows = comparison_rows(self.0);
        serializer.collect_seq(rows.iter().map(|row| RowObject { columns: &columns, row }))
    }
}
