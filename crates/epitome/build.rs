//! Lays out what counting needs at run time, so that nothing has to be loaded or built there:
//! the vocabularies with their hash tables, and the character classes of the two split patterns.
//!
//! Both come from crates that are needed for the build only: the token bytes from `bpe-openai`
//! (a token's id is its rank), the classes from the `regex-syntax` that `bpe-openai` splits with.

#![allow(missing_docs, reason = "a build script has no readers of its documentation")]
#![allow(clippy::disallowed_methods, reason = "cargo says in the environment where files go")]

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
    /// and the end, counted from the first of its block), `<name>.blocks` (where each block starts),
    /// `<name>.singles` (for each byte, its token), and two tables: `<name>.strings`
    /// finds a token by its bytes, `<name>.pairs` what two tokens merge to. Numbers are
    /// little-endian.
    pub(crate) fn write_vocabulary(name: &str, bpe: &BytePairEncoding) {
        let ranks = bpe.num_tokens() as u32;
        assert!(ranks < probe::RANK_MASK, "ranks fit a slot");
        let mut bytes = Vec::new();
        let mut offsets = vec![0];
        let mut strings = Vec::new();
        for rank in 0..ranks {
            let token = bpe.token_bytes(rank);
            bytes.extend_from_slice(token);
            offsets.push(bytes.len() as u32);
            let hash = hash(token);
            strings.push((hash, probe::string_slot(hash, rank)));
        }
        bytes.extend_from_slice(&[0; probe::SHORT + 1]); // so that a whole key can be read at every token
        let singles = singles(bpe);
        let pairs = pairs(bpe, &singles);
        write(&format!("{name}.bytes"), &bytes);
        let blocks: Vec<u32> = offsets.iter().copied().step_by(1 << probe::BLOCK_BITS).collect();
        let within = offsets.iter().enumerate().map(|(rank, offset)| {
            let behind = offset - blocks[rank >> probe::BLOCK_BITS];
            u16::try_from(behind).expect("a block of tokens is short")
        });
        write(&format!("{name}.offsets"), &flat(within.collect(), u16::to_le_bytes));
        write(&format!("{name}.blocks"), &flat(blocks, u32::to_le_bytes));
        write(&format!("{name}.singles"), &flat(singles, u32::to_le_bytes));
        write_table(&format!("{name}.strings"), &strings, probe::NO_STRING, u32::to_le_bytes);
        write_table(&format!("{name}.pairs"), &pairs, probe::NO_PAIR, pair_bytes);
    }

    /// The bytes of a pair's slot, from the low end.
    fn pair_bytes(slot: u64) -> [u8; probe::PAIR_BYTES] {
        let [bytes @ .., _] = slot.to_le_bytes();
        bytes
    }

    /// Writes a table of these hashes and slots as `<name>` and `<name>.seeds`.
    fn write_table<T: Copy + PartialEq, const N: usize>(
        name: &str,
        entries: &[(u64, T)],
        empty: T,
        bytes: fn(T) -> [u8; N],
    ) {
        let mut slots = vec![empty; entries.len() * 8 / 7];
        let mut seeds = vec![0_u16; entries.len() / 4];
        let mut groups = vec![Vec::new(); seeds.len()];
        for entry in entries {
            groups[probe::group(entry.0, seeds.len())].push(*entry);
        }
        let mut order: Vec<usize> = (0..groups.len()).collect();
        order.sort_by_key(|group| std::cmp::Reverse(groups[*group].len()));
        for group in order {
            let entries = &groups[group];
            seeds[group] = (0..=u16::MAX)
                .find(|seed| {
                    let places: Vec<usize> = entries
                        .iter()
                        .map(|(hash, _)| probe::place(*hash, *seed, slots.len()))
                        .take_while(|place| slots[*place] == empty)
                        .collect();
                    let fits = places.len() == entries.len()
                        && (1..places.len()).all(|at| !places[..at].contains(&places[at]));
                    if fits {
                        places
                            .iter()
                            .zip(entries)
                            .for_each(|(place, entry)| slots[*place] = entry.1);
                    }
                    fits
                })
                .expect("some seed fits, with an eighth of the slots to spare");
        }
        write(name, &flat(slots, bytes));
        write(&format!("{name}.seeds"), &flat(seeds, u16::to_le_bytes));
    }

    fn singles(bpe: &BytePairEncoding) -> Vec<u32> {
        let mut singles = vec![probe::RANK_MASK; 256];
        for rank in 0..bpe.num_tokens() as u32 {
            if let [byte] = bpe.token_bytes(rank) {
                singles[usize::from(*byte)] = rank;
            }
        }
        assert!(!singles.contains(&probe::RANK_MASK), "every byte is a token");
        singles
    }

    /// The hashes and slots of all pairs. A token comes about by one merge only, the last one in the
    /// encoding of its own bytes: whatever surrounds it, the merges within it are those.
    fn pairs(bpe: &BytePairEncoding, singles: &[u32]) -> Vec<(u64, u64)> {
        let mut merged: HashMap<(u32, u32), u32> = HashMap::new();
        for rank in 0..bpe.num_tokens() as u32 {
            let bytes = bpe.token_bytes(rank).iter();
            let mut parts: Vec<u32> = bytes.map(|byte| singles[usize::from(*byte)]).collect();
            while parts.len() > 2 {
                let (least, at) = parts
                    .windows(2)
                    .zip(0..)
                    .filter_map(|(pair, at)| Some((*merged.get(&(pair[0], pair[1]))?, at)))
                    .min()
                    .expect("a token is made of tokens of lower rank");
                parts[at] = least;
                parts.remove(at + 1);
            }
            if let [left, right] = parts[..] {
                merged.insert((left, right), rank);
            }
        }
        let entry = |((left, right), rank)| {
            let key = probe::pair_key(left, right);
            (probe::pair_hash(key), probe::pair_slot(key, rank))
        };
        let mut entries: Vec<(u64, u64)> = merged.into_iter().map(entry).collect();
        entries.sort_unstable(); // a map's order differs from build to build
        entries
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

    fn flat<T, const N: usize>(numbers: Vec<T>, bytes: fn(T) -> [u8; N]) -> Vec<u8> {
        numbers.into_iter().flat_map(bytes).collect()
    }

    fn write(name: &str, content: &[u8]) {
        let folder = std::env::var_os("OUT_DIR").expect("cargo sets OUT_DIR");
        let path = PathBuf::from(folder).join(name);
        std::fs::write(&path, content).expect("OUT_DIR can be written to");
    }
}
