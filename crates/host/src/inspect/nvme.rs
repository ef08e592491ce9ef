//! NVMe controllers and namespaces: sysfs, and what `nvme` says of them.

use std::collections::BTreeMap;

use serde_json::Value;
use terms::design::Sanitize;
use terms::inventory::{Health, LbaFormat, NvmeController, NvmeIdentity, NvmeNamespace, NvmePath, Readout};
use terms::{Bytes, Nanos, NvmeTransport};

use super::pci::is_address;
use super::source::Source;

const CONTROLLERS: &str = "/sys/class/nvme";

/// Controllers with, for each, the names of block devices that hang under it (namespaces, and paths to namespaces).
pub(super) struct Controllers {
    pub(super) all: Vec<NvmeController>,
    /// Block devices in the controller's directory, by its name.
    devices: BTreeMap<String, Vec<String>>,
}

/// All controllers; with what only programs know of them if `ask`.
pub(super) fn controllers(source: &Source, ask: bool) -> Controllers {
    let mut names = source.listed(CONTROLLERS);
    // One that no text named is called by a letter (`posted/machine.rs`).
    names.retain(|name| number_after(name, "nvme").is_some() || ["nvmeX", "nvmeY", "nvmeZ"].contains(&name.as_str()));
    names.sort_by_key(|name| number_after(name, "nvme"));
    let mut devices = BTreeMap::new();
    let mut all = Vec::new();
    for name in names {
        let directory = format!("{CONTROLLERS}/{name}");
        let below = source.listed(&directory);
        devices.insert(name.clone(), below.into_iter().filter(|entry| entry.starts_with("nvme")).collect());
        all.push(controller(source, &directory, name, ask));
    }
    Controllers { all, devices }
}

/// The number that follows a word and ends there.
fn number_after(name: &str, word: &str) -> Option<u32> {
    name.strip_prefix(word)?.parse().ok()
}

fn controller(source: &Source, directory: &str, name: String, ask: bool) -> NvmeController {
    let told = |file: &str| source.told(&format!("{directory}/{file}"));
    let device = source.resolved(&format!("{directory}/device"));
    let own_pci = device.as_deref().and_then(|path| path.rsplit('/').next()).filter(|name| is_address(name));
    let subsystem = told("subsysnqn").and_then(|_| subsystem_of(source, directory));
    let policy = subsystem.as_ref().and_then(|name| source.told(&format!("/sys/class/nvme-subsystem/{name}/iopolicy")));
    let node = format!("/dev/{name}");
    let identity = if ask { identity(source, &node) } else { Readout::default() };
    NvmeController {
        subsystem,
        nqn: told("subsysnqn"),
        path_policy: policy,
        transport: told("transport")
            .map_or(if own_pci.is_some() { NvmeTransport::Pcie } else { NvmeTransport::Unknown }, |word| {
                NvmeTransport::from_word(&word)
            }),
        address: told("address").unwrap_or_default(),
        pci_address: own_pci.map(ToOwned::to_owned),
        state: told("state"),
        model: told("model"),
        serial: told("serial"),
        firmware: told("firmware_rev"),
        numa_node: told("numa_node").and_then(|node| node.parse().ok()),
        queues: source.needed(&format!("{directory}/queue_count")),
        health: if ask { health(source, &node) } else { Readout::default() },
        write_cache_on: if ask { write_cache(source, &node, &identity) } else { Readout::default() },
        latency_tolerance: source
            .parsed(&format!("{directory}/power/pm_qos_latency_tolerance_us"), |text| {
                // `auto` where nobody asked for one.
                if text == "auto" {
                    Some(None)
                } else {
                    text.parse().ok().map(|us: u64| Some(Nanos(us.saturating_mul(1000))))
                }
            })
            .map(Option::flatten),
        identity,
        name,
    }
}

/// A controller's subsystem: the one whose directory names it. Its own directory has no link to it on older kernels.
fn subsystem_of(source: &Source, directory: &str) -> Option<String> {
    let name = directory.rsplit('/').next()?;
    let subsystems = source.listed("/sys/class/nvme-subsystem");
    subsystems.into_iter().find(|subsystem| {
        source.listed(&format!("/sys/class/nvme-subsystem/{subsystem}")).iter().any(|entry| entry == name)
    })
}

fn identity(source: &Source, node: &str) -> Readout<NvmeIdentity> {
    source.json(&["nvme", "id-ctrl", "-o", "json", node]).map(|said| {
        let number = |key: &str| said.get(key).and_then(Value::as_u64).unwrap_or(0);
        let kelvin = |key: &str| celsius(number(key));
        NvmeIdentity {
            volatile_cache: number("vwc") & 1 == 1,
            format_takes_all: number("fna") & 1 == 1,
            sanitize: Sanitize::ALL.into_iter().filter(|way| number("sanicap") & way.capability() != 0).collect(),
            autonomous_power: number("apsta") & 1 == 1,
            // `npss` counts from 0.
            power_states: small(number("npss")).saturating_add(1),
            namespaces: small(number("nn")),
            // In units of the smallest page, 4 KiB in every controller Linux can drive; 0 is no limit.
            largest_transfer: (1..=20).contains(&number("mdts")).then(|| Bytes(4096 << number("mdts"))),
            capacity: wide(said.get("tnvmcap")).filter(|size| *size > 0).map(Bytes),
            warning_temperature: kelvin("wctemp"),
            critical_temperature: kelvin("cctemp"),
        }
    })
}

fn small(number: u64) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

/// Temperatures are in whole kelvins; 0 is not told.
fn celsius(kelvin: u64) -> Option<i32> {
    let kelvin = i32::try_from(kelvin).ok().filter(|kelvin| (1..2000).contains(kelvin))?;
    Some(kelvin - 273)
}

/// 128-bit counters are numbers, doubles or texts, depending on the version of `nvme`.
fn wide(value: Option<&Value>) -> Option<u64> {
    match value? {
        Value::String(text) => text.replace(',', "").parse().ok(),
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "checked to be in range")]
        Value::Number(number) => number
            .as_u64()
            .or_else(|| number.as_f64().filter(|value| (0.0..1.8e19).contains(value)).map(|value| value as u64)),
        _ => None,
    }
}

fn health(source: &Source, node: &str) -> Readout<Health> {
    source.json(&["nvme", "smart-log", "-o", "json", node]).and_then(|said| {
        let count = |key: &str| wide(said.get(key));
        // Newer versions of `nvme` make an object of it, with the number as `value`.
        let warning =
            said.get("critical_warning").and_then(|warning| wide(Some(warning.get("value").unwrap_or(warning))));
        let Some(warning) = warning else {
            return Readout::unknown(format!("`nvme smart-log -o json {node}` tells no `critical_warning`"));
        };
        // Units of 1000 blocks of 512 bytes (NVM Express Base Specification, SMART / Health Information).
        let data = |key: &str| count(key).map(|units| Bytes(units.saturating_mul(512_000)));
        let slowdowns = ["thm_temp1_trans_count", "thm_temp2_trans_count"].map(count);
        Readout::Known(Health {
            critical_warning: small(warning),
            temperature: count("temperature").and_then(celsius),
            spare: count("avail_spare").map(small),
            spare_threshold: count("spare_thresh").map(small),
            used: count("percent_used").or_else(|| count("percentage_used")).map(small),
            read: data("data_units_read"),
            written: data("data_units_written"),
            power_on_hours: count("power_on_hours"),
            unsafe_shutdowns: count("unsafe_shutdowns"),
            media_errors: count("media_errors"),
            error_log_entries: count("num_err_log_entries"),
            warning_temperature_minutes: count("warning_temp_time"),
            critical_temperature_minutes: count("critical_comp_time"),
            thermal_slowdowns: slowdowns.iter().flatten().copied().reduce(u64::saturating_add),
            smart: None,
        })
    })
}

/// Feature 6, where the controller has a volatile cache at all.
fn write_cache(source: &Source, node: &str, identity: &Readout<NvmeIdentity>) -> Readout<Option<bool>> {
    if identity.known().is_some_and(|identity| !identity.volatile_cache) {
        return Readout::Known(None);
    }
    // A controller without a volatile cache refuses to tell of it (NVM Express Base Specification, Volatile Write Cache).
    source.said(&["nvme", "get-feature", "-f", "6", node]).and_then(|text| match feature(&text) {
        Some(value) => Readout::Known(Some(value & 1 == 1)),
        None => Readout::unknown(format!("`nvme get-feature -f 6 {node}` tells no current value")),
    })
}

/// The number after `Current value:`, with or without `0x` and blanks.
fn feature(text: &str) -> Option<u64> {
    let rest = text.to_lowercase();
    let value = rest.split_once("current value")?.1.trim_start_matches([':', ' ']);
    let value = value.split(|c: char| !c.is_ascii_alphanumeric()).next()?;
    u64::from_str_radix(value.trim_start_matches("0x"), 16).ok().or_else(|| (value == "0x").then_some(0))
}

/// What belongs to a namespace: the controllers it is reached through, and its formats if `ask`.
pub(super) fn namespace(source: &Source, name: &str, controllers: &Controllers, ask: bool) -> NvmeNamespace {
    let mut paths = Vec::new();
    let mut through = Vec::new();
    for controller in &controllers.all {
        for device in controllers.devices.get(&controller.name).into_iter().flatten() {
            if device == name {
                through.push(controller.name.clone());
            } else if head_of(device).as_deref() == Some(name) {
                through.push(controller.name.clone());
                paths.push(NvmePath {
                    name: device.clone(),
                    controller: controller.name.clone(),
                    state: source.told(&format!("{CONTROLLERS}/{}/{device}/ana_state", controller.name)),
                });
            }
        }
    }
    let node = format!("/dev/{name}");
    let said = if ask { source.json(&["nvme", "id-ns", "-o", "json", &node]) } else { Readout::default() };
    NvmeNamespace {
        nsid: source.told(&format!("/sys/block/{name}/nsid")).and_then(|id| id.parse().ok()),
        formats: formats(&said, &node),
        protection: said.as_ref().and_then(|said| match said.get("dps").and_then(Value::as_u64) {
            Some(dps) => Readout::Known(small(dps & 7)),
            None => Readout::unknown(format!("`nvme id-ns -o json {node}` tells no `dps`")),
        }),
        metadata: if ask { source.size(&format!("/sys/block/{name}/metadata_bytes"), 1) } else { Readout::default() },
        paths,
        controllers: through,
    }
}

/// The namespace that a path leads to: `nvme0n1` of `nvme0c1n1`.
fn head_of(path: &str) -> Option<String> {
    let (subsystem, rest) = path.strip_prefix("nvme")?.split_once('c')?;
    let (_, namespace) = rest.split_once('n')?;
    Some(format!("nvme{subsystem}n{namespace}"))
}

/// The namespace of what the kernel lists below a controller: `nvme0n1` of itself and of `nvme0c1n1`, which is a way to it;
/// `None` for anything else.
#[must_use]
pub fn namespace_of(name: &str) -> Option<String> {
    head_of(name).or_else(|| name.strip_prefix("nvme")?.split_once('n').map(|_| name.to_owned()))
}

fn formats(said: &Readout<Value>, node: &str) -> Readout<Vec<LbaFormat>> {
    said.as_ref().and_then(|said| {
        let number = |value: &Value, key: &str| value.get(key).and_then(Value::as_u64);
        let (Some(formats), Some(flbas)) = (said.get("lbafs").and_then(Value::as_array), number(said, "flbas")) else {
            return Readout::unknown(format!("`nvme id-ns -o json {node}` tells no formats"));
        };
        // Bits 3:0, and 6:5 above them where there are more than 16.
        let in_use = flbas & 0xf | (flbas >> 5 & 3) << 4;
        let format = |(index, format): (usize, &Value)| {
            // Two to the power of `ds`; 0 is an entry that is not there.
            let data = number(format, "ds").filter(|power| (9..=20).contains(power))?;
            Some(LbaFormat {
                index: u32::try_from(index).ok()?,
                data: Bytes(1 << data),
                metadata: Bytes(number(format, "ms")?),
                relative_performance: u32::try_from(number(format, "rp")?).ok()?,
                in_use: u64::try_from(index) == Ok(in_use),
            })
        };
        Readout::Known(formats.iter().enumerate().filter_map(format).collect())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_values_are_understood() {
        assert_eq!(head_of("nvme0c1n2").as_deref(), Some("nvme0n2"));
        assert_eq!(head_of("nvme0n1"), None);
        assert_eq!(celsius(310), Some(37));
        assert_eq!(celsius(0), None);
        for (text, value) in [
            ("get-feature:0x06 (Volatile Write Cache), Current value:0x00000001", Some(1)),
            ("get-feature:0x6 (Volatile Write Cache), Current value:00000000", Some(0)),
            ("get-feature:0x06 (Volatile Write Cache), Current value: 0x1", Some(1)),
            ("nothing", None),
        ] {
            assert_eq!(feature(text), value, "{text}");
        }
    }

    #[test]
    fn counters_are_read_in_every_form() {
        for (json, value) in
            [("\"1,234\"", Some(1234)), ("1e3", Some(1000)), ("7", Some(7)), ("-1", None), ("null", None)]
        {
            assert_eq!(wide(Some(&serde_json::from_str(json).unwrap())), value, "{json}");
        }
    }
}
