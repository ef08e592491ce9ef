//! Temperature, throttling and links of one drive.

use host::{Host, HostError, find_program};
use terms::Cmd;

use super::{line, names};

/// One drive at one moment.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct DriveState {
    pub(crate) name: String,
    pub(crate) celsius: Option<i32>,
    pub(crate) throttled: Option<u64>,
    pub(crate) degraded: Vec<String>,
    pub(crate) link: Option<u64>,
    pub(crate) numa_node: Option<u32>,
}

/// PCI vendor of devices and ports that QEMU makes up: their links have speeds that nothing keeps to.
const EMULATED: &str = "0x1b36";

/// Reads the state of a drive. What sysfs does not have stays unknown.
///
/// # Errors
/// Where the machine is lost.
pub(super) fn state(host: &dyn Host, name: &str, node: &str) -> Result<DriveState, HostError> {
    let kernel_name = node.rsplit('/').next().unwrap_or(node);
    let mut state = DriveState { name: name.to_owned(), ..DriveState::default() };
    let device = match host.resolve(&format!("/sys/class/block/{kernel_name}/device")) {
        Ok(device) => device,
        Err(_) => return Ok(state),
    };
    state.celsius = celsius(host, &device);
    if kernel_name.starts_with("nvme") && find_program(host, "nvme")?.is_some() {
        state.throttled = throttled(&host.run(&Cmd::new(["nvme", "smart-log", "-o", "json", node]))?.stdout);
    }
    for port in above(&device) {
        if state.numa_node.is_none() {
            state.numa_node = line(host, &format!("{port}/numa_node")).and_then(|node| node.parse().ok());
        }
        let read = |name: &str| line(host, &format!("{port}/{name}"));
        if line(host, &format!("{port}/vendor")).as_deref() == Some(EMULATED) {
            continue;
        }
        let (Some(speed), Some(width)) = (read("current_link_speed"), read("current_link_width")) else { continue };
        let (most_speed, most_width) = (read("max_link_speed"), read("max_link_width"));
        let rate = bytes_per_second(&speed, &width);
        state.link = match (state.link, rate) {
            (Some(one), Some(other)) => Some(one.min(other)),
            (one, other) => one.or(other),
        };
        let most = most_speed.zip(most_width).and_then(|(speed, width)| bytes_per_second(&speed, &width));
        if let (Some(now), Some(most)) = (rate, most)
            && now < most
        {
            state.degraded.push(format!("{} runs at {speed} x{width}", port.rsplit('/').next().unwrap_or(port)));
        }
    }
    Ok(state)
}

/// The directory and those above it, as far as devices go.
fn above(device: &str) -> impl Iterator<Item = &str> {
    std::iter::successors(Some(device), |path| path.rsplit_once('/').map(|(above, _)| above))
        .take_while(|path| path.starts_with("/sys/devices/") && path.matches('/').count() > 2)
}

/// The first sensor of a drive is its composite temperature, in thousandths of a degree (nvme and drivetemp drivers).
fn celsius(host: &dyn Host, device: &str) -> Option<i32> {
    let places = [device.to_owned(), format!("{device}/hwmon")];
    let sensor = places.iter().find_map(|place| {
        let hwmon = names(host, place, "hwmon").into_iter().next()?;
        line(host, &format!("{place}/{hwmon}/temp1_input"))
    })?;
    sensor.parse::<i32>().ok().map(|thousandths| thousandths / 1000)
}

/// Thermal transitions and minutes above the warning and the critical temperature, added up: any step is one too many.
fn throttled(smart_log: &[u8]) -> Option<u64> {
    let keys = ["warning_temp_time", "critical_comp_time", "thm_temp1_trans_count", "thm_temp2_trans_count"];
    let log: serde_json::Value = serde_json::from_slice(smart_log).ok()?;
    let counters: Vec<u64> = keys.iter().filter_map(|key| log.get(key)?.as_u64()).collect();
    (!counters.is_empty()).then(|| counters.iter().sum())
}

/// Bytes per second of a PCIe link, one way: transfers × lanes / 8, less encoding (8b/10b up to 5 GT/s, 128b/130b from
/// 8 GT/s: PCI Express Base Specification), less 24 bytes of framing for each packet of 128 bytes, the payload that
/// nearly every machine is set to.
fn bytes_per_second(speed: &str, width: &str) -> Option<u64> {
    let tenths: u64 = match speed.split_whitespace().next()?.split_once('.') {
        Some((whole, part)) => whole.parse::<u64>().ok()? * 10 + part.chars().next()?.to_digit(10).map(u64::from)?,
        None => speed.split_whitespace().next()?.parse::<u64>().ok()? * 10,
    };
    let lanes: u64 = width.trim().parse().ok().filter(|lanes| (1..=32).contains(lanes))?;
    let (data, coded) = if tenths < 80 { (8, 10) } else { (128, 130) };
    Some(tenths.checked_mul(100_000_000)? * lanes / 8 * data / coded * 128 / 152)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_and_throttling_are_understood() {
        // 8 GT/s x4: 3.94 GB/s on the wire, 3.3 GB/s of data.
        assert_eq!(bytes_per_second("8.0 GT/s PCIe", "4"), Some(3_316_599_189));
        assert_eq!(bytes_per_second("2.5 GT/s PCIe", "1"), Some(210_526_315));
        assert_eq!(bytes_per_second("Unknown", "0"), None);
        assert_eq!(throttled(br#"{"warning_temp_time":3,"thm_temp1_trans_count":2}"#), Some(5));
        assert_eq!(throttled(b"{}"), None);
        let way: Vec<&str> = above("/sys/devices/pci0000:00/0000:00:1c.0/0000:01:00.0/nvme/nvme0").collect();
        assert_eq!(way.last(), Some(&"/sys/devices/pci0000:00"));
    }
}
