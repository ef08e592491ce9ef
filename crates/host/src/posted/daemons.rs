//! What daemons write of arrays and pools into a journal or a mail: `mdadm --monitor` and ZED. Each becomes one line among messages.

use super::dmesg::push;
use super::{Machine, Text};

/// `… mdadm[812]: Fail event detected on md device /dev/md0, component device /dev/sdb1`, `A Fail event had been detected on md device
/// /dev/md0.` of a mail, `… zed[2509]: eid=15 class=statechange pool='tank' vdev=sdd1 vdev_state=UNAVAIL`, and the same events as `zpool
/// events` lists them.
pub(super) fn message(line: &str) -> Option<&str> {
    let of_array = line.contains("event ") && line.contains("detected on md device /dev/");
    if of_array {
        return Some(
            line.split_once("]: ").filter(|(before, _)| before.contains(" mdadm[")).map_or(line, |(_, rest)| rest),
        );
    }
    if let Some((before, said)) = line.split_once("]: ").filter(|(_, said)| said.starts_with("eid=")) {
        return before.contains("zed[").then_some(said);
    }
    let at = line.find(" ereport.fs.zfs.")?;
    line.get(at + 1..).filter(|event| !event.contains(' '))
}

/// `    eid: 44`, with which a mail of ZED tells of an event (`cmd/zed/zed.d/statechange-notify.sh` of OpenZFS).
pub(super) fn begins_mail(line: &str) -> bool {
    value(line, "eid").is_some_and(|number| !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()))
}

fn value<'t>(line: &'t str, key: &str) -> Option<&'t str> {
    line.trim().strip_prefix(key)?.strip_prefix(':').map(str::trim)
}

/// As ZED writes the same into the journal. What is not told of a device is left out, for it says nothing.
pub(super) fn read_mail(text: &Text, machine: &mut Machine) -> usize {
    let told = |key: &str| text.lines.iter().find_map(|line| value(line, key)).filter(|value| !value.is_empty());
    let (Some(number), Some(class), Some(pool)) = (told("eid"), told("class"), told("pool")) else { return 0 };
    let pool = pool.split(' ').next().unwrap_or(pool);
    let device = told("vpath").or_else(|| told("vdev")).map(|path| path.rsplit('/').next().unwrap_or(path));
    let state = told("state").map_or_else(String::new, |state| format!(" vdev_state={state}"));
    let device = device.map_or_else(String::new, |device| format!(" vdev={device}{state}"));
    push(&format!("eid={number} class={class} pool='{pool}'{device}"), machine);
    1
}
