//! What becomes of reasoning that isn't where it was said (PROVIDERS.md B.1.4, B.2.5): the same for every provider
//! that binds it.

use crate::server::chain::{Broken, Chain};
use crate::server::models::{Binding, Model};
use crate::server::prompt::Mismatch;

/// What is done with reasoning that belongs elsewhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Manner {
    /// The model doesn't look.
    Ignored,
    /// It is noticed and shown all the same.
    Allowed,
    /// 400.
    Refused,
    /// It is left out.
    Dropped,
}

/// What is done with one block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// It is where it belongs, or nobody looks.
    Good,
    /// Its signature isn't one, or isn't for these words.
    Invalid,
    /// It belongs elsewhere: 400.
    Refused,
    /// It isn't shown.
    Dropped(Mismatch),
    /// It is shown, though it belongs elsewhere.
    Allowed(Mismatch),
}

impl Manner {
    /// `asked` is `prefix_mismatch_behavior` of the request.
    pub(super) fn of(model: &Model, asked: Option<&str>) -> Manner {
        let is_enforced = match model.binding {
            Binding::None => return Manner::Ignored,
            Binding::DropsSilently => return Manner::Dropped,
            Binding::Records => false,
            Binding::Checks => true,
        };
        match asked {
            _ if !is_enforced => Manner::Allowed,
            Some("drop_block") => Manner::Dropped,
            _ => Manner::Refused,
        }
    }

    pub(super) fn judge(self, chain: &mut Chain, words: &str, signature: &str) -> Verdict {
        match (chain.read(words, signature), self) {
            (Ok(()), _) => Verdict::Good,
            (Err(Broken::Invalid | Broken::Edited), _) => Verdict::Invalid,
            (Err(Broken::Foreign), _) => Verdict::Dropped(Mismatch::Organization),
            (Err(Broken::Newer), _) => Verdict::Dropped(Mismatch::Model),
            (Err(Broken::Elsewhere), Manner::Ignored) => Verdict::Good,
            (Err(Broken::Elsewhere), Manner::Allowed) => Verdict::Allowed(Mismatch::Prefix),
            (Err(Broken::Elsewhere), Manner::Dropped) => Verdict::Dropped(Mismatch::Prefix),
            (Err(Broken::Elsewhere), Manner::Refused) => Verdict::Refused,
        }
    }
}
