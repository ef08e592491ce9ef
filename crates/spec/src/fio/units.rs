//! Sizes and times as fio reads them (fio(1), "parameter types").

/// Bytes: a number with an optional suffix. With fio's default `kb_base=1024`, `k`, `kb` and `kib` are all 1024.
pub(super) fn size(text: &str) -> Option<u64> {
    let (number, suffix) = split(text)?;
    let unit = match suffix.to_ascii_lowercase().trim_end_matches("ib").trim_end_matches('b') {
        "" => 1,
        "k" => 1 << 10,
        "m" => 1 << 20,
        "g" => 1 << 30,
        "t" => 1 << 40,
        "p" => 1 << 50,
        _ => return None,
    };
    number.checked_mul(unit)
}

/// Nanoseconds: a number with an optional suffix, seconds without one.
pub(super) fn time(text: &str) -> Option<u64> {
    let (number, suffix) = split(text)?;
    let unit = match suffix.to_ascii_lowercase().as_str() {
        "" | "s" => 1_000_000_000,
        "us" => 1_000,
        "ms" => 1_000_000,
        "m" => 60_000_000_000,
        "h" => 3_600_000_000_000,
        "d" => 86_400_000_000_000,
        _ => return None,
    };
    number.checked_mul(unit)
}

fn split(text: &str) -> Option<(u64, &str)> {
    let text = text.trim();
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    Some((text[..end].parse().ok()?, text[end..].trim()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_and_times_are_read_as_fio_reads_them() {
        for (text, expect) in [
            ("4k", Some(4096)),
            ("4kb", Some(4096)),
            ("4KiB", Some(4096)),
            ("1M", Some(1 << 20)),
            ("512", Some(512)),
            ("512b", Some(512)),
            ("4k,8k", None),
            ("50%", None),
            ("", None),
        ] {
            assert_eq!(size(text), expect, "{text}");
        }
        for (text, expect) in [
            ("30", Some(30_000_000_000)),
            ("30s", Some(30_000_000_000)),
            ("500ms", Some(500_000_000)),
            ("2m", Some(120_000_000_000)),
            ("x", None),
        ] {
            assert_eq!(time(text), expect, "{text}");
        }
    }
}
