//! Bytes that nobody can guess: keys of layers that live for one run.

use rustix::rand::{GetRandomFlags, getrandom};
use terms::Cmd;

use crate::{Host, HostError};

/// Draws a key. A machine with a clock of its own draws it itself, and by its seed the same one each time: what a program
/// does with a key takes more or fewer instructions by its bytes, and nothing on such a machine outlives it.
///
/// # Errors
/// Where the machine cannot be asked, or this one has no random bytes.
pub fn draw_key(host: &dyn Host, bytes: usize) -> Result<Vec<u8>, HostError> {
    if host.has_own_clock() {
        return Ok(host.run_ok(&Cmd::new(["head", &format!("--bytes={bytes}"), "/dev/urandom"]))?.stdout);
    }
    let mut key = vec![0; bytes];
    let mut filled = 0;
    while filled < bytes {
        filled += getrandom(&mut key[filled..], GetRandomFlags::empty()).map_err(|errno| HostError::File {
            host: "this machine".to_owned(),
            doing: "draw a key from",
            path: "getrandom(2)".to_owned(),
            source: errno.into(),
        })?;
    }
    Ok(key)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Local;

    #[test]
    fn no_two_keys_are_alike() {
        let [one, other] = [(); 2].map(|()| draw_key(&Local::new(), 64).unwrap());
        assert!(one.len() == 64 && other.len() == 64 && one != other);
    }
}
