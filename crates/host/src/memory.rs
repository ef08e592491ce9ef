//! Memory of a machine.

use terms::Bytes;
use terms::units::KIB;

use crate::Host;

/// Memory that new programs can have without swapping (proc_meminfo(5), `MemAvailable`); `None` where it is not told.
pub fn available_memory(host: &dyn Host) -> Option<Bytes> {
    available(&host.read_text("/proc/meminfo").ok()?)
}

fn available(meminfo: &str) -> Option<Bytes> {
    let line = meminfo.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok().map(|kib| Bytes(kib.saturating_mul(KIB)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_read_as_the_kernel_writes_it() {
        assert_eq!(available("MemTotal: 9 kB\nMemAvailable:   2048 kB\n"), Some(Bytes::mib(2)));
        assert_eq!(available("MemTotal: 9 kB\n"), None);
    }
}
