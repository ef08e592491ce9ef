//! LVM: what `vgs`, `pvs` and `lvs` say, as JSON.

use serde_json::Value;
use terms::Bytes;
use terms::inventory::{LogicalVolume, Node, PhysicalVolume, Readout, Segment, VolumeGroup};

use super::source::Source;

/// How all three are asked: in bytes, without the unit.
const FORM: [&str; 6] = ["--reportformat", "json", "--units", "b", "--nosuffix", "-o"];
const GROUP: &str = "vg_name,vg_uuid,vg_size,vg_free,vg_extent_size,vg_mda_size,vg_mda_free,vg_missing_pv_count";
const PHYSICAL: &str = "vg_name,pv_name,pv_uuid,pe_start,pv_size,pv_free";
const LOGICAL: &str = "vg_name,lv_name,lv_size,lv_attr,lv_kernel_major,lv_kernel_minor,data_percent,metadata_percent,\
                       copy_percent,pool_lv,segtype,stripes,stripe_size,devices";

/// A report: its command and its columns.
type Report = (&'static [&'static str], &'static str);
const GROUPS: Report = (&["lvm", "vgs"], GROUP);
const DEVICES: Report = (&["lvm", "pvs"], PHYSICAL);
const VOLUMES: Report = (&["lvm", "lvs", "-a", "--segments"], LOGICAL);

fn argv((command, columns): Report) -> Vec<&'static str> {
    command.iter().copied().chain(FORM).chain([columns]).collect()
}

/// The command lines of the reports of groups, of their devices and of their volumes.
pub(crate) fn reports() -> [String; 3] {
    [GROUPS, DEVICES, VOLUMES].map(|report| argv(report).join(" "))
}

/// All volume groups; none where there is no LVM.
pub(super) fn read(source: &Source, nodes: &[Node]) -> Readout<Vec<VolumeGroup>> {
    let ask = |report| source.json(&argv(report));
    let used = nodes.iter().any(|node| {
        let mapped = node.dm.as_ref().and_then(|dm| dm.uuid.as_deref()).is_some_and(|uuid| uuid.starts_with("LVM-"));
        let signed = node.signatures.known().is_none_or(|all| all.iter().any(|found| found.kind == "LVM2_member"));
        mapped || signed
    });
    if !used {
        return Readout::Known(Vec::new());
    }
    // It reads every device.
    if nodes.iter().any(|node| node.dm.as_ref().is_some_and(|dm| dm.suspended.known() == Some(&true))) {
        return Readout::unknown(super::node::SUSPENDED);
    }
    ask(GROUPS).and_then(|groups| {
        ask(DEVICES).and_then(|physical| {
            ask(VOLUMES).map(|logical| {
                let group = |row| group(source, row, &physical, &logical, nodes);
                rows(&groups, "vg").into_iter().map(group).collect()
            })
        })
    })
}

/// The rows of a report.
fn rows<'v>(said: &'v Value, kind: &str) -> Vec<&'v Value> {
    let reports = said.get("report").and_then(Value::as_array);
    let rows = reports.into_iter().flatten().filter_map(|report| report.get(kind)?.as_array()).flatten();
    rows.collect()
}

fn text<'v>(row: &'v Value, key: &str) -> &'v str {
    row.get(key).and_then(Value::as_str).unwrap_or_default()
}

/// Numbers stand in the report as text; an empty one does not apply.
fn number<T: std::str::FromStr>(row: &Value, key: &str) -> Option<T> {
    text(row, key).parse().ok()
}

fn size(row: &Value, key: &str) -> Bytes {
    Bytes(number(row, key).unwrap_or(0))
}

fn group(source: &Source, row: &Value, physical: &Value, logical: &Value, nodes: &[Node]) -> VolumeGroup {
    let name = text(row, "vg_name");
    let metadata = number(row, "vg_mda_size").zip(number(row, "vg_mda_free"));
    let of_group = |row: &&Value| text(row, "vg_name") == name;
    let mut volumes: Vec<LogicalVolume> = Vec::new();
    for row in rows(logical, "seg").into_iter().chain(rows(logical, "lv")).filter(of_group) {
        match volumes.last_mut().filter(|last| last.name == text(row, "lv_name")) {
            Some(last) => last.segments.push(segment(row)),
            None => volumes.push(volume(row, nodes)),
        }
    }
    VolumeGroup {
        name: name.to_owned(),
        uuid: text(row, "vg_uuid").to_owned(),
        size: size(row, "vg_size"),
        free: size(row, "vg_free"),
        extent: size(row, "vg_extent_size"),
        metadata: metadata.map(|(all, free)| [Bytes(all), Bytes(free)]),
        missing: number(row, "vg_missing_pv_count").unwrap_or(0),
        physical: rows(physical, "pv").into_iter().filter(of_group).map(|row| member(source, row, nodes)).collect(),
        logical: volumes,
    }
}

fn member(source: &Source, row: &Value, nodes: &[Node]) -> PhysicalVolume {
    let device = text(row, "pv_name");
    PhysicalVolume {
        device: device.to_owned(),
        node: super::node_of(source, nodes, device),
        uuid: text(row, "pv_uuid").to_owned(),
        start: size(row, "pe_start"),
        size: size(row, "pv_size"),
        free: size(row, "pv_free"),
    }
}

fn volume(row: &Value, nodes: &[Node]) -> LogicalVolume {
    // -1:-1 where it is not active.
    let number_of = format!("{}:{}", text(row, "lv_kernel_major"), text(row, "lv_kernel_minor"));
    LogicalVolume {
        name: text(row, "lv_name").to_owned(),
        node: nodes.iter().find(|node| node.number == number_of).map(|node| node.name.clone()),
        segments: vec![segment(row)],
        size: size(row, "lv_size"),
        attributes: text(row, "lv_attr").to_owned(),
        data: number(row, "data_percent"),
        metadata: number(row, "metadata_percent"),
        sync: number(row, "copy_percent"),
        pool: Some(text(row, "pool_lv")).filter(|pool| !pool.is_empty()).map(ToOwned::to_owned),
    }
}

fn segment(row: &Value) -> Segment {
    // `/dev/sda1(0),/dev/sdb1(0)`: with the first extent in brackets.
    let device = |text: &str| text.rsplit_once('(').map_or(text, |(device, _)| device).to_owned();
    Segment {
        kind: text(row, "segtype").to_owned(),
        stripes: number(row, "stripes").unwrap_or(0),
        stripe: size(row, "stripe_size"),
        devices: text(row, "devices").split(',').filter(|device| !device.is_empty()).map(device).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reports_are_understood() {
        let parse = |text: &str| serde_json::from_str::<Value>(text).unwrap();
        let vg = parse(r#"{"vg_name":"vg0","vg_size":"1073741824","vg_mda_size":"1044480","vg_mda_free":"520192"}"#);
        let pv = parse(r#"{"report":[{"pv":[{"vg_name":"vg0","pv_name":"/dev/sda1","pe_start":"1048576"}]}]}"#);
        let lv = parse(
            r#"{"report":[{"seg":[
            {"vg_name":"vg0","lv_name":"a","segtype":"linear","stripes":"1","devices":"/dev/sda1(0)","data_percent":""},
            {"vg_name":"vg0","lv_name":"a","segtype":"striped","stripes":"2","stripe_size":"65536","devices":"/dev/a(0),/dev/b(5)"},
            {"vg_name":"other","lv_name":"b","segtype":"linear"}]}]}"#,
        );
        let host = crate::DryRun::new();
        let group = group(&Source::new(&host), &vg, &pv, &lv, &[]);
        assert_eq!((group.physical[0].start, group.logical.len()), (Bytes::mib(1), 1));
        let segments = &group.logical[0].segments;
        assert_eq!((segments.len(), segments[1].devices.clone()), (2, vec!["/dev/a".to_owned(), "/dev/b".to_owned()]));
        assert_eq!(group.logical[0].data, None);
    }
}
