//! Moments as agents write them: `2026-11-22T05:29:39.871Z`.

const SECOND: u64 = 1000;
const DAY: u64 = 86_400;

/// A moment in milliseconds since 1970, in words.
pub fn rfc3339(millis: u64) -> String {
    let (days, rest) = (millis / (DAY * SECOND), millis % (DAY * SECOND));
    // Days since the 1st of March of the year 0, in eras of 400 years.
    let shifted = days + 719_468;
    let (era, of_era) = (shifted / 146_097, shifted % 146_097);
    let year = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let from_march = (5 * of_year + 2) / 153;
    let day = of_year - (153 * from_march + 2) / 5 + 1;
    let month = if from_march < 10 { from_march + 3 } else { from_march - 9 };
    let year = era * 400 + year + u64::from(month <= 2);
    let (seconds, millis) = (rest / SECOND, rest % SECOND);
    let (hour, minute, second) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{millis:03}Z")
}

/// A moment that is written so, with or without a fraction, at any offset, in milliseconds since 1970; `None` if it
/// isn't one, or an earlier one.
///
/// ```
/// use epitome::text::time::{millis, rfc3339};
/// assert_eq!(millis("2026-11-22T06:29:39.871234+01:00"), Some(1_795_325_379_871));
/// assert_eq!(millis(&rfc3339(951_782_400_000)), Some(951_782_400_000));
/// assert_eq!(millis("yesterday"), None);
/// ```
pub fn millis(text: &str) -> Option<u64> {
    let number = |from: usize, to: usize| -> Option<u64> {
        let digits = text.get(from..to)?;
        digits.bytes().all(|byte| byte.is_ascii_digit()).then(|| digits.parse().ok())?
    };
    let has =
        |at: usize, wanted: &[u8]| text.as_bytes().get(at).is_some_and(|is| wanted.contains(is));
    let is_spelt =
        has(4, b"-") && has(7, b"-") && has(10, b"Tt ") && has(13, b":") && has(16, b":");
    let (year, month, day) = (number(0, 4)?, number(5, 7)?, number(8, 10)?);
    let (hour, minute, second) = (number(11, 13)?, number(14, 16)?, number(17, 19)?);
    let is_sound = (1..=12).contains(&month) && (1..=31).contains(&day) && hour < 24 && minute < 60;
    if !is_spelt || !is_sound || second > 60 {
        return None;
    }
    let rest = &text[19..];
    let digits = rest
        .strip_prefix('.')
        .map_or("", |rest| &rest[..rest.bytes().take_while(u8::is_ascii_digit).count()]);
    let zone = if digits.is_empty() { rest } else { &rest[1 + digits.len()..] };
    let fraction: u64 = format!("{digits:0<3}")[..3].parse().ok()?;
    // Minutes that it is ahead.
    let ahead = match zone.as_bytes() {
        b"Z" | b"z" | b"" => 0,
        [sign @ (b'+' | b'-'), a, b, b':', c, d]
            if [a, b, c, d].iter().all(|it| it.is_ascii_digit()) =>
        {
            let of = |tens: u8, ones: u8| i64::from(tens - b'0') * 10 + i64::from(ones - b'0');
            let minutes = of(*a, *b) * 60 + of(*c, *d);
            if *sign == b'+' { minutes } else { -minutes }
        }
        _ => return None,
    };
    let (before, from_march) =
        if month > 2 { (year, month - 3) } else { (year.checked_sub(1)?, month + 9) };
    let days =
        before * 365 + before / 4 - before / 100 + before / 400 + (153 * from_march + 2) / 5 + day
            - 1;
    let days = days.checked_sub(719_468)?;
    let seconds = days * DAY + hour * 3600 + minute * 60 + second;
    let seconds = i64::try_from(seconds).ok()? - ahead * 60;
    Some(u64::try_from(seconds).ok()? * SECOND + fraction)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn moments_are_written_as_agents_write_them() {
        for (moment, want) in [
            (0, "1970-01-01T00:00:00.000Z"),
            (951_782_400_000, "2000-02-29T00:00:00.000Z"),
            (1_795_325_379_871, "2026-11-22T05:29:39.871Z"),
            (4_107_542_399_999, "2100-02-28T23:59:59.999Z"),
        ] {
            assert_eq!(rfc3339(moment), want);
            assert_eq!(millis(want), Some(moment));
        }
        for (text, want) in [
            ("1970-01-01T00:00:01Z", Some(1000)),
            ("1970-01-01T00:00:01.5Z", Some(1500)),
            ("1970-01-01 01:00:00+01:00", Some(0)),
            ("1970-01-01T00:00:00+01:00", None),
            ("1970-13-01T00:00:00Z", None),
            ("1970-01-01T00:00:0éZ", None),
            ("", None),
        ] {
            assert_eq!(millis(text), want, "{text}");
        }
    }

    proptest! {
        #[test]
        fn what_is_written_is_read(moment in 0u64..253_402_300_799_999, noise in "\\PC{0,30}") {
            prop_assert_eq!(millis(&rfc3339(moment)), Some(moment));
            let _whatever = millis(&noise);
        }
    }
}
