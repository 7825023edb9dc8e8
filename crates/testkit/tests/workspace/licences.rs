//! Everything that is built into what we publish may be used under MIT or Apache-2.0 terms, or
//! under terms that ask for no more than they do: a notice.
//!
//! Not on the list, and why: MPL-2.0 and EPL-2.0 (changed files must be published, which a vendoring
//! user would have to keep track of), LGPL and GPL (their terms reach the whole binary, which is linked
//! statically), anything without a licence.

use crate::metadata::{Kind, Metadata};
use crate::none;

const ALLOWED: [&str; 12] = [
    "0BSD",
    "Apache-2.0",
    "Apache-2.0 WITH LLVM-exception",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "BSL-1.0",
    "ISC",
    "MIT",
    "CDLA-Permissive-2.0",
    "Unicode-3.0",
    "Unicode-DFS-2016",
    "Zlib",
];

#[test]
fn what_is_built_in_is_free_to_use() {
    let metadata = Metadata::get();
    let published = metadata.members().filter(|member| member.is_published());
    let built = metadata.closure(published, &[Kind::Normal, Kind::Build]);
    assert!(built.len() > 10, "the list is the list of everything");
    let refused: Vec<String> = built
        .iter()
        .filter(|package| !package.license.as_deref().is_some_and(allows))
        .map(|package| format!("{} {}: {:?}", package.name, package.version, package.license))
        .collect();
    none("licences that aren't on the list", &refused);
}

#[test]
fn expressions_are_read_as_spdx_means_them() {
    for yes in [
        "MIT",
        "MIT OR GPL-3.0",
        "Apache-2.0 / MIT",
        "MIT/Apache-2.0",
        "(MIT OR Apache-2.0) AND Unicode-3.0",
        "CC0-1.0 OR Apache-2.0 OR Apache-2.0 WITH LLVM-exception",
    ] {
        assert!(allows(yes), "{yes}");
    }
    for no in ["GPL-3.0", "MIT AND MPL-2.0", "(MIT OR ISC) AND (GPL-2.0 OR MPL-2.0)", "", "MIT OR"]
    {
        assert!(!allows(no), "{no}");
    }
}

/// Whether some way of taking up the offer needs only allowed licences.
fn allows(expression: &str) -> bool {
    let spaced = expression.replace('(', " ( ").replace(')', " ) ").replace('/', " OR ");
    let words: Vec<&str> = spaced.split_whitespace().collect();
    let mut rest = words.as_slice();
    any(&mut rest) == Some(true) && rest.is_empty()
}

fn any(words: &mut &[&str]) -> Option<bool> {
    let mut allowed = all(words)?;
    while let ["OR", rest @ ..] = *words {
        *words = rest;
        allowed |= all(words)?;
    }
    Some(allowed)
}

fn all(words: &mut &[&str]) -> Option<bool> {
    let mut allowed = one(words)?;
    while let ["AND", rest @ ..] = *words {
        *words = rest;
        allowed &= one(words)?;
    }
    Some(allowed)
}

fn one(words: &mut &[&str]) -> Option<bool> {
    match *words {
        ["(", rest @ ..] => {
            *words = rest;
            let allowed = any(words)?;
            *words = words.strip_prefix(&[")"])?;
            Some(allowed)
        }
        [name, "WITH", exception, rest @ ..] => {
            *words = rest;
            Some(ALLOWED.contains(&format!("{name} WITH {exception}").as_str()))
        }
        [name, rest @ ..] => {
            *words = rest;
            Some(ALLOWED.contains(name))
        }
        [] => None,
    }
}
