//! What was most likely meant by a name that nothing has.

use epitome::{preset, strategy};

/// Edits between a name and what was meant by it, at the most.
const MOST_EDITS: usize = 3;

/// The nearest of the known names, if any is near.
pub(crate) fn nearest<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let edits = |known: &'a str| (strsim::damerau_levenshtein(name, known), known);
    let (edits, nearest) = known.into_iter().map(edits).min()?;
    (edits <= MOST_EDITS.min(name.len() / 2)).then_some(nearest)
}

/// The hint of an error about a name: the nearest known name. For unknown fields, the known fields.
pub(crate) fn hint(error: &str) -> Option<String> {
    let mut quoted = error.split('`').skip(1).step_by(2);
    let unknown = quoted.next()?;
    let known: Vec<&str> = if error.contains("there is no strategy") {
        strategy::NAMES.to_vec()
    } else if error.contains("there is no preset") {
        preset::NAMES.to_vec()
    } else if error.contains("unknown ") {
        quoted.collect()
    } else {
        return None;
    };
    nearest(unknown, known).map(|name| format!("did you mean `{name}`?"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_names_are_meant() {
        assert_eq!(nearest("outptus", strategy::NAMES.to_vec()), Some("outputs"));
        assert_eq!(nearest("xy", strategy::NAMES.to_vec()), None);
        let error = "unknown field `min-gian`, expected `min-gain` or `max-tokens`";
        assert_eq!(hint(error).as_deref(), Some("did you mean `min-gain`?"));
        assert_eq!(
            hint("there is no preset `plank`; they are …").as_deref(),
            Some("did you mean `planck`?")
        );
        assert_eq!(hint("`lots` is not a number"), None);
    }
}
