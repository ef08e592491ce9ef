//! How predictions fared, by layer, workload and depth, the worst first; and of each figure that is far off, the smallest
//! stack below it that is off as well.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde::Serialize;
use terms::finding::{Findings, Scorecard};
use terms::prediction::{APART, Estimate, Standing};
use terms::record::StackEntry;
use terms::workload::Workload;

/// A figure as far off as most people would forgive.
const NEAR: f64 = 0.3;
/// Figures that are shown one by one.
const SHOWN: usize = 15;

/// A figure that was predicted and measured.
#[derive(Debug, Clone, Serialize)]
pub(super) struct Compared<'a> {
    stack: String,
    workload: &'a str,
    #[serde(rename = "predicted_bytes_per_second")]
    predicted: Estimate,
    #[serde(rename = "measured_bytes_per_second")]
    measured: f64,
    limit: Option<&'a str>,
    /// The smallest stack below this one that is at least half as far off, on a logarithmic scale, and to the same side.
    smallest: Option<String>,
    #[serde(skip)]
    entry: &'a StackEntry,
    #[serde(skip)]
    work: &'a Workload,
}

/// How predictions of one kind fared.
#[derive(Debug, Serialize)]
pub(super) struct Share {
    of: String,
    #[serde(flatten)]
    standing: Standing,
    /// Share of figures that are less than 30 % off.
    near: f64,
    pairs: usize,
    in_order: usize,
}

/// A stack over all workloads: geometric means, which is how `advise` weighs them.
#[derive(Debug, Clone, Serialize)]
pub(super) struct Whole<'a> {
    name: &'a str,
    #[serde(rename = "predicted_bytes_per_second")]
    predicted: f64,
    #[serde(rename = "measured_bytes_per_second")]
    measured: f64,
}

/// All of it.
#[derive(Debug, Serialize)]
pub(super) struct Tally<'a> {
    all: Option<Share>,
    /// Stacks that have a figure under every workload, the one predicted to be fastest first.
    stacks: Vec<Whole<'a>>,
    layers: Vec<Share>,
    workloads: Vec<Share>,
    depths: Vec<Share>,
    /// Every figure, the one that is farthest off first.
    cells: Vec<Compared<'a>>,
    /// Cells that were predicted and have no figure.
    without: usize,
}

impl Compared<'_> {
    fn off(&self) -> f64 {
        (self.measured / self.predicted.value).ln()
    }

    fn layers(&self) -> Vec<String> {
        let mut titles: Vec<String> = self.entry.nodes.iter().map(|node| node.layer.title()).collect();
        titles.sort();
        titles.dedup();
        titles
    }

    fn workload(&self) -> String {
        Workload { depth: 1, jobs: 1, ..self.work.clone() }.describe() + &self.work.flushes()
    }

    fn depth(&self) -> String {
        format!("{:>3} under way", u64::from(self.work.depth) * u64::from(self.work.jobs))
    }
}

/// The layers from the drives upwards, and the drives.
fn words(entry: &StackEntry) -> String {
    let drives: std::collections::BTreeSet<String> = entry
        .nodes
        .iter()
        .flat_map(|node| &node.on)
        .filter_map(|below| match below {
            terms::Ref::Drive(name) => Some(name.to_string()),
            terms::Ref::Layer(_) => None,
        })
        .collect();
    let kind = if drives.iter().any(|name| name.starts_with('f')) { "flash" } else { "ram" };
    let mut layers: Vec<String> = Vec::new();
    for alike in entry.nodes.chunk_by(|one, next| one.layer == next.layer) {
        let title = alike[0].layer.title();
        layers.push(if alike.len() > 1 { format!("{} {title}", alike.len()) } else { title });
    }
    format!("{} on {} {kind}", layers.join(" < "), drives.len())
}

/// Sets predictions beside what was measured.
pub(super) fn tally<'a>(card: &'a Scorecard, findings: &'a Findings) -> Tally<'a> {
    let provenance = &findings.provenance;
    let mut cells: Vec<Compared<'a>> = Vec::new();
    for score in &card.cells {
        let entry = provenance.stacks.iter().find(|entry| entry.slug == score.stack);
        let work = provenance.workloads.iter().find(|work| work.name.as_str() == score.workload);
        let (Some(measured), Some(entry), Some(work)) = (score.measured, entry, work) else { continue };
        cells.push(Compared {
            stack: words(entry),
            workload: &score.workload,
            predicted: score.predicted,
            measured,
            limit: score.bottleneck.as_deref(),
            smallest: None,
            entry,
            work,
        });
    }
    cells.sort_by(|a, b| b.off().abs().total_cmp(&a.off().abs()));
    let smallest: Vec<Option<String>> = cells.iter().map(|cell| smallest(cell, &cells)).collect();
    for (cell, smallest) in cells.iter_mut().zip(smallest) {
        cell.smallest = smallest;
    }
    Tally {
        all: share("all", &cells.iter().collect::<Vec<_>>()),
        stacks: wholes(&cells, provenance.workloads.len()),
        layers: shares(&cells, Compared::layers),
        workloads: shares(&cells, |cell| vec![cell.workload()]),
        depths: shares(&cells, |cell| vec![cell.depth()]),
        without: card.cells.len() - cells.len(),
        cells,
    }
}

fn wholes<'a>(cells: &[Compared<'a>], workloads: usize) -> Vec<Whole<'a>> {
    let mut groups: BTreeMap<&'a str, Vec<&Compared<'a>>> = BTreeMap::new();
    for cell in cells {
        groups.entry(&cell.entry.name).or_default().push(cell);
    }
    groups.retain(|_, cells| cells.len() == workloads);
    let mean = |cells: &[&Compared<'a>], of: fn(&Compared<'a>) -> f64| {
        (cells.iter().map(|cell| of(cell).ln()).sum::<f64>() / fraction(cells.len(), 1)).exp()
    };
    let whole = |(name, cells): (&'a str, Vec<_>)| Whole {
        name,
        predicted: mean(&cells, |cell| cell.predicted.value),
        measured: mean(&cells, |cell| cell.measured),
    };
    let mut all: Vec<Whole<'a>> = groups.into_iter().map(whole).collect();
    all.sort_by(|a, b| b.predicted.total_cmp(&a.predicted));
    all
}

fn smallest(of: &Compared<'_>, cells: &[Compared<'_>]) -> Option<String> {
    let below = |other: &&Compared<'_>| {
        other.workload == of.workload
            && other.entry.nodes.len() < of.entry.nodes.len()
            && of.entry.nodes.starts_with(&other.entry.nodes)
            && other.off() * of.off().signum() >= of.off().abs() / 2.0
    };
    cells.iter().filter(below).min_by_key(|other| other.entry.nodes.len()).map(|other| other.stack.clone())
}

fn shares<'a>(cells: &[Compared<'a>], kinds: impl Fn(&Compared<'a>) -> Vec<String>) -> Vec<Share> {
    let mut groups: BTreeMap<String, Vec<&Compared<'a>>> = BTreeMap::new();
    for cell in cells {
        for kind in kinds(cell) {
            groups.entry(kind).or_default().push(cell);
        }
    }
    let mut all: Vec<Share> = groups.iter().filter_map(|(of, cells)| share(of, cells)).collect();
    all.sort_by(|a, b| b.standing.median_error.total_cmp(&a.standing.median_error));
    all
}

fn share(of: &str, cells: &[&Compared<'_>]) -> Option<Share> {
    let pairs: Vec<(Estimate, f64)> = cells.iter().map(|cell| (cell.predicted, cell.measured)).collect();
    let standing = analyse::standing(&pairs, 1)?;
    let near = cells.iter().filter(|cell| (cell.measured / cell.predicted.value - 1.0).abs() <= NEAR).count();
    let mut works: BTreeMap<&str, Vec<(f64, f64)>> = BTreeMap::new();
    for cell in cells {
        works.entry(cell.workload).or_default().push((cell.predicted.value, cell.measured));
    }
    let (pairs, in_order) = works.values().map(|cells| ordered(cells)).fold((0, 0), |a, b| (a.0 + b.0, a.1 + b.1));
    Some(Share { of: of.to_owned(), standing, near: fraction(near, cells.len()), pairs, in_order })
}

/// Of what was predicted and measured: pairs that are predicted to be apart, and those of them that were measured in that order.
fn ordered(figures: &[(f64, f64)]) -> (usize, usize) {
    let (mut pairs, mut in_order) = (0, 0);
    for (at, one) in figures.iter().enumerate() {
        for other in &figures[at + 1..] {
            let ratio = one.0 / other.0;
            if ratio.max(1.0 / ratio) >= APART {
                pairs += 1;
                in_order += usize::from((ratio > 1.0) == (one.1 > other.1));
            }
        }
    }
    (pairs, in_order)
}

fn fraction(part: usize, whole: usize) -> f64 {
    u32::try_from(part).map_or(0.0, f64::from) / u32::try_from(whole.max(1)).map_or(1.0, f64::from)
}

impl Tally<'_> {
    pub(super) fn is_empty(&self) -> bool {
        self.cells.is_empty()
    }

    /// Stacks over all workloads, for a terminal.
    pub(super) fn stacks(&self) -> String {
        let mut out = format!("{:>9} {:>9}  LAYOUT, MEAN OVER WORKLOADS\n", "PREDICTED", "MEASURED");
        let Some(first) = self.stacks.first() else { return out };
        for one in &self.stacks {
            let [said, measured] = [one.predicted / first.predicted, one.measured / first.measured]
                .map(|share| format!("{:.0} %", share * 100.0));
            let _ = writeln!(out, "{said:>9} {measured:>9}  {}", one.name);
        }
        let figures: Vec<(f64, f64)> = self.stacks.iter().map(|one| (one.predicted, one.measured)).collect();
        let (pairs, in_order) = ordered(&figures);
        let _ = writeln!(out, "\n{in_order} of {pairs} pairs of layouts in order\n");
        out
    }

    /// Tables for a terminal.
    pub(super) fn text(&self) -> String {
        let mut out = String::new();
        for (title, shares) in [("LAYER", &self.layers), ("WORKLOAD", &self.workloads), ("DEPTH", &self.depths)] {
            let _ = writeln!(
                out,
                "{title:<28} {:>6} {:>7} {:>12} {:>8} {:>10}",
                "CELLS", "MEDIAN", "WITHIN 30 %", "IN 90 %", "IN ORDER"
            );
            shares.iter().for_each(|share| line(&mut out, share));
            out.push('\n');
        }
        let _ = writeln!(out, "{:>11} {:>11}  STACK, WORKLOAD", "PREDICTED", "MEASURED");
        for cell in self.cells.iter().take(SHOWN) {
            let [said, measured] = [cell.predicted.value, cell.measured].map(|rate| format!("{:.1} MB/s", rate / 1e6));
            let inside = if cell.predicted.ninety.holds(cell.measured) { "" } else { ", outside" };
            let from = cell.smallest.as_ref().map_or_else(String::new, |smallest| format!("; so is {smallest}"));
            let _ = writeln!(out, "{said:>11} {measured:>11}  {}, {}{inside}{from}", cell.stack, cell.work.describe());
        }
        if let Some(all) = &self.all {
            let _ = writeln!(
                out,
                "\n{} cells: median error {:.1} %, {:.0} % within 30 %, {} of {} pairs in order, {:.0} % inside 90 % intervals, {:.0} % inside 50 %",
                all.standing.figures,
                all.standing.median_error * 100.0,
                all.near * 100.0,
                all.in_order,
                all.pairs,
                all.standing.in_ninety * 100.0,
                all.standing.in_half * 100.0,
            );
        }
        if self.without > 0 {
            let _ = writeln!(out, "{} cells were predicted and have no figure", self.without);
        }
        out
    }
}

fn line(out: &mut String, share: &Share) {
    let percent = |of: f64| format!("{:.0} %", of * 100.0);
    let _ = writeln!(
        out,
        "{:<28} {:>6} {:>7} {:>12} {:>8} {:>10}",
        share.of,
        share.standing.figures,
        percent(share.standing.median_error),
        percent(share.near),
        percent(share.standing.in_ninety),
        format!("{}/{}", share.in_order, share.pairs)
    );
}
