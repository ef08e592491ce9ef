//! Arrays that are measured while they resynchronise: set going again before each run of a job.

use std::time::{Duration, Instant};

use host::{Host, HostError};

use crate::error::MeasureError;

/// How long the kernel may take to begin.
const PATIENCE: Duration = Duration::from_secs(5);
/// Pause between two looks.
const PAUSE: Duration = Duration::from_millis(20);

/// Makes every one of these arrays resynchronise from its first block. Says why where one does not.
///
/// `resync_start` of a running array can be set only while it is frozen, and what follows is what a new array does:
/// members are read and written, not only compared (kernel, drivers/md/md.c, `resync_start_store` and
/// `md_check_recovery`).
///
/// # Errors
/// Where the machine is lost, or refuses.
pub(crate) fn restart(host: &dyn Host, arrays: &[String]) -> Result<Option<String>, MeasureError> {
    for array in arrays {
        let path = host.resolve(array)?;
        let Some(name) = path.strip_prefix("/dev/") else {
            return Ok(Some(format!("`{array}` is no device")));
        };
        let file = |name_of: &str| format!("/sys/block/{name}/md/{name_of}");
        host.write(&file("sync_action"), b"frozen\n")?;
        host.write(&file("resync_start"), b"0\n")?;
        host.write(&file("sync_action"), b"resync\n")?;
        if !begins(host, &file("sync_action"))? {
            return Ok(Some(format!("`{array}` did not begin to resynchronise")));
        }
    }
    Ok(None)
}

fn begins(host: &dyn Host, action: &str) -> Result<bool, HostError> {
    let start = Instant::now();
    loop {
        if host.read_text(action)?.trim() == "resync" {
            return Ok(true);
        }
        if start.elapsed() > PATIENCE {
            return Ok(false);
        }
        host.pause(PAUSE)?;
    }
}
