//! The smallest bodies that break a provider's rules, one for each.

/// A rule and its body a line.
const BODIES: &str = include_str!("../data/breaches.tsv");

/// A body (or a bare list) that breaks this rule, and no other.
///
/// # Panics
/// If no body is known: each rule of [`epitome::wire::RULES`] has one.
pub fn failing(rule: &str) -> String {
    if rule == "anthropic/too-many" {
        return format!("[{}]", vec![r#"{"role":"user","content":"hi"}"#; 100_001].join(","));
    }
    let mut rows = BODIES.lines().filter_map(|row| row.split_once('\t'));
    let row = rows.find(|(of, _)| *of == rule);
    row.unwrap_or_else(|| panic!("no failing body for {rule}")).1.to_owned()
}
