//! A self-contained item that stands for a conversation so far: any proxy can read it, without state.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

use super::members::Raws;
use crate::encoding::Encoding;

/// How every item begins; a number tells how it is packed.
pub(crate) const MARK: &str = "epitome.v2.";

/// How every item of ours begins, also one that is packed in a way that isn't known here.
pub(crate) const OURS: &str = "epitome.v";

/// How thoroughly it is packed.
const LEVEL: i32 = 3;

/// The digest of the packed content and the words beside it, which shows any change.
fn digest(packed: &[u8], words: &str) -> [u8; 32] {
    let mut digest = blake3::Hasher::new();
    digest.update(&(words.len() as u64).to_le_bytes()).update(words.as_bytes()).update(packed);
    *digest.finalize().as_bytes()
}

/// Packs a list of messages or items, as JSON, with a digest of it and of the words that are shown beside it.
pub(crate) fn sealed(list: &str, words: &str) -> String {
    let packed = zstd::bulk::compress(list.as_bytes(), LEVEL).expect("memory takes all");
    let whole = [&digest(&packed, words)[..], &packed].concat();
    format!("{MARK}{}", URL_SAFE_NO_PAD.encode(whole))
}

/// The list again, if it is one of ours, nobody altered it or the words, and it has at most `most` bytes.
pub(crate) fn opened(sealed: &str, words: &str, most: usize) -> Option<Raws> {
    let whole = URL_SAFE_NO_PAD.decode(sealed.strip_prefix(MARK)?).ok()?;
    let (told, packed) = whole.split_first_chunk()?;
    if digest(packed, words) != *told {
        return None;
    }
    let list = Encoding::Zstd.decode(packed, most).ok()?;
    serde_json::from_slice(&list).ok()
}

#[cfg(test)]
mod tests {
    use super::super::members::list_of;
    use super::*;

    #[test]
    fn items_are_unpacked_within_bounds_and_foreign_ones_refused() {
        let list = r#"[{"role":"user", "content":"a\n1.0"},{"b":1.0}]"#;
        let item = sealed(list, "so far");
        let back = opened(&item, "so far", 1_000).expect("one of ours");
        assert_eq!(list_of(&back), list);
        assert!(opened(&item, "so far", list.len() - 1).is_none(), "it is larger than that");
        assert!(opened(&item, "so fa", 1_000).is_none(), "other words");
        for other in
            ["", "gAAAA", MARK, "epitome.v2.!", &sealed("{}", "so far"), &item[..item.len() - 4]]
        {
            assert!(opened(other, "so far", 1_000).is_none(), "{other}");
        }
    }

    #[test]
    fn any_changed_byte_of_an_item_is_noticed() {
        let item = sealed(r#"[{"role":"user","content":"Port 8042, then 8043."}]"#, "");
        for at in MARK.len()..item.len() {
            let mut other = item.clone().into_bytes();
            other[at] = if other[at] == b'A' { b'B' } else { b'A' };
            let other = String::from_utf8(other).expect("ASCII");
            assert!(opened(&other, "", 1_000).is_none(), "{at}");
        }
    }
}
