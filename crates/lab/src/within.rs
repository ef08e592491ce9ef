//! What a guest's own kernel is given before anything is built in it: drives in its memory, and ciphers.

use std::collections::BTreeMap;

use host::{Host, Remote};
use terms::{Clock, Cmd, LabSpec, Name};

use crate::error::LabError;
use crate::{flash, ram};

/// What encryption and checksums ask the kernel for. It waits 60 s for a cipher (`crypto_larval_wait` in crypto/api.c), and
/// a guest under a clock of its own has waited as long before its disk has given it the module: `cryptsetup open` failed with
/// "Connection timed out".
const CIPHERS: [&str; 10] = [
    "aesni_intel",
    "algif_hash",
    "algif_skcipher",
    "cbc",
    "crc32c_intel",
    "cryptd",
    "dm_crypt",
    "essiv",
    "hmac",
    "xts",
];

/// Makes the drives that the guest's own kernel has; gives their nodes.
pub(crate) fn make(guest: &Remote, machine: &LabSpec) -> Result<BTreeMap<Name, String>, LabError> {
    if machine.clock() == Clock::Virtual {
        // One that the kernel does not have as a module it has in itself, or nothing asks for it.
        guest.run(&Cmd::new(["modprobe", "--quiet", "--all"].into_iter().chain(CIPHERS)))?;
    }
    let mut nodes = ram::make(guest, machine)?;
    nodes.extend(flash::make(guest, machine)?);
    Ok(nodes)
}
