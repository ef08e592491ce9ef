//! What each of several hosts did that worked at once, and what it would have done alone.

use terms::finding::{CellFinding, Findings, HostFinding};
use terms::record::StackEntry;
use terms::workload::Workload;

use crate::answer::range;
use crate::listing::{Group, Listing, MISSING};
use crate::quantity;
use crate::style::Style;
use crate::width::Align;

/// Every cell of several hosts, a row for each of them; `None` where no cell was of several.
pub(crate) fn listing(findings: &Findings, style: &Style) -> Option<Listing> {
    let group = |workload: &Workload| Group {
        title: workload.title(),
        rows: findings.provenance.stacks.iter().flat_map(|entry| rows(findings, entry, workload, style)).collect(),
    };
    let listing = Listing {
        id: "hosts",
        title: "Several hosts at once".to_owned(),
        hint:
            "Each host worked on the same stack of drives of its own, at the same time. Their sum is the figure in all \
               other tables. Alone is the same work of one host, where it was measured, and share what a host keeps of \
               it beside the others; where all are added up, it is taken once for each."
                .to_owned(),
        columns: vec![
            ("Stack", Align::Left),
            ("Host", Align::Left),
            ("Throughput", Align::Right),
            ("Latency", Align::Right),
            ("Alone", Align::Right),
            ("Share", Align::Right),
        ],
        groups: findings.provenance.workloads.iter().map(group).collect(),
        ..Listing::default()
    };
    Some(listing.if_any()?.where_missing("the same work of one host is not in this study"))
}

/// What a host keeps of the rate that it has alone, stack by stack; `None` where no workload was measured both ways.
pub(crate) fn sentence(findings: &Findings) -> Option<String> {
    let share = |entry: &StackEntry, workload: &Workload| {
        let of = |name: &str| rate(findings.cell(&entry.slug, name)?);
        let together = of(workload.name.as_str()).filter(|_| !workload.hosts.is_one())?;
        Some(together / f64::from(workload.hosts.0) / of(alone(findings, workload)?.name.as_str())?)
    };
    let shares = |entry: &StackEntry| -> Vec<f64> {
        findings.provenance.workloads.iter().filter_map(|workload| share(entry, workload)).collect()
    };
    let told = |entry: &StackEntry| {
        let shares = shares(entry);
        (!shares.is_empty()).then(|| format!("{}{}", entry.name, range(&shares)))
    };
    let told: Vec<String> = findings.provenance.stacks.iter().filter_map(told).collect();
    (!told.is_empty()).then(|| {
        format!("Beside the others, each host keeps of the throughput that it has alone: {}.", told.join("; "))
    })
}

/// Rows of one cell: each host, and all together.
fn rows(findings: &Findings, entry: &StackEntry, workload: &Workload, style: &Style) -> Vec<Vec<String>> {
    let of = |name: &str| findings.cell(&entry.slug, name);
    let Some(cell) = of(workload.name.as_str()).filter(|cell| !cell.hosts.is_empty()) else { return Vec::new() };
    let alone = alone(findings, workload).and_then(|alone| rate(of(alone.name.as_str())?));
    let row = |host: String, said: Option<f64>, latency: Option<terms::Nanos>, against: Option<f64>| {
        let own =
            |rate: Option<f64>| rate.map_or_else(|| MISSING.to_owned(), |rate| quantity::own(rate, workload, style));
        let share = said
            .zip(against)
            .map_or_else(|| MISSING.to_owned(), |(said, alone)| format!("{:.0} %", said / alone * 100.0));
        vec![entry.name.clone(), host, own(said), quantity::time(latency), own(against), share]
    };
    let each = cell.hosts.iter().map(|host| {
        row(host.host.to_string(), host_rate(host), host.latency.as_ref().map(|latency| latency.mean), alone)
    });
    let hosts = f64::from(workload.hosts.0);
    let all = row(
        "all".to_owned(),
        rate(cell),
        cell.latency.as_ref().map(|latency| latency.mean),
        alone.map(|alone| alone * hosts),
    );
    each.chain([all]).collect()
}

/// The workload that is the same but for the number of its hosts.
fn alone<'a>(findings: &'a Findings, workload: &Workload) -> Option<&'a Workload> {
    let like = |other: &&Workload| {
        let same = Workload { name: workload.name.clone(), hosts: workload.hosts, ..(*other).clone() };
        other.hosts.is_one() && same == *workload
    };
    findings.provenance.workloads.iter().find(like)
}

fn rate(finding: &CellFinding) -> Option<f64> {
    finding.throughput.as_ref().map(|rate| rate.value)
}

fn host_rate(host: &HostFinding) -> Option<f64> {
    host.throughput.as_ref().map(|rate| rate.value)
}
