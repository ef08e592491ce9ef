//! A file that another process has open, which may have no name.

use std::fs::{self, File, OpenOptions};
use std::io;

/// Opens, to read and to write, the first file of a process whose name begins so: `/memfd:NAME` for one in memory alone
/// (proc(5), `/proc/pid/fd`).
///
/// # Errors
/// Where the process is gone or somebody else's; [`io::ErrorKind::NotFound`] where it has none open.
pub fn open_file_of(process: u32, begins: &str) -> io::Result<File> {
    for entry in fs::read_dir(format!("/proc/{process}/fd"))?.flatten() {
        if fs::read_link(entry.path()).is_ok_and(|target| target.to_string_lossy().starts_with(begins)) {
            return OpenOptions::new().read(true).write(true).open(entry.path());
        }
    }
    Err(io::Error::new(
        io::ErrorKind::NotFound,
        format!("process {process} has no file open that begins with {begins}"),
    ))
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};

    use rustix::fs::{MemfdFlags, memfd_create};

    use super::*;

    #[test]
    fn a_file_without_a_name_is_found_by_whoever_has_it() {
        let mut own = File::from(memfd_create("bedplate-test", MemfdFlags::CLOEXEC).unwrap());
        own.write_all(b"content").unwrap();
        let mut text = String::new();
        open_file_of(std::process::id(), "/memfd:bedplate-test").unwrap().read_to_string(&mut text).unwrap();
        assert_eq!(text, "content");
        let error = open_file_of(std::process::id(), "/memfd:bedplate-none").unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::NotFound);
    }
}
