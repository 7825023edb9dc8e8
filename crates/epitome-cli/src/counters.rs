//! Counters by name, and such as remember.

use std::hash::{BuildHasher as _, Hasher as _, RandomState};
use std::sync::Arc;

use anyhow::Result;
use epitome::count::{CacheKey, Cached, TokenCounter, counter};

use crate::failure::Failure;

/// The counter of this name.
pub(crate) fn named(name: &str) -> Result<Arc<dyn TokenCounter>> {
    counter(name).map_err(|error| {
        Failure::usage(error.to_string()).hint("epitome count --help lists them").into()
    })
}

/// Texts whose counts are remembered: 64 MB at most, of which little is needed.
const MOST_TEXTS: usize = 1 << 20;

/// The same counter for work that goes over a transcript more than once: each text of some length is
/// counted the first time only. A single pass is quicker without, because little repeats within one
/// and looking up has its price.
pub(crate) fn remembering(counter: Arc<dyn TokenCounter>) -> Arc<dyn TokenCounter> {
    // Transcripts are strangers' texts, so that the key is drawn anew; results don't depend on it.
    let draw = |_| RandomState::new().build_hasher().finish();
    let key = CacheKey(std::array::from_fn(draw));
    Arc::new(Cached::new(counter, MOST_TEXTS, key))
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;
    use std::sync::Mutex;

    use epitome::count::{Count, Tally};
    use epitome::{Compactor, Options, Target};
    use epitome_recordings::{self as recordings, Input};

    use super::*;

    /// Notes how often it is asked for which text.
    #[derive(Debug)]
    struct Tolled(Arc<dyn TokenCounter>, Mutex<HashMap<String, usize>>);

    impl TokenCounter for Tolled {
        fn name(&self) -> &str {
            self.0.name()
        }

        fn text(&self, text: &str) -> Count {
            *self.1.lock().expect("one thread").entry(text.to_owned()).or_insert(0) += 1;
            self.0.text(text)
        }
    }

    #[test]
    fn nothing_is_counted_twice() {
        let session = "/../../examples/claude-code/session-3fe1b6bc.jsonl";
        let bytes = std::fs::read(format!("{}{session}", env!("CARGO_MANIFEST_DIR")));
        let input = recordings::open(bytes.expect("shipped"), None, recordings::Options::default());
        let Ok(Input::Recording(recording)) = input else { panic!("a recording") };
        let tolled = Arc::new(Tolled(named("claude").expect("known"), Mutex::default()));
        let counter = remembering(Arc::clone(&tolled) as Arc<dyn TokenCounter>);
        // As `diff --window` goes about it.
        let total = Tally::of(&recording.request, counter.as_ref()).total();
        let options = Options { target: Target::Percent(20), ..Options::default() };
        let compactor = Compactor::new(options, Arc::clone(&counter)).expect("in range");
        let outcome = compactor.compact(&recording.request).expect("sound");
        assert_eq!(Tally::of(&outcome.base, counter.as_ref()).total(), total);
        let after = Tally::of(&outcome.request, counter.as_ref()).total();
        assert_eq!(after.tokens, outcome.receipt.after.count.tokens);
        let tolls = tolled.1.lock().expect("one thread");
        let again: Vec<_> =
            tolls.iter().filter(|(text, times)| text.len() >= 64 && **times > 1).collect();
        assert!(tolls.len() > 100 && again.is_empty(), "{again:#?}");
    }
}
