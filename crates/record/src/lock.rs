//! One writer for one run: an advisory lock that ends with its process, however that ends.

use std::fs::{self, File, OpenOptions};
use std::os::unix::fs::FileExt;
use std::path::Path;

use rustix::fs::{FlockOperation, flock};

use crate::error::RecordError;
use crate::layout;

/// Held as long as it lives.
#[derive(Debug)]
pub(crate) struct Lock {
    _file: File,
}

impl Lock {
    /// Takes the lock of a run's directory and leaves this process's number in it.
    ///
    /// The file stays when the lock is let go: removing it would let two processes lock two files of one name.
    pub(crate) fn take(dir: &Path) -> Result<Self, RecordError> {
        let path = dir.join(layout::LOCK);
        let open = OpenOptions::new().write(true).create(true).truncate(false).open(&path);
        let file = open.map_err(RecordError::io("open", &path))?;
        match flock(&file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => {}
            Err(rustix::io::Errno::WOULDBLOCK) => {
                let pid = fs::read_to_string(&path).ok().and_then(|text| text.trim().parse().ok());
                return Err(RecordError::Locked { dir: dir.to_owned(), pid });
            }
            Err(error) => return Err(RecordError::io("lock", &path)(error.into())),
        }
        let pid = format!("{}\n", std::process::id());
        let write = file.set_len(0).and_then(|()| file.write_all_at(pid.as_bytes(), 0));
        write.map_err(RecordError::io("write", &path))?;
        Ok(Self { _file: file })
    }
}
