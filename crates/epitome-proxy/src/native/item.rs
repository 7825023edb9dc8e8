//! What stands for a conversation so far, and says so itself: any proxy can read it, and nobody has to remember it.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

use super::members::Raws;
use crate::encoding::Encoding;

/// How every item begins; a number tells how it is packed.
pub(crate) const MARK: &str = "epitome.v1.";

/// How every item of ours begins, also one that is packed in a way that isn't known here.
pub(crate) const OURS: &str = "epitome.v";

/// How thoroughly it is packed.
const LEVEL: i32 = 3;

/// Packs a list of messages or items, as JSON.
pub(crate) fn sealed(list: &str) -> String {
    let packed = zstd::bulk::compress(list.as_bytes(), LEVEL).expect("memory takes all");
    format!("{MARK}{}", URL_SAFE_NO_PAD.encode(packed))
}

/// The list again, if it is one of ours and has at most `most` bytes.
pub(crate) fn opened(sealed: &str, most: usize) -> Option<Raws> {
    let packed = URL_SAFE_NO_PAD.decode(sealed.strip_prefix(MARK)?).ok()?;
    let list = Encoding::Zstd.decode(&packed, most).ok()?;
    serde_json::from_slice(&list).ok()
}

#[cfg(test)]
mod tests {
    use super::super::members::list_of;
    use super::*;

    #[test]
    fn it_comes_back_within_bounds_and_strangers_do_not() {
        let list = r#"[{"role":"user", "content":"a\n1.0"},{"b":1.0}]"#;
        let item = sealed(list);
        let back = opened(&item, 1_000).expect("one of ours");
        assert_eq!(list_of(&back), list);
        assert!(opened(&item, list.len() - 1).is_none(), "it is larger than that");
        for other in ["", "gAAAA", MARK, "epitome.v1.!", &sealed("{}"), &item[..item.len() - 4]] {
            assert!(opened(other, 1_000).is_none(), "{other}");
        }
    }
}
