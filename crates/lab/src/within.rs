//! What a guest's own kernel is given before anything is built in it: drives in its memory, what it has for its processor,
//! and ciphers.

use std::collections::BTreeMap;

use host::{Host, Remote};
use terms::{Clock, Cmd, LabSpec, Name};

use crate::error::LabError;
use crate::{flash, ram};

/// What encryption and checksums ask the kernel for. It waits 60 s for a cipher (`crypto_larval_wait` in crypto/api.c), and
/// a guest under a clock of its own has waited as long before its disk has given it the module: `cryptsetup open` failed with
/// "Connection timed out".
const CIPHERS: [&str; 8] = ["algif_hash", "algif_skcipher", "cbc", "cryptd", "dm_crypt", "essiv", "hmac", "xts"];
/// What the processor is and can, as modules for it name it. A machine's udev loads them all at boot (80-drivers.rules), such as
/// SHA-256 by AVX2; a kernel that has SHA-256 in C built in never asks for it.
const PROCESSOR: &str = "/sys/devices/system/cpu/modalias";

/// Makes the drives that the guest's own kernel has; gives their nodes.
pub(crate) fn make(guest: &Remote, machine: &LabSpec) -> Result<BTreeMap<Name, String>, LabError> {
    let processor = guest.read_text(PROCESSOR)?;
    let ciphers = if machine.clock() == Clock::Virtual { CIPHERS.as_slice() } else { &[] };
    // One that the kernel does not have as a module it has in itself, or nothing asks for it.
    guest.run(&Cmd::new(
        ["modprobe", "--quiet", "--all", processor.trim()].into_iter().chain(ciphers.iter().copied()),
    ))?;
    let mut nodes = ram::make(guest, machine)?;
    nodes.extend(flash::make(guest, machine)?);
    Ok(nodes)
}
