//! Edits of a JSON text: byte ranges replaced, list items removed with what held them.

use super::Span;

/// Replacements of byte ranges of one text, applied in one pass.
#[derive(Clone, Debug, Default)]
pub struct Splices {
    cuts: Vec<(Span, String)>,
}

impl Splices {
    /// Replaces `span` by `text`; an empty span inserts.
    pub fn replace(&mut self, span: Span, text: String) {
        self.cuts.push((span, text));
    }

    /// Removes list items (array elements, or members as key-to-value spans) together with the
    /// separators that held them. `items` are all of the list's items, `gone` tells which leave.
    pub fn remove_items(&mut self, items: &[Span], gone: impl Fn(usize) -> bool) {
        let mut last_kept: Option<Span> = None;
        let mut run: Option<Span> = None;
        for (index, item) in items.iter().enumerate() {
            if gone(index) {
                let start = match (run, last_kept) {
                    (Some(run), _) => run.start,
                    (None, Some(kept)) => kept.end,
                    (None, None) => item.start,
                };
                run = Some(Span { start, end: item.end });
                continue;
            }
            if let Some(hole) = run.take() {
                // Before the first kept item the separator goes with what follows the hole.
                let end = if last_kept.is_none() { item.start } else { hole.end };
                self.replace(Span { start: hole.start, end }, String::new());
            }
            last_kept = Some(*item);
        }
        if let Some(hole) = run {
            self.replace(hole, String::new());
        }
    }

    /// Whether nothing is to be replaced.
    pub fn is_empty(&self) -> bool {
        self.cuts.is_empty()
    }

    /// `text` with all replacements made. Where one lies within another, the outer one counts.
    pub fn apply(mut self, text: &str) -> String {
        self.cuts
            .sort_by_key(|(span, _)| (span.start, !span.is_empty(), std::cmp::Reverse(span.end)));
        let mut out = String::with_capacity(text.len());
        let mut at = 0;
        for (span, with) in &self.cuts {
            if (span.start as usize) < at {
                continue;
            }
            out.push_str(&text[at..span.start as usize]);
            out.push_str(with);
            at = span.end as usize;
        }
        out.push_str(&text[at..]);
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::elements;

    #[test]
    fn removes_items_with_their_separators() {
        let text = "[ 1 , 2 ,3, 4 ]";
        let items = elements(text, Span::new(0..text.len())).expect("an array");
        let without = |gone: &[usize]| {
            let mut splices = Splices::default();
            splices.remove_items(&items, |i| gone.contains(&i));
            splices.apply(text)
        };
        assert_eq!(without(&[0]), "[ 2 ,3, 4 ]");
        assert_eq!(without(&[3]), "[ 1 , 2 ,3 ]");
        assert_eq!(without(&[1, 2]), "[ 1, 4 ]");
        assert_eq!(without(&[0, 2]), "[ 2, 4 ]");
        assert_eq!(without(&[0, 1, 2, 3]), "[  ]");
    }
}
