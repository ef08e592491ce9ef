//! Processors: topology, abilities, frequency policy, what the kernel does about their flaws.

use std::collections::{BTreeMap, BTreeSet};

use terms::inventory::{Cpu, Readout};

use super::source::{Source, field};

const CPUS: &str = "/sys/devices/system/cpu";

/// Flags that encryption, checksums and parity of drives can use.
const FLAGS: [&str; 14] = [
    "aes",
    "vaes",
    "pclmulqdq",
    "vpclmulqdq",
    "sha_ni",
    "ssse3",
    "sse4_2",
    "avx",
    "avx2",
    "avx512f",
    "avx512bw",
    "gfni",
    "pmull",
    "sha2",
];

/// All about processors.
pub(super) fn read(source: &Source, cpuinfo: &str) -> Cpu {
    let (sockets, cores) = topology(source, cpuinfo);
    // ARM says `Features` where x86 says `flags`.
    let flags = field(cpuinfo, "flags").or_else(|| field(cpuinfo, "Features")).unwrap_or_default();
    let flags: BTreeSet<&str> = flags.split(' ').collect();
    Cpu {
        sockets,
        cores,
        smt: source.number::<u8>(&format!("{CPUS}/smt/active")).and_then(|active| match active {
            Some(active) => Readout::Known(active == 1),
            None => Readout::unknown("the kernel does not tell whether cores run several threads"),
        }),
        flags: FLAGS.iter().filter(|flag| flags.contains(**flag)).map(|flag| (*flag).to_owned()).collect(),
        governors: governors(source),
        frequency_driver: source.text(&format!("{CPUS}/cpu0/cpufreq/scaling_driver")),
        platform_profile: source.text("/sys/firmware/acpi/platform_profile"),
        mitigations: mitigations(source),
        temperature: temperature(source),
    }
}

/// Sockets and cores: different `physical id`s, and different pairs of those with `core id`s.
fn topology(source: &Source, cpuinfo: &str) -> (Readout<u32>, Readout<u32>) {
    let mut sockets = BTreeSet::new();
    let mut cores = BTreeSet::new();
    for cpu in cpuinfo.split("\n\n") {
        if let (Some(socket), Some(core)) = (field(cpu, "physical id"), field(cpu, "core id")) {
            sockets.insert(socket.to_owned());
            cores.insert((socket.to_owned(), core.to_owned()));
        }
    }
    if sockets.is_empty() {
        // Not x86, or a hypervisor that hides it.
        for name in source.listed(CPUS).iter().filter(|name| is_cpu(name)) {
            let told = |file: &str| source.told(&format!("{CPUS}/{name}/topology/{file}"));
            if let (Some(socket), Some(core)) = (told("physical_package_id"), told("core_id")) {
                sockets.insert(socket.clone());
                cores.insert((socket, core));
            }
        }
    }
    if sockets.is_empty() {
        let why = "neither `/proc/cpuinfo` nor sysfs tells the topology of processors";
        return (Readout::unknown(why), Readout::unknown(why));
    }
    let count = |number: usize| Readout::Known(u32::try_from(number).unwrap_or(u32::MAX));
    (count(sockets.len()), count(cores.len()))
}

fn is_cpu(name: &str) -> bool {
    name.strip_prefix("cpu").is_some_and(|number| !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit()))
}

fn governors(source: &Source) -> Readout<BTreeMap<String, u32>> {
    source.names(CPUS).and_then(|names| {
        let mut governors = BTreeMap::new();
        for name in names.unwrap_or_default().iter().filter(|name| is_cpu(name)) {
            match source.text(&format!("{CPUS}/{name}/cpufreq/scaling_governor")) {
                Readout::Known(Some(governor)) => *governors.entry(governor).or_insert(0) += 1,
                Readout::Known(None) => {}
                Readout::Unknown(why) => return Readout::Unknown(why),
            }
        }
        Readout::Known(governors)
    })
}

fn mitigations(source: &Source) -> Readout<BTreeMap<String, String>> {
    let directory = format!("{CPUS}/vulnerabilities");
    source.names(&directory).map(|names| {
        let told = |name: String| Some((name.clone(), source.told(&format!("{directory}/{name}"))?));
        let affected = |(_, state): &(String, String)| state != "Not affected";
        names.unwrap_or_default().into_iter().filter_map(told).filter(affected).collect()
    })
}

/// The hottest sensor of a processor's driver, in degrees; files tell thousandths.
fn temperature(source: &Source) -> Readout<Option<i32>> {
    const SENSORS: &str = "/sys/class/hwmon";
    source.names(SENSORS).map(|names| {
        let sensors = names.unwrap_or_default().into_iter().map(|name| format!("{SENSORS}/{name}"));
        let of_cpu = sensors.filter(|sensor| {
            source
                .told(&format!("{sensor}/name"))
                .is_some_and(|name| ["coretemp", "k10temp", "zenpower"].contains(&&*name))
        });
        let inputs = of_cpu.flat_map(|sensor| {
            let files =
                source.listed(&sensor).into_iter().filter(|file| file.starts_with("temp") && file.ends_with("_input"));
            files.map(|file| format!("{sensor}/{file}")).collect::<Vec<_>>()
        });
        inputs.filter_map(|file| source.told(&file)?.parse::<i32>().ok()).max().map(|thousandths| thousandths / 1000)
    })
}
