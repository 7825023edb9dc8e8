//! Who sent a request: what a summarizer needs to ask the same upstream as that client does.

use std::fmt;
use std::sync::Arc;

use epitome::Format;
use epitome_tower::Surroundings;
use http::header::{ACCEPT, ACCEPT_ENCODING};
use http::request::Parts;
use http::{HeaderMap, Uri};
use percent_encoding::utf8_percent_encode;

use crate::credential::{beside_the_body, may_authorize};
use crate::paths::IN_PATH;

tokio::task_local! {
    static CALLER: Arc<Caller>;
}

/// The client in whose conversation a compaction was begun: where its request goes, with what, and for which model. It is in
/// memory alone, and is let go of with the compaction.
pub struct Caller {
    format: Format,
    model: String,
    address: Uri,
    headers: HeaderMap,
}

impl Caller {
    /// The one for whom this task compacts, if summarizers may know it ([`ProxyOptions::callers`](crate::ProxyOptions::callers)).
    /// A summarizer asks when it is asked itself: the answer may be awaited elsewhere.
    pub fn current() -> Option<Arc<Self>> {
        CALLER.try_with(Arc::clone).ok()
    }

    /// Whoever sends a request for a model; nobody, where the path is a cloud's, whose bodies are its own.
    pub(crate) fn of(head: &Parts, format: Format, model: String) -> Option<Arc<Self>> {
        let path = head.uri.path().trim_end_matches('/');
        let is_of_a_cloud = format == Format::Anthropic && !path.ends_with("/messages");
        if is_of_a_cloud || format == Format::GeminiInteractions {
            return None;
        }
        let mut headers = beside_the_body(&head.headers);
        headers.remove(ACCEPT);
        headers.remove(ACCEPT_ENCODING);
        for (name, value) in &mut headers {
            value.set_sensitive(may_authorize(name.as_str()) || name == "cookie");
        }
        let address = head.uri.clone();
        Some(Arc::new(Caller { format, model, address, headers }))
    }

    /// The format of its requests.
    pub fn format(&self) -> Format {
        self.format
    }

    /// The model that it asks.
    pub fn model(&self) -> &str {
        &self.model
    }

    /// The address at which its upstream is asked for answers of a model; `None` where that isn't known.
    pub fn address(&self, model: &str) -> Option<String> {
        let address = self.address.to_string();
        if self.format != Format::Gemini || model == self.model {
            return Some(address);
        }
        // These models stand in the path.
        let (before, rest) = address.split_once("/models/")?;
        let (_, call) = rest.split_once(':')?;
        Some(format!("{before}/models/{}:{call}", utf8_percent_encode(model, IN_PATH)))
    }

    /// What its request said beside its body, credentials included: these are marked as sensitive.
    pub fn headers(&self) -> &HeaderMap {
        &self.headers
    }

    /// The values that may be credentials.
    pub fn secrets(&self) -> impl Iterator<Item = &str> {
        let values = self.headers.values().filter(|value| value.is_sensitive());
        // Behind the name of a scheme, if there is one.
        let words = values.filter_map(|value| value.to_str().ok()?.rsplit(' ').next());
        let query = self.address.query().unwrap_or_default();
        let pairs = query.split('&').filter_map(|pair| pair.split_once('='));
        words.chain(pairs.filter(|(name, _)| may_authorize(name)).map(|(_, value)| value))
    }
}

impl fmt::Debug for Caller {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Caller").field("model", &self.model).finish_non_exhaustive()
    }
}

/// In what compactions run that a request begins.
pub(crate) fn surroundings(caller: &Arc<Caller>) -> Surroundings {
    let caller = Arc::clone(caller);
    Surroundings::new(move |running| CALLER.scope(Arc::clone(&caller), running))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn caller(format: Format, address: &str) -> Caller {
        let address = address.parse().expect("an address");
        Caller { format, model: "m".to_owned(), address, headers: HeaderMap::new() }
    }

    #[test]
    fn another_model_has_another_address_where_it_stands_there() {
        let chat = caller(Format::OpenaiChat, "https://a.example/v1/chat/completions?k=1");
        assert_eq!(chat.address("n").as_deref(), Some("https://a.example/v1/chat/completions?k=1"));
        let base = "https://a.example/v1beta/models";
        let gemini = caller(Format::Gemini, &format!("{base}/m:generateContent?key=a"));
        let other = gemini.address("n/o");
        assert_eq!(other, Some(format!("{base}/n%2Fo:generateContent?key=a")));
        let escaped = caller(Format::Gemini, &format!("{base}/m%3AgenerateContent"));
        assert_eq!(escaped.address("n"), None);
        assert!(escaped.address("m").is_some());
        assert_eq!(gemini.secrets().collect::<Vec<_>>(), ["a"]);
    }
}
