//! A network path to the drives, lost and given back while fio runs.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use host::{Host, HostError};
use terms::Nanos;
use terms::workload::PathLoss;

/// How often it is looked whether fio still runs.
const STEP: Duration = Duration::from_millis(20);
/// How long a path may take to be used again after it is back: the kernel tries every second or every ten.
const PATIENCE: Duration = Duration::from_secs(60);

/// Takes the path away and gives it back at the moments of `loss` after `start`, which is when the window should begin.
/// The path is always given back, also where fio ends early. Gives the moments on the machine's clock, after each was
/// done; `None` where fio was over before.
///
/// # Errors
/// Where the machine cannot, or is lost.
pub(crate) fn lose(
    host: &dyn Host,
    loss: PathLoss,
    settle: Nanos,
    over: &AtomicBool,
) -> Result<Option<PathLoss>, HostError> {
    let begun = Instant::now();
    if !sleep_until(begun, Nanos(settle.0 + loss.at.0), over) {
        return Ok(None);
    }
    host.network_path(false)?;
    let at = host.now();
    let stayed = sleep_until(begun, Nanos(settle.0 + loss.back.0), over);
    host.network_path(true)?;
    let moments = PathLoss { at: at?, back: host.now()? };
    Ok(stayed.then_some(moments))
}

/// `false` where fio was over first.
fn sleep_until(begun: Instant, moment: Nanos, over: &AtomicBool) -> bool {
    while begun.elapsed() < moment.to_duration() {
        if over.load(Ordering::Relaxed) {
            return false;
        }
        thread::sleep(STEP);
    }
    true
}

/// Waits until every NVMe controller behind a network is connected again. `false` where one is not.
///
/// # Errors
/// Where the machine is lost.
pub(crate) fn await_all(host: &dyn Host) -> Result<bool, HostError> {
    let start = Instant::now();
    loop {
        let mut live = true;
        for name in host.list("/sys/class/nvme")? {
            let told = |file: &str| host.read_text(&format!("/sys/class/nvme/{name}/{file}")).unwrap_or_default();
            live &= told("transport") == "pcie" || told("state") == "live";
        }
        if live || start.elapsed() > PATIENCE {
            return Ok(live);
        }
        thread::sleep(Duration::from_millis(200));
    }
}
