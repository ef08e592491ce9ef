//! How a job file names what is measured.
//!
//! A value ends at `#` and `;`, and `$` may begin a variable: in a job file there is no way around either, and for a file
//! name none on the command line (`strip_blank_end`, `fio_keyword_replace` and `str_filename_cb` in fio's sources). What
//! cannot be spelt is reached through a link in the directory that fio works in.

/// The link, for a path that cannot be spelt.
pub(crate) const LINK: &str = "target";

/// Longest path that is spelt, in bytes. fio takes what is behind byte 4096 of a line for another line.
const LONGEST: usize = 1024;

/// The path as a job file has it, and what the link leads to where it takes one: the directory that the file is in, as
/// fio removes a link to the file itself when it makes the file; or a device, which is never made.
pub(super) fn spelt(path: &str) -> (String, Option<&str>) {
    match path.rsplit_once('/') {
        _ if is_plain(path) && path.starts_with('/') => (escaped(path), None),
        Some((directory, file)) if is_plain(file) => (format!("{LINK}/{}", escaped(file)), Some(directory)),
        _ => (LINK.to_owned(), Some(path)),
    }
}

/// Does fio take every letter of it as it is, or a colon?
fn is_plain(text: &str) -> bool {
    let spoils = |c: char| c.is_control() || "#;$\\".contains(c);
    !text.is_empty() && text.len() <= LONGEST && !text.contains(spoils) && !text.ends_with(' ')
}

/// A colon would end the name, and gets a backslash before it.
fn escaped(text: &str) -> String {
    text.replace(':', "\\:")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_fio_would_take_for_something_else_is_not_spelt() {
        assert_eq!(spelt("/mnt/a b:c/bedplate.dat"), ("/mnt/a b\\:c/bedplate.dat".to_owned(), None));
        let long = "/x".repeat(600);
        for path in ["/a#b", "/a;b", "/$ncpus", "/${HOME}", "/a\nexec_prerun=x", "/a\\b", &long] {
            assert_eq!(spelt(&format!("{path}/x:y")), ("target/x\\:y".to_owned(), Some(path)));
            let device = format!("/dev/{}", path.replace('/', "#"));
            assert_eq!(spelt(&device), (LINK.to_owned(), Some(device.as_str())));
        }
    }
}
