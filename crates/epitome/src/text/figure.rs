//! Figures as people read them: `1,234`, `56.7 kB`.

/// A count with thousands separated: `1,234,567`.
pub fn grouped(count: usize) -> String {
    let digits = count.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// A size in decimal units with one digit after the point: `312 B`, `4.2 kB`, `1.3 MB`.
pub fn size(bytes: usize) -> String {
    let tenths = |unit: usize| bytes / unit * 10 + bytes % unit * 10 / unit;
    let (tenths, unit) = match bytes {
        0..1_000 => return format!("{bytes} B"),
        1_000..1_000_000 => (tenths(1_000), "kB"),
        1_000_000..1_000_000_000 => (tenths(1_000_000), "MB"),
        _ => (tenths(1_000_000_000), "GB"),
    };
    format!("{}.{} {unit}", tenths / 10, tenths % 10)
}

/// A count with its noun, `1 line` or `12 lines`.
pub fn counted(count: usize, noun: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{} {noun}{plural}", grouped(count))
}

/// How many lines a text has; an end of line at its end begins no further one.
pub fn lines(text: &str) -> usize {
    let ends = memchr::memchr_iter(b'\n', text.as_bytes()).count();
    ends + usize::from(!text.is_empty() && !text.ends_with('\n'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_read_well() {
        assert_eq!(grouped(0), "0");
        assert_eq!(grouped(999), "999");
        assert_eq!(grouped(1_234_567), "1,234,567");
        assert_eq!(size(999), "999 B");
        assert_eq!(size(4_299), "4.2 kB");
        assert_eq!(size(56_700_000), "56.7 MB");
        assert_eq!(size(usize::MAX), "18446744073.7 GB");
        assert_eq!([lines(""), lines("a"), lines("a\n"), lines("a\n\nb")], [0, 1, 1, 3]);
        assert_eq!(counted(1, "line"), "1 line");
        assert_eq!(counted(1_200, "item"), "1,200 items");
    }
}
