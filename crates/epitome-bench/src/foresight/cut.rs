//! Cuts: where a session is divided into what is compacted and what comes after.

use epitome::transcript::unit::Units;
use epitome::{Request, wire};

use crate::Broken;

/// The first and the last share of the units, in percent, after which a session is cut.
const SPAN: (usize, usize) = (40, 80);

/// Where a session is cut: the share in percent, and the first entry after it.
pub fn cuts(request: &Request, wanted: usize) -> Vec<(usize, usize)> {
    let units = Units::of(&request.transcript, request.format.instructions());
    let all = units.all();
    let (from, to) = SPAN;
    let share = |cut: usize| match wanted {
        0 | 1 => usize::midpoint(from, to),
        _ => from + (to - from) * cut / (wanted - 1),
    };
    let mut found: Vec<(usize, usize)> = Vec::new();
    for cut in 0..wanted {
        let unit = all.len() * share(cut) / 100;
        let Some(first) = all.get(unit).map(|unit| unit.entries.start) else { continue };
        if first > found.last().map_or(0, |(_, last)| *last) {
            found.push((share(cut), first));
        }
    }
    found
}

/// The first entries of a request as a request, with what is known of who speaks.
///
/// # Errors
/// The rest is no request.
pub fn prefix(request: &Request, entries: usize) -> Result<Request, Broken> {
    let all = &request.transcript;
    let source = request.source();
    let (Some(last), Some(end)) = (entries.checked_sub(1), all.len().checked_sub(1)) else {
        return Err(Broken("nothing stands before the cut".to_owned()));
    };
    let (last, end) = (all.entry(last).span().end as usize, all.entry(end).span().end as usize);
    let body = format!("{}{}", &source[..last], &source[end..]);
    let mut prefix = wire::parse(request.format, body)?;
    for at in 0..entries.min(prefix.transcript.len()) {
        let entry = all.entry(at);
        if let Some(time) = entry.time() {
            prefix.transcript.set_time(at, time);
        }
        for part in entry.parts() {
            let inferred = prefix.transcript.part(part.slot).origin();
            if inferred != part.origin() {
                prefix.transcript.set_part_origin(part.slot, part.origin());
            }
        }
    }
    Ok(prefix)
}
