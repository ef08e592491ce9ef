//! Processors and memory: what encryption and checksums run on.

use terms::diagnosis::Place;
use terms::inventory::CryptoDriver;

use crate::check::{Check, Information, Nothing, Round, Warning, finding};
use crate::machine::Machine;
use crate::words::{count, number, percent};

pub(super) const CHECKS: &[Check] = &[
    Check {
        id: "aes-instructions",
        severity: Warning,
        looks_at: "`flags` in `/proc/cpuinfo`",
        rule: "the processor has no AES instructions: a warning where something is encrypted",
        fixes: false,
        look: instructions,
    },
    Check {
        id: "aes-driver",
        severity: Warning,
        looks_at: "drivers of `xts(aes)` in `/proc/crypto`, `flags` in `/proc/cpuinfo`",
        rule: "the driver with the highest priority does not use the instructions that the processor has",
        fixes: false,
        look: driver,
    },
    Check {
        id: "memory-below-rating",
        severity: Information,
        looks_at: "`dmidecode -t memory`",
        rule: "modules run slower than they are rated for, or all are on one channel",
        fixes: false,
        look: memory,
    },
];

fn instructions(machine: &Machine, round: &mut Round) {
    round.look();
    if machine.inventory.aes {
        return;
    }
    if machine.inventory.cpu_model.is_empty() && machine.detail.cpu.flags.is_empty() {
        round.unknown(&Place::machine(), "`/proc/cpuinfo` tells neither model nor flags");
        return;
    }
    let encrypted = machine.crypts(round).iter().any(|(_, _, crypt)| crypt.cipher.contains("aes"));
    let severity = if encrypted { Warning } else { Information };
    // AES-128 in bit slices took 7.6 cycles a byte (Käsper and Schwabe, CHES 2009); AES-256 has 14 rounds instead of 10.
    // With instructions: 1.1 to 1.3 ns a byte through dm-crypt on Haswell, 4.2 GB/s in the cipher alone on Zen 4.
    round.find(
        finding(
            severity,
            &Place::machine(),
            "the processor has no AES instructions",
            "in software AES-256 takes 10 cycles a byte at best: 0.3 GB/s on a core of 3 GHz, where instructions do 1 to 4 GB/s",
        )
        .seen("/proc/cpuinfo", format!("{}: no `aes` in flags", machine.inventory.cpu_model))
        .advise("In a guest, let it have the host's processor (`-cpu host`). Elsewhere Adiantum is the faster cipher; it wants a new \
               volume.")
        .look("cryptsetup benchmark"),
    );
}

fn driver(machine: &Machine, round: &mut Round) {
    let place = Place::machine();
    let encrypted = machine.crypts(round).iter().any(|(_, _, crypt)| crypt.cipher.starts_with("aes-xts"));
    let Some(drivers) = round.ask(&place, &machine.detail.linux.crypto) else { return };
    let best = drivers.iter().filter(|driver| driver.name == "xts(aes)").max_by_key(|driver| driver.priority);
    let Some(best) = best else {
        if encrypted {
            round.unknown(&place, "`/proc/crypto` names no driver of `xts(aes)`, and something is encrypted with it");
        }
        return;
    };
    round.look();
    // Without the instructions there is no better driver; that is another check's affair.
    if !machine.inventory.aes {
        return;
    }
    let has = |flag: &str| machine.detail.cpu.flags.iter().any(|known| known == flag);
    if is_software(best) {
        let found = finding(
            Warning,
            &place,
            format!("`xts(aes)` runs in software (`{}`) though the processor has instructions for it", best.driver),
            "10 cycles a byte or more, 0.3 GB/s on a core of 3 GHz, where instructions do 1 to 4 GB/s",
        )
        .seen("/proc/crypto", format!("{}, priority {}", best.driver, best.priority))
        .advise(
            "Load the module with the instructions, then open encrypted volumes anew: an open one keeps its driver.",
        );
        round.find(match module(&machine.detail.cpu.flags) {
            Some(module) => found.run(Nothing, format!("modprobe {module}")),
            None => found.look("grep -A 9 'xts(aes)' /proc/crypto"),
        });
    } else if has("vaes") && has("avx2") && best.driver.contains("aesni") && !best.driver.contains("vaes") {
        // Kernel commits of 2024 that added them: 4096-byte messages on a core of Zen 4.
        round.find(
            finding(
                Information,
                &place,
                "the processor has VAES and the kernel's driver does not use it",
                "on a core of Zen 4 the driver with VAES did 9588 MB/s and the older one 4247: 2.3 times as much",
            )
            .seen("/proc/crypto", format!("{}, priority {}", best.driver, best.priority))
            .advise("Kernels from 6.10 on have drivers that do (`xts-aes-vaes-avx2`, `xts-aes-vaes-avx512`)."),
        );
    }
}

/// The kernel's module for the instructions of this kind of processor, which its flags tell. ARM says `pmull` and `sha2`
/// where x86 says `ssse3` and so on (the kernel's `arch/*/crypto/Kconfig`).
fn module(flags: &[String]) -> Option<&'static str> {
    let has = |names: &[&str]| flags.iter().any(|flag| names.contains(&flag.as_str()));
    match (has(&["pmull", "sha2"]), has(&["ssse3", "sse4_2", "avx", "avx2", "pclmulqdq"])) {
        (true, false) => Some("aes-ce-blk"),
        (false, true) => Some("aesni_intel"),
        _ => None,
    }
}

/// Drivers that are plain C, or built of such (`crypto/aes_generic.c`, `crypto/aes_ti.c`, `lib/crypto/aes.c`).
fn is_software(driver: &CryptoDriver) -> bool {
    ["generic", "fixed-time", "aes-lib"].iter().any(|word| driver.driver.contains(word))
}

fn memory(machine: &Machine, round: &mut Round) {
    let place = Place::machine();
    let Some(modules) = round.ask(&place, &machine.detail.memory.modules) else { return };
    if modules.is_empty() {
        return;
    }
    round.look();
    let slow = modules.iter().filter_map(|module| {
        let (now, rated) = (module.speed?, module.rated?);
        (now < rated && rated > 0).then_some((module, now, rated))
    });
    let slow: Vec<_> = slow.collect();
    if let Some((module, now, rated)) = slow.first() {
        round.find(
            finding(
                Information,
                &place,
                format!("memory runs at {now} MT/s and is rated for {rated}"),
                format!(
                    "{} of the bandwidth that was bought, on {}; RAM drives, checksums and parity are bound by it",
                    percent(f64::from(*now) / f64::from(*rated)),
                    count(number(slow.len()), "module")
                ),
            )
            .seen("dmidecode -t memory", format!("{}: {now} MT/s of {rated}", module.slot))
            .advise("The firmware's profile (XMP, EXPO) sets the rated speed, where the processor allows it with so many modules."),
        );
    }
    if let Some(1) = machine.detail.memory.channels.known()
        && modules.len() > 1
    {
        round.find(
            finding(
                Information,
                &place,
                format!("{} share one channel", count(number(modules.len()), "module")),
                "1 channel carries half of what 2 do",
            )
            .seen("dmidecode -t memory", format!("channels counted by the names of slots: 1, modules: {}", modules.len()))
            .advise("The board's manual says which slots belong to different channels. Firmware names slots as it likes, so look first."),
        );
    }
}
