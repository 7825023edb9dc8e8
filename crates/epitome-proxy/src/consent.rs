//! Agreement to compactions that wait for it.

use epitome::trigger::{Asker, Demand};
use http::header::LOCATION;
use http::request::Parts;
use http::{HeaderValue, Method, Response, StatusCode};

use crate::flow::Flow;
use crate::options::ProxyMode;
use crate::proxy::Proxy;
use crate::ui::{Dashboard, words};

impl Proxy {
    /// Takes somebody's agreement to the next compaction of a conversation, if a request is for that.
    pub(crate) async fn agreed(&self, head: &Parts) -> Option<Response<Flow>> {
        let name = head.uri.path().strip_prefix("/ui/")?.strip_suffix("/compact")?;
        let dashboard = self.dashboard.as_ref()?;
        if head.method != Method::POST {
            return None;
        }
        if !dashboard.opens_for(&head.headers) {
            return Some(Dashboard::refused());
        }
        if self.mode != ProxyMode::Ask {
            let why = "the mode isn't ask: no compaction waits for agreement here\n";
            return Some(words(StatusCode::METHOD_NOT_ALLOWED, why));
        }
        let unknown = || words(StatusCode::NOT_FOUND, "this conversation isn't known any more\n");
        let ledger = self.ledger.as_ref()?;
        let Some((api, session)) = ledger.agree(name) else { return Some(unknown()) };
        let engine = self.engines.named(api)?;
        let demand = Demand::new(Asker::Host, "agreed to at /ui");
        if !engine.layer.demand(session, demand).await {
            ledger.withdraw((api, session));
            return Some(unknown());
        }
        let mut answer = words(StatusCode::SEE_OTHER, "its next request is compacted\n");
        let page = HeaderValue::from_str(&format!("/ui/{name}"));
        answer.headers_mut().insert(LOCATION, page.expect("a name has letters and digits"));
        Some(answer)
    }
}
