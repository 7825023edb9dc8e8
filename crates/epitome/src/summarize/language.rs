//! In which language a text is, as far as its letters and its smallest words tell.

/// A language or, where letters alone tell, a script.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Language {
    English,
    German,
    French,
    Spanish,
    Italian,
    Portuguese,
    Cyrillic,
    Greek,
    Arabic,
    Hebrew,
    Devanagari,
    Thai,
    Japanese,
    Korean,
    Chinese,
}

/// Small words that are frequent in one of these languages and in few others.
const SMALL: [(Language, &[&str]); 6] = [
    (
        Language::English,
        &[
            "the", "and", "is", "of", "to", "it", "that", "this", "with", "not", "was", "are",
            "for", "be", "should",
        ],
    ),
    (
        Language::German,
        &[
            "der", "die", "das", "und", "ist", "nicht", "ein", "eine", "mit", "auf", "für", "den",
            "dem", "wird", "ich", "bitte",
        ],
    ),
    (
        Language::French,
        &[
            "le", "les", "des", "et", "est", "une", "dans", "pas", "pour", "que", "sur", "avec",
            "du", "il", "je", "ne",
        ],
    ),
    (
        Language::Spanish,
        &[
            "el", "los", "las", "y", "es", "una", "en", "no", "para", "que", "por", "con", "del",
            "se", "pero",
        ],
    ),
    (
        Language::Italian,
        &[
            "il", "gli", "della", "e", "è", "una", "di", "non", "per", "che", "con", "sono", "nel",
            "anche", "ma",
        ],
    ),
    (
        Language::Portuguese,
        &[
            "o", "os", "as", "e", "é", "uma", "em", "não", "para", "que", "por", "com", "do", "da",
            "mas",
        ],
    ),
];

/// This many small words are enough.
const LEAST: usize = 5;
/// This many letters of a script are enough.
const LETTERS: usize = 24;

/// The language of `text`; `None` where that isn't sure.
pub(super) fn language(text: &str) -> Option<Language> {
    let letters = || text.chars().filter(|c| c.is_alphabetic());
    let all = letters().count();
    let foreign = letters().filter_map(script);
    let mut counts = std::collections::BTreeMap::new();
    for script in foreign {
        *counts.entry(script).or_insert(0_usize) += 1;
    }
    // Japanese is written with Chinese characters too.
    if let Some(kana) = counts.get(&Language::Japanese).copied().filter(|kana| *kana > LETTERS / 4)
    {
        let han = counts.remove(&Language::Chinese).unwrap_or_default();
        counts.insert(Language::Japanese, kana + han);
    }
    let most = counts.into_iter().max_by_key(|(_, count)| *count);
    if let Some((script, _)) = most.filter(|(_, count)| *count >= LETTERS && count * 3 >= all) {
        return Some(script);
    }
    let lower = text.to_lowercase();
    let words: Vec<&str> =
        lower.split(|c: char| !c.is_alphabetic()).filter(|word| !word.is_empty()).collect();
    let mut hits = SMALL.map(|(language, small)| {
        (words.iter().filter(|word| small.contains(word)).count(), language)
    });
    hits.sort_by_key(|(count, _)| std::cmp::Reverse(*count));
    let (first, second) = (hits[0].0, hits[1].0);
    (first >= LEAST && first >= 2 * second).then_some(hits[0].1)
}

fn script(c: char) -> Option<Language> {
    Some(match c {
        '\u{370}'..='\u{3ff}' => Language::Greek,
        '\u{400}'..='\u{52f}' => Language::Cyrillic,
        '\u{590}'..='\u{5ff}' => Language::Hebrew,
        '\u{600}'..='\u{6ff}' => Language::Arabic,
        '\u{900}'..='\u{97f}' => Language::Devanagari,
        '\u{e00}'..='\u{e7f}' => Language::Thai,
        '\u{3040}'..='\u{30ff}' => Language::Japanese,
        '\u{ac00}'..='\u{d7af}' => Language::Korean,
        '\u{4e00}'..='\u{9fff}' => Language::Chinese,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn languages_are_told_where_they_are_sure() {
        for (text, is) in [
            (
                "Fix the build, and make sure that it is not broken for the other crates.",
                Some(Language::English),
            ),
            (
                "Bitte nicht auf den Server zugreifen, das ist für die Tests und nicht für uns.",
                Some(Language::German),
            ),
            (
                "Il ne faut pas toucher les fichiers dans le dossier, je les ai pour une raison.",
                Some(Language::French),
            ),
            ("Исправь сборку и не трогай остальные модули проекта.", Some(Language::Cyrillic)),
            (
                "ビルドを直してください。ほかのモジュールには触らないでください。",
                Some(Language::Japanese),
            ),
            ("cargo test --workspace", None),
        ] {
            assert_eq!(language(text), is, "{text}");
        }
    }
}
