//! Members that a format doesn't know, where its provider refuses them.

use super::rules::{Finding, Mend, RuleId};
use crate::json::{JsonError, Scanner, Span, unquote};
use crate::transcript::{Entry, Part, Slot};

/// Members of the object `part` that aren't among `known`.
pub(super) fn of_part(
    source: &str,
    entry: Entry<'_>,
    part: &Part<'_>,
    known: &[&str],
    rule: RuleId,
    findings: &mut Vec<Finding>,
) {
    let row = part.row();
    let whose = (entry.index, Some(part.slot));
    find(source, whose, row.span, (known, rule), findings, |scanner| {
        // What was read isn't read again.
        if !row.body.is_empty() && scanner.position() == row.body.start as usize {
            scanner.go_on_at(row.body.end);
            return Ok(());
        }
        scanner.value().map(|_| ())
    });
}

/// Members of the message itself that aren't among `known`.
pub(super) fn of_entry(
    source: &str,
    entry: Entry<'_>,
    known: &[&str],
    rule: RuleId,
    findings: &mut Vec<Finding>,
) {
    find(source, (entry.index, None), entry.span(), (known, rule), findings, |scanner| {
        let at = scanner.position();
        let mut parts = entry.parts().map(|part| part.row().span).peekable();
        while parts.next_if(|part| (part.start as usize) < at).is_some() {}
        if scanner.peek() != Some(b'[') {
            return scanner.value().map(|_| ());
        }
        let walked = scanner.array(|scanner| {
            let at = scanner.position();
            while parts.next_if(|part| (part.start as usize) < at).is_some() {}
            match parts.next_if(|part| part.start as usize == at) {
                Some(part) => scanner.go_on_at(part.end),
                None => {
                    scanner.value()?;
                }
            }
            Ok::<_, JsonError>(())
        });
        walked.map(|_| ())
    });
}

/// A run of members that leave together has one finding.
fn find(
    source: &str,
    (entry, slot): (usize, Option<Slot>),
    object: Span,
    (known, rule): (&[&str], RuleId),
    findings: &mut Vec<Finding>,
    mut value: impl FnMut(&mut Scanner<'_>) -> Result<(), JsonError>,
) {
    if !object.of(source).starts_with('{') {
        return;
    }
    let mut kept: Option<u32> = None;
    let mut run: Option<(Span, Vec<String>)> = None;
    let mut put = |(hole, names): (Span, Vec<String>)| {
        let mend = Mend::LeaveOut(hole);
        findings.push(Finding::of_entry(rule, entry, slot, names.join(", "), mend));
    };
    let walked = Scanner::starting_at(source, object.start).object(|scanner, key| {
        let name = unquote(key.of(source));
        let is_known = known.contains(&name.as_ref());
        if is_known && let Some((mut hole, names)) = run.take() {
            // Before the first one that stays, the separator behind leaves too.
            if kept.is_none() {
                hole.end = key.start;
            }
            put((hole, names));
        }
        value(scanner)?;
        let end = scanner.position() as u32;
        if is_known {
            kept = Some(end);
        } else {
            let start = kept.unwrap_or(key.start);
            let (hole, names) = run.get_or_insert_with(|| (Span { start, end }, Vec::new()));
            hole.end = end;
            names.push(name.into_owned());
        }
        Ok::<_, JsonError>(())
    });
    if let (Some(run), Ok(_)) = (run, walked) {
        put(run);
    }
}

#[cfg(test)]
mod tests {
    use crate::wire::{Format, check, parse, repair};

    #[test]
    fn members_leave_with_what_held_them() {
        for message in [
            r#"{"ts":1,"id":2,"role":"user","content":"x"}"#,
            r#"{"role":"user","ts":1,"id":2,"content":"x"}"#,
            r#"{"role":"user","content":"x","ts":1,"id":2}"#,
            r#"{"ts":1,"role":"user","a":[{}],"content":"x","id":2}"#,
        ] {
            let request = parse(Format::Anthropic, format!("[{message}]")).expect("a message");
            let mended = repair(&request).request;
            assert_eq!(mended.source().as_str(), r#"[{"role":"user","content":"x"}]"#, "{message}");
            assert!(check(&mended).is_empty());
        }
    }
}
