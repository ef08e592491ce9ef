//! Words of the kernel's tables.

/// Undoes the octal escapes in which the kernel writes white space in its tables.
#[must_use]
pub fn unescape(word: &str) -> String {
    let mut bytes = Vec::with_capacity(word.len());
    let mut rest = word.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        let digits = after.get(..3).and_then(|digits| std::str::from_utf8(digits).ok());
        let digits = digits.filter(|digits| *first == b'\\' && digits.bytes().all(|digit| digit.is_ascii_digit()));
        match digits.and_then(|digits| u8::from_str_radix(digits, 8).ok()) {
            Some(byte) => {
                bytes.push(byte);
                rest = &after[3..];
            }
            None => {
                bytes.push(*first);
                rest = after;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_of_the_kernel_are_undone() {
        assert_eq!(unescape(r"/mnt/a\040b\134c"), r"/mnt/a b\c");
        assert_eq!(unescape(r"/mnt/a\+12"), r"/mnt/a\+12");
        assert_eq!(unescape(r"\04"), r"\04");
        assert_eq!(unescape(r"\777x"), r"\777x");
    }
}
