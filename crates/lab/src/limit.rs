//! Drives and links that are slower than this machine: QEMU's own throttling.
//!
//! A drive's file has a filter on it for the drive's own limit, and another for that of the switch it is behind, which
//! all drives there share. Nothing in the guest sees them: like a drive that is slow.

use terms::{LabDrive, LabDriveKind, LabSpec, Port, RateLimit};

/// QEMU's objects for every limit of the guest: for each limited drive its own and that of reads and
/// writes together, and one for each limited switch.
pub(crate) fn groups(spec: &LabSpec) -> Vec<String> {
    let drives = spec.drives.iter().enumerate().filter(|(_, drive)| !drive.limit.is_none());
    let own = drives.flat_map(|(index, drive)| {
        let each = group(&format!("drive{index}"), &drive.limit);
        [Some(each), both(&format!("both{index}"), &drive.limit)].into_iter().flatten()
    });
    let shared = spec.switches.iter().filter(|switch| !switch.limit.is_none());
    own.chain(shared.map(|switch| group(&format!("switch{}", switch.number), &switch.limit))).collect()
}

/// The block devices of a drive, each on the one before; the last is the drive. `None` where a plain file will do: it
/// is no hard disk, and nothing limits it. `path` is its file, or its socket if it is a hard disk.
pub(crate) fn nodes(index: usize, drive: &LabDrive, spec: &LabSpec, path: &str) -> Option<Vec<String>> {
    let mut limits = Vec::new();
    if both("", &drive.limit).is_some() {
        limits.push(format!("both{index}"));
    }
    if !drive.limit.is_none() {
        limits.push(format!("drive{index}"));
    }
    if let Port::Switch(number) = drive.port
        && spec.switches.iter().any(|switch| switch.number == number && !switch.limit.is_none())
    {
        limits.push(format!("switch{number}"));
    }
    let is_hdd = drive.kind == LabDriveKind::Hdd;
    if limits.is_empty() && !is_hdd {
        return None;
    }
    let mut below = if limits.is_empty() { format!("d{index}") } else { format!("raw{index}") };
    let mut nodes = if is_hdd {
        // Flushes go through: it has a cache of its own, which forgets.
        vec![format!("driver=nbd,node-name={below},server.type=unix,server.path={path}")]
    } else {
        // As `cache=unsafe` is: nothing in a lab is meant to outlive it.
        let file = format!("driver=file,node-name=file{index},filename={path},cache.no-flush=on,discard=unmap");
        let raw = format!("driver=raw,node-name={below},file=file{index},cache.no-flush=on,discard=unmap");
        vec![file, raw]
    };
    for (at, limit) in limits.iter().enumerate() {
        let own = if at + 1 == limits.len() { format!("d{index}") } else { format!("limit{index}-{at}") };
        nodes.push(format!("driver=throttle,node-name={own},throttle-group={limit},file={below}"));
        below = own;
    }
    Some(nodes)
}

fn group(id: &str, limit: &RateLimit) -> String {
    let numbers = [
        ("bps-read", limit.read.map(|rate| rate.0)),
        ("bps-write", limit.write.map(|rate| rate.0)),
        ("iops-read", limit.read_iops.map(u64::from)),
        ("iops-write", limit.write_iops.map(u64::from)),
    ];
    throttle(id, &numbers)
}

/// A drive's reads and writes go to the same flash or heads: together they may do what the faster of both may. `None`
/// where one of them is not limited. QEMU takes limits of each direction or of both in one group, never all three.
fn both(id: &str, limit: &RateLimit) -> Option<String> {
    let larger = |read: Option<u64>, write: Option<u64>| Some(read?.max(write?));
    let bytes = larger(limit.read.map(|rate| rate.0), limit.write.map(|rate| rate.0));
    let operations = larger(limit.read_iops.map(u64::from), limit.write_iops.map(u64::from));
    if bytes.is_none() && operations.is_none() {
        return None;
    }
    Some(throttle(id, &[("bps-total", bytes), ("iops-total", operations)]))
}

fn throttle(id: &str, numbers: &[(&str, Option<u64>)]) -> String {
    let set = numbers.iter().filter_map(|(key, value)| value.map(|value| format!(",x-{key}={value}")));
    format!("throttle-group,id={id}{}", set.collect::<String>())
}

#[cfg(test)]
mod tests {
    use terms::{Bytes, LabSwitch, Name};

    use super::*;

    fn drive(limit: RateLimit, port: Port) -> LabDrive {
        let name = Name::new("a").unwrap();
        LabDrive { port, limit, ..LabDrive::new(name, Bytes::mib(64)) }
    }

    #[test]
    fn a_hard_disk_is_a_socket_below_its_limits() {
        let spin = |limit| LabDrive { kind: LabDriveKind::Hdd, ..drive(limit, Port::Cpu) };
        let limit = RateLimit { write_iops: Some(5), ..RateLimit::default() };
        let drives = vec![spin(RateLimit::default()), spin(limit)];
        let spec = LabSpec { drives, ..LabSpec::new(1, Bytes::gib(1)) };
        let chain = |index: usize| nodes(index, &spec.drives[index], &spec, "/lab/s").unwrap();
        assert_eq!(chain(0), ["driver=nbd,node-name=d0,server.type=unix,server.path=/lab/s"]);
        assert_eq!(chain(1)[0], "driver=nbd,node-name=raw1,server.type=unix,server.path=/lab/s");
        assert_eq!(chain(1)[1], "driver=throttle,node-name=d1,throttle-group=drive1,file=raw1");
    }

    #[test]
    fn reads_and_writes_share_a_drive() {
        let limit =
            RateLimit { read: Some(Bytes(90)), write: Some(Bytes(70)), read_iops: Some(5), ..RateLimit::default() };
        let spec = LabSpec { drives: vec![drive(limit, Port::Cpu)], ..LabSpec::new(1, Bytes::gib(1)) };
        let groups = groups(&spec);
        assert_eq!(groups[1], "throttle-group,id=both0,x-bps-total=90");
        let chain = nodes(0, &spec.drives[0], &spec, "/lab/drive").unwrap();
        assert_eq!(chain[2], "driver=throttle,node-name=limit0-0,throttle-group=both0,file=raw0");
        assert_eq!(chain[3], "driver=throttle,node-name=d0,throttle-group=drive0,file=limit0-0");
    }

    #[test]
    fn a_drive_has_its_own_limit_and_shares_that_of_its_switch() {
        let own = RateLimit { read: Some(Bytes(180_000_000)), write_iops: Some(400), ..RateLimit::default() };
        let switch =
            LabSwitch { number: 3, limit: RateLimit { read: Some(Bytes(200_000_000)), ..RateLimit::default() } };
        let drives = vec![
            drive(RateLimit::default(), Port::Cpu),
            drive(own, Port::Cpu),
            drive(own, Port::Switch(3)),
            drive(RateLimit::default(), Port::Switch(3)),
        ];
        let spec = LabSpec { drives, switches: vec![switch], ..LabSpec::new(1, Bytes::gib(1)) };
        let groups = groups(&spec);
        assert_eq!(groups.len(), 3);
        assert_eq!(groups[0], "throttle-group,id=drive1,x-bps-read=180000000,x-iops-write=400");
        assert_eq!(groups[2], "throttle-group,id=switch3,x-bps-read=200000000");
        let chain = |index: usize| nodes(index, &spec.drives[index], &spec, "/lab/drive");
        assert_eq!(chain(0), None);
        assert_eq!(chain(1).unwrap()[2], "driver=throttle,node-name=d1,throttle-group=drive1,file=raw1");
        let both = chain(2).unwrap();
        assert_eq!(both[2], "driver=throttle,node-name=limit2-0,throttle-group=drive2,file=raw2");
        assert_eq!(both[3], "driver=throttle,node-name=d2,throttle-group=switch3,file=limit2-0");
        assert_eq!(chain(3).unwrap()[2], "driver=throttle,node-name=d3,throttle-group=switch3,file=raw3");
    }
}
