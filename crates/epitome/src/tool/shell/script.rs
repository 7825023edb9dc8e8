//! Scripts of `sed`, `awk` and shells that stand among the words of a command.

/// Whether a shell runs the word behind this one: `-c`, `-lc`.
pub(super) fn is_script_flag(word: &str) -> bool {
    word.strip_prefix('-').is_some_and(|flags| flags.ends_with('c') && !flags.starts_with('-'))
}

/// Whether the word behind this one is a script, of `sed` and its like: `-e`, `-pe`.
pub(super) fn gives_script(word: &str) -> bool {
    word.strip_prefix('-').is_some_and(|flags| {
        flags.ends_with('e') && !flags.ends_with("ie") && !flags.starts_with('-')
    })
}

/// Whether `awk` may write a file or run something: `{ print > "a" }`, `{ system("b") }`, `"b" | getline`, and flags that
/// aren't known, such as one that names a file of functions.
pub(super) fn awk_writes(words: &[&str]) -> bool {
    let writes = |script: &str| {
        let mut printed = script.split("print").skip(1);
        script.contains("system")
            || script.replace("||", "").contains('|')
            || printed.any(|rest| rest.contains('>'))
    };
    let is_known = |flag: &str| flag.starts_with("-F") || flag.starts_with("-v");
    let mut flags = words.iter().filter(|word| word.starts_with('-'));
    flags.any(|flag| !is_known(flag)) || words.iter().any(|word| writes(word))
}

/// Whether `sed` may write a file or run something: `w out`, `1e date`, `s/a/b/w out`, or a script that isn't seen.
pub(super) fn sed_writes(words: &[&str]) -> bool {
    let mut is_given = false;
    let mut words_left = words.iter();
    while let Some(word) = words_left.next() {
        let script = match (word.strip_prefix("--"), word.strip_prefix('-')) {
            (Some(flag), _) => match flag.split_once('=') {
                Some((name, script)) if "expression".starts_with(name) => script,
                _ if matches!(flag, "quiet" | "silent" | "regexp-extended" | "debug" | "posix") => {
                    continue;
                }
                _ => return true,
            },
            (None, Some(flags)) => match flags.split_once('e') {
                _ if flags.split('e').next().is_some_and(|own| own.contains(['f', 'l'])) => {
                    return true;
                }
                Some((_, "")) => words_left.next().copied().unwrap_or_default(),
                Some((_, script)) => script,
                None => continue,
            },
            (None, None) if is_given => continue,
            (None, None) => {
                // Flags may stand behind it, and one of them may give a script.
                if words.iter().any(|word| word.starts_with('-') && word.contains('e')) {
                    continue;
                }
                word
            }
        };
        is_given = true;
        if script_writes(script) {
            return true;
        }
    }
    !is_given
}

/// Whether a command of a `sed` script writes or runs. Expressions and what they are replaced by are stepped over.
fn script_writes(script: &str) -> bool {
    let mut chars = script.chars().peekable();
    while let Some(c) = chars.next() {
        let (delimiter, times) = match (c, chars.peek().copied()) {
            ('w' | 'W' | 'e', _) => return true,
            ('/', _) => (c, 1),
            ('\\', Some(next)) => (next, 1),
            ('s' | 'y', Some(next)) if next.is_ascii_punctuation() => (next, 2),
            _ => continue,
        };
        if c != '/' {
            chars.next();
        }
        for time in 0..times {
            // In brackets it is a character like others.
            if !is_stepped_over(&mut chars, delimiter, c != 'y' && time == 0) {
                return true;
            }
        }
    }
    false
}

/// Goes past what stands before a delimiter; and whether that was found on this line.
fn is_stepped_over(
    chars: &mut std::iter::Peekable<std::str::Chars<'_>>,
    delimiter: char,
    has_brackets: bool,
) -> bool {
    while let Some(c) = chars.next() {
        match c {
            _ if c == delimiter => return true,
            '\n' => return false,
            '\\' => {
                chars.next();
            }
            '[' if has_brackets => {
                chars.next_if_eq(&'^');
                chars.next_if_eq(&']');
                chars.find(|c| *c == ']');
            }
            _ => {}
        }
    }
    false
}

/// The files that are named behind the script, wherever that stands.
pub(super) fn behind_script<'a>(words: &[&'a str]) -> impl Iterator<Item = &'a str> {
    let is_named = words.iter().any(|word| gives_script(word));
    let is_scripts = |at: usize| at > 0 && gives_script(words[at - 1]);
    let plain = words.iter().enumerate();
    let plain = plain.filter(|(at, word)| !word.starts_with('-') && !is_scripts(*at));
    let plain: Vec<&str> = plain.map(|(_, word)| *word).collect();
    plain.into_iter().skip(usize::from(!is_named))
}
