//! Can a drive serve at all?

use host::{Host, HostError};
use terms::Bytes;

use crate::device::Device;
use crate::examination::Class;
use crate::log::Log;

/// Reports why a device cannot serve.
pub(crate) fn report(host: &dyn Host, device: &Device, log: &mut Log) -> Result<(), HostError> {
    let node = device.node();
    if device.size == Bytes(0) {
        log.add(Class::Unfit, "it has no size: nothing is plugged in, or it was taken out", format!("lsblk {node}"));
    }
    match log.proven("whether it may be written", device.attribute(host, "ro"))?.flatten().as_deref() {
        Some("0") => {}
        Some("1") => log.add(Class::Unfit, "it is read-only", format!("blockdev --setrw {node}")),
        other => log.unknown(format!("it does not say whether it may be written: {other:?}")),
    }
    let whole = device.whole_directory();
    let attribute = |file: &str| crate::device::present(host.read_text(&format!("{whole}/{file}")));
    match log.proven("whether it is zoned", attribute("queue/zoned"))?.flatten().as_deref() {
        // Kernels without zones do not say.
        Some("none") | None => {}
        Some(zones) => {
            let what = format!("it is zoned ({zones}), and no stack here writes zones in order");
            log.add(Class::Unfit, what, format!("blkzone report {node}"));
        }
    }
    // NVMe controllers and SCSI devices say how they are; others do not.
    match log.proven("its state", attribute("device/state"))?.flatten().as_deref() {
        Some("live" | "running") | None => {}
        Some(state) => log.add(Class::Unfit, format!("its controller says `{state}`"), "dmesg --level err,warn"),
    }
    Ok(())
}
