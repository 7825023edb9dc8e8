//! Figures as people read them.

use std::time::{Duration, SystemTime};

/// Tokens, in few digits.
pub(super) fn tokens(count: u64) -> String {
    match count {
        ..1_000 => count.to_string(),
        1_000..9_950 => format!("{:.1}k", count as f64 / 1e3),
        9_950..999_500 => format!("{}k", (count + 500) / 1_000),
        _ => format!("{:.1}M", count as f64 / 1e6),
    }
}

/// Dollars; what is lost has a sign.
pub(super) fn dollars(amount: f64) -> String {
    let sign = if amount < 0.0 { "−" } else { "" };
    let amount = amount.abs();
    if amount > 0.0 && amount < 0.995 {
        format!("{sign}${amount:.4}")
    } else {
        format!("{sign}${amount:.2}")
    }
}

/// How long ago something was.
pub(super) fn ago(at: SystemTime) -> String {
    let passed = SystemTime::now().duration_since(at).unwrap_or(Duration::ZERO).as_secs();
    match passed {
        ..60 => format!("{passed} s ago"),
        60..3_600 => format!("{} min ago", passed / 60),
        3_600..86_400 => format!("{} h ago", passed / 3_600),
        _ => format!("{} d ago", passed / 86_400),
    }
}

pub(super) fn counted(count: u64, noun: &str) -> String {
    epitome::text::figure::counted(usize::try_from(count).unwrap_or(usize::MAX), noun)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_short() {
        let told: Vec<String> =
            [0, 999, 1_000, 9_949, 9_950, 12_345, 999_499, 999_500].map(tokens).into();
        assert_eq!(told, ["0", "999", "1.0k", "9.9k", "10k", "12k", "999k", "1.0M"]);
        let told: Vec<String> = [0.0, 0.1234, -0.5, 12.345, -3.0].map(dollars).into();
        assert_eq!(told, ["$0.00", "$0.1234", "−$0.5000", "$12.35", "−$3.00"]);
    }
}
