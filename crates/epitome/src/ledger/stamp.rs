//! What a log, a chat or a board puts before what somebody says: the time, a level, a name, a tag.

/// Longer brackets hold more than a stamp.
const MAX_STAMP: usize = 40;
const MAX_TAG: usize = 20;
/// Digits that a stamp has at least.
const LEAST_DIGITS: usize = 4;
/// Pieces that a stamp has at most: a date, a time, an offset, a level.
const MOST_PIECES: usize = 4;

const LEVELS: [&str; 10] =
    ["TRACE", "DEBUG", "INFO", "NOTICE", "WARN", "WARNING", "ERROR", "FATAL", "CRITICAL", "LOG"];

/// A line of a log or a chat without its stamp: `[2026-03-04 10:12:33] INFO so`, `10:32 <dana> so`. A date by itself, or
/// a time in a sentence, stays: somebody may have said it.
pub(super) fn unstamped(line: &str) -> &str {
    let bytes = line.as_bytes();
    if bytes.first() == Some(&b'<') {
        return signed(line).unwrap_or(line);
    }
    if !matches!(bytes.first(), Some(b'[' | b'0'..=b'9')) {
        return line;
    }
    // Most lines that begin with a number are those of a listing.
    let digits = bytes.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let may_be = match (digits, &bytes[digits..]) {
        // `12: so`
        (1..LEAST_DIGITS, [b':', b' ', ..]) => false,
        (0, _) | (_, [b':' | b'-' | b'/', ..]) => true,
        _ => false,
    };
    if !may_be {
        return line;
    }
    let (mut rest, mut has_clock, mut is_fine) = (line, false, false);
    for nth in 0..MOST_PIECES {
        let Some((piece, behind)) = piece(rest) else { break };
        match stamp(piece) {
            Some(Stamp::Clock) => {
                has_clock = true;
                // `16:45:00 UTC is the cut-off`: by itself it may be what is said.
                is_fine |= tells_seconds(piece) && (nth > 0 || piece.contains('T'));
            }
            Some(Stamp::Date) => {}
            Some(Stamp::Level) if has_clock => is_fine = true,
            Some(Stamp::Level) | None => break,
        }
        rest = behind;
    }
    let name = rest.strip_prefix('<').and_then(|rest| rest.split_once("> "));
    let said = name.filter(|(name, _)| name.len() <= MAX_TAG).map(|(_, said)| said);
    // `14:00 standup`: the time is what is said. `[14:00:05] standup`: it is when.
    let is_stamp = has_clock && (line.starts_with('[') || is_fine);
    match said {
        Some(said) if has_clock => said.trim_start(),
        _ if is_stamp => rest,
        _ => line,
    }
}

/// A line of a chat without who said it, `<dana_k> so`: no tag of a markup, which is in lower case and closed, and no
/// `<FILE>  so` of a help text.
fn signed(line: &str) -> Option<&str> {
    let (name, said) = line.strip_prefix('<')?.split_once("> ")?;
    let is_plain = |c: char| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_' | '.');
    let is_name = (2..=MAX_TAG).contains(&name.len())
        && name.chars().all(is_plain)
        && name.contains(|c: char| c.is_uppercase() || c.is_ascii_digit() || c == '_')
        && name.contains(char::is_lowercase);
    (is_name && !said.contains("</") && !said.starts_with(' ')).then_some(said)
}

/// A line without the tag that it begins with: `[ci] so`, `[TODO] so`.
pub(super) fn untagged(line: &str) -> &str {
    let inner = line.strip_prefix('[').and_then(|rest| rest.split_once(']'));
    // A box is one, too, whatever is in it: `[~]`.
    let is_tag = |tag: &str| {
        let plain = |c: char| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_' | '.' | '#');
        tag.len() == 1 || (1..=MAX_TAG).contains(&tag.len()) && tag.chars().all(plain)
    };
    inner
        .filter(|(tag, behind)| is_tag(tag) && behind.starts_with(' '))
        .map_or(line, |(_, behind)| behind.trim_start())
}

/// The first word, or what stands in brackets, and what is behind it.
fn piece(text: &str) -> Option<(&str, &str)> {
    let (piece, behind) = match text.strip_prefix('[') {
        Some(rest) => rest.split_once(']')?,
        None => text.split_once(' ')?,
    };
    (piece.len() <= MAX_STAMP).then(|| (piece, behind.trim_start()))
}

enum Stamp {
    /// It has a time of day.
    Clock,
    Date,
    Level,
}

fn stamp(piece: &str) -> Option<Stamp> {
    if LEVELS.contains(&piece.trim_end_matches(':')) {
        return Some(Stamp::Level);
    }
    let of_time = |byte: u8| {
        byte.is_ascii_digit()
            || matches!(byte, b':' | b'-' | b'/' | b'.' | b',' | b'+' | b'T' | b'Z' | b' ')
    };
    let digits = piece.bytes().filter(u8::is_ascii_digit).count();
    if digits < LEAST_DIGITS || !piece.bytes().all(of_time) {
        return None;
    }
    match piece.bytes().filter(|byte| *byte == b':').count() {
        0 => (piece.matches('-').count() == 2 || piece.matches('/').count() == 2)
            .then_some(Stamp::Date),
        _ => Some(Stamp::Clock),
    }
}

/// Whether it tells seconds, as logs do and people don't: `10:12:33`, and what is around that.
fn tells_seconds(piece: &str) -> bool {
    piece.as_bytes().windows(8).any(|run| {
        run.iter().enumerate().all(|(at, byte)| match at {
            2 | 5 => *byte == b':',
            _ => byte.is_ascii_digit(),
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stamps_of_logs_and_chats_are_left_out() {
        for line in [
            "[2026-03-04 10:12:33] INFO  so it is",
            "2026-03-04T10:12:33.120Z so it is",
            "2026-03-04 10:12:33,120 WARN: so it is",
            "[10:12] so it is",
            "[10:12:33] [INFO] so it is",
            "10:32 <dana> so it is",
            "[10:32] <dana> so it is",
            "<Dana W.> so it is",
            "<dana_k> so it is",
        ] {
            assert_eq!(unstamped(line), "so it is", "{line}");
        }
    }

    #[test]
    fn times_that_are_said_stay() {
        for line in [
            "14:00 standup moves to room 4",
            "2026-03-04 is the day of the launch",
            "2026-03-04 14:00 we launch",
            "[ci] done",
            "[x] done",
            "16:45 UTC is the cut-off",
            "16:45:00 UTC is the cut-off",
            "09:00-17:00 support hours for the Berlin office",
            "14:00 - 15:00 standup moves to room 4",
            "1234",
            "[2026-03-04 10:12:33",
            "<em> so it is",
            "<Note> so it is</Note>",
            "<OUTPUT> so it is",
            "<config_file>  so it is",
            "",
        ] {
            assert_eq!(unstamped(line), line);
        }
    }

    #[test]
    fn tags_are_left_out() {
        assert_eq!(untagged("[job 88121] RUNNING  so"), "RUNNING  so");
        assert_eq!(untagged("[TODO] so"), "so");
        assert_eq!(untagged("[~] so"), "so");
        for line in ["[a](b) so", "[x, y] so", "[link]", "so [it] is"] {
            assert_eq!(untagged(line), line);
        }
    }
}
