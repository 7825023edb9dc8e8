//! Lays out what counting needs at run time, so that nothing has to be loaded or built there:
//! the vocabularies with their hash tables, and the character classes of the two split patterns.
//!
//! Both come from crates that are needed for the build only: the token bytes from `bpe-openai`
//! (a token's id is its rank), the classes from the `regex-syntax` that `bpe-openai` splits with.

#![allow(missing_docs, reason = "a build script has no readers of its documentation")]

#[cfg(any(feature = "o200k", feature = "cl100k"))]
#[path = "src/count/probe.rs"]
#[allow(dead_code, unreachable_pub, reason = "shared with the library")]
mod probe;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=src/count/probe.rs");
    #[cfg(feature = "o200k")]
    tables::write_vocabulary("o200k", &bpe_openai::o200k_base().bpe);
    #[cfg(feature = "cl100k")]
    tables::write_vocabulary("cl100k", &bpe_openai::cl100k_base().bpe);
    #[cfg(any(feature = "o200k", feature = "cl100k"))]
    tables::write_classes();
}

#[cfg(any(feature = "o200k", feature = "cl100k"))]
mod tables {
    use std::collections::HashMap;
    use std::path::PathBuf;

    use bpe_openai::byte_pair_encoding::BytePairEncoding;
    use regex_syntax::hir::{Class, HirKind};

    use crate::probe;

    /// Code points a block of the class table covers.
    const BLOCK: usize = 128;

    /// Writes `<name>.bytes` (all tokens in order of rank), `<name>.offsets` (where each starts,
    /// and the end) and `<name>.slots` (the hash table), numbers as little-endian `u32`.
    pub(crate) fn write_vocabulary(name: &str, bpe: &BytePairEncoding) {
        let ranks = u32::try_from(bpe.num_tokens()).expect("ranks fit u32");
        assert!(ranks < probe::RANK_MASK, "ranks fit a slot");
        let bits = (ranks * 2).next_power_of_two().trailing_zeros();
        let mut slots = vec![probe::EMPTY; 1 << bits];
        let mut bytes = Vec::new();
        let mut offsets = vec![0];
        for rank in 0..ranks {
            let token = bpe.token_bytes(rank);
            bytes.extend_from_slice(token);
            offsets.push(u32::try_from(bytes.len()).expect("a vocabulary is small"));
            let hash = hash(token);
            let mut at = probe::home(hash, bits);
            while slots[at] != probe::EMPTY {
                at = (at + 1) & (slots.len() - 1);
            }
            slots[at] = probe::slot(hash, rank);
        }
        bytes.extend_from_slice(&[0; probe::SHORT + 1]); // so that a whole key can be read at every token
        write(&format!("{name}.bytes"), &bytes);
        write(&format!("{name}.offsets"), &little_endian(&offsets));
        write(&format!("{name}.slots"), &little_endian(&slots));
    }

    /// Writes `classes.blocks` (for each block of code points, which row) and `classes.rows` (for
    /// each row, one class a code point). The bits are those of `pretokenize::class`.
    pub(crate) fn write_classes() {
        let mut classes = vec![1 << 7; 0x11_0000];
        let sets = [
            (r"[\p{Lu}\p{Lt}]", 1 << 0),
            (r"\p{Ll}", 1 << 1),
            (r"[\p{Lm}\p{Lo}]", 1 << 2),
            (r"\p{M}", 1 << 3),
            (r"\p{N}", 1 << 4),
            (r"[\r\n]", 1 << 5),
            (r"[\s--[\r\n]]", 1 << 6),
        ];
        for (pattern, class) in sets {
            for (first, last) in ranges(pattern) {
                for point in first..=last {
                    assert_eq!(classes[point as usize], 1 << 7, "classes exclude each other");
                    classes[point as usize] = class;
                }
            }
        }
        let mut blocks = Vec::new();
        let mut rows: Vec<u8> = Vec::new();
        let mut seen = HashMap::new();
        for block in classes.chunks(BLOCK) {
            let row = *seen.entry(block).or_insert_with(|| {
                rows.extend_from_slice(block);
                rows.len() / BLOCK - 1
            });
            blocks.push(u8::try_from(row).expect("few rows differ"));
        }
        write("classes.blocks", &blocks);
        write("classes.rows", &rows);
    }

    fn ranges(pattern: &str) -> Vec<(u32, u32)> {
        let hir = regex_syntax::parse(pattern).expect("a constant pattern");
        match hir.kind() {
            HirKind::Class(Class::Unicode(class)) => {
                class.iter().map(|range| (range.start().into(), range.end().into())).collect()
            }
            other => panic!("{pattern} is not a class: {other:?}"),
        }
    }

    fn hash(token: &[u8]) -> u64 {
        if token.len() > probe::SHORT {
            return probe::long_hash(token);
        }
        let mut word = [0; 16];
        word[..token.len()].copy_from_slice(token);
        probe::short_hash(probe::short_key(u128::from_le_bytes(word), token.len()))
    }

    fn little_endian(numbers: &[u32]) -> Vec<u8> {
        numbers.iter().flat_map(|number| number.to_le_bytes()).collect()
    }

    fn write(name: &str, content: &[u8]) {
        let folder = std::env::var_os("OUT_DIR").expect("cargo sets OUT_DIR");
        let path = PathBuf::from(folder).join(name);
        std::fs::write(&path, content).expect("OUT_DIR can be written to");
    }
}
