//! Prints how many secrets are masked, and how many texts without a secret: `cargo run --release -p epitome-cli --example secrets`
//!
//! It fails if fewer than 99 % of the canaries are masked, or more than 0.5 % of look-alikes or of what real transcripts say.

use std::collections::BTreeMap;
use std::error::Error;
use std::fmt::Write as _;
use std::path::Path;

use epitome::text::secrets::masked;
use epitome::transcript::PartKind;
use epitome_recordings::{Options, READERS, Reach, open};
use testkit::canaries::{PLACES, canaries, harmless, kinds};

type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// Canaries of each kind in each place.
const EACH: usize = 20;
const SEED: u64 = 20_261_122;

fn main() -> Result<()> {
    let mut page = String::new();
    recall(&mut page)?;
    look_alikes(&mut page)?;
    noise(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../.."), &mut page)?;
    print!("{page}");
    Ok(())
}

fn recall(page: &mut String) -> Result<()> {
    let all = canaries(SEED, EACH);
    let mut places: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
    let mut missed: BTreeMap<&str, usize> = BTreeMap::new();
    let mut hidden = 0;
    for canary in &all {
        let shown = masked(&canary.said);
        let is_hidden = !canary.drawn.iter().any(|drawn| shown.contains(drawn.as_str()));
        let place = places.entry(canary.place).or_default();
        place.0 += 1;
        place.1 += usize::from(is_hidden);
        hidden += usize::from(is_hidden);
        if !is_hidden {
            *missed.entry(canary.kind).or_default() += 1;
        }
    }
    writeln!(
        page,
        "## Canaries\n\n{} kinds of secrets as their providers write them \
         (crates/testkit/data/canaries.txt), {EACH} of each in each of {} places: \
         {hidden} of {} are masked, **{:.2} %**.\n\n| place | canaries | masked |\n|---|--:|--:|",
        kinds().count(),
        PLACES.len(),
        all.len(),
        percent(hidden, all.len()),
    )?;
    for place in PLACES {
        let (count, hidden) = places[place];
        writeln!(page, "| {place} | {count} | {hidden} |")?;
    }
    let missed: Vec<String> =
        missed.iter().map(|(name, count)| format!("{name} ({count})")).collect();
    let missed = if missed.is_empty() { "none".to_owned() } else { missed.join(", ") };
    writeln!(page, "\nMissed: {missed}.\n")?;
    if hidden * 100 < all.len() * 99 {
        return Err(format!("fewer than 99 % are masked: {hidden} of {}\n{page}", all.len()).into());
    }
    Ok(())
}

fn look_alikes(page: &mut String) -> Result<()> {
    let all = harmless(SEED, EACH);
    let touched: Vec<&String> = all.iter().filter(|said| masked(said) != **said).collect();
    writeln!(
        page,
        "## Look-alikes\n\nOf {} texts without a secret that look as if they had one \
         (crates/testkit/data/harmless.txt), {} are masked, **{:.2} %**.\n",
        all.len(),
        touched.len(),
        percent(touched.len(), all.len()),
    )?;
    if touched.len() * 200 > all.len() {
        return Err(format!("more than 0.5 % is masked: {touched:?}\n{page}").into());
    }
    Ok(())
}

fn noise(root: &Path, page: &mut String) -> Result<()> {
    let (mut parts, mut touched, mut words, mut gone) = (0, 0, 0, 0);
    let mut names: BTreeMap<String, usize> = BTreeMap::new();
    let mut files = 0;
    for reader in READERS {
        let folder = root.join("examples").join(reader.name());
        let mut all: Vec<_> = folder.read_dir()?.collect::<std::result::Result<_, _>>()?;
        all.sort_by_key(std::fs::DirEntry::file_name);
        for file in all {
            if file.file_name().to_string_lossy().starts_with("LICENSE") {
                continue;
            }
            let options = Options { reach: Reach::Whole, ..Options::default() };
            let input = open(std::fs::read(file.path())?, None, options)?;
            files += 1;
            let spoken = [PartKind::Text, PartKind::Call, PartKind::Result];
            for part in input.request().transcript.entries().flat_map(|entry| entry.parts()) {
                if !spoken.contains(&part.kind()) {
                    continue;
                }
                let text = part.text();
                let shown = masked(&text);
                parts += 1;
                words += text.split_whitespace().count();
                let marks = shown.matches("[masked: ").count() - text.matches("[masked: ").count();
                touched += usize::from(marks > 0);
                gone += marks;
                for rest in shown.split("[masked: ").skip(1) {
                    let name = rest.split(']').next().unwrap_or_default();
                    *names.entry(name.to_owned()).or_default() += 1;
                }
            }
        }
    }
    let names: Vec<String> = names.iter().map(|(name, count)| format!("{name} {count}")).collect();
    let names = if names.is_empty() { String::new() } else { format!(": {}", names.join(", ")) };
    writeln!(
        page,
        "## Real transcripts\n\n{files} sessions in examples/: something is masked in {touched} of {parts} texts, calls and \
         results (**{:.2} %**), {gone} of {words} words{names}. Were each of them no secret, that would be how often something is \
         masked in vain.",
        percent(touched, parts),
    )?;
    if touched * 200 > parts {
        return Err(format!("more than 0.5 % is masked: {touched} of {parts}\n{page}").into());
    }
    Ok(())
}

fn percent(part: usize, of: usize) -> f64 {
    part as f64 * 100.0 / of.max(1) as f64
}
