//! A model that is asked over HTTP: its address, and its known facts.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use epitome::Format;
use epitome::count::{TokenCounter, counter};
use epitome::model::{Billed, Model as Facts, Money, Registry};
use reqwest::header::HeaderMap;
use reqwest::{Client, Url, redirect};
use tokio::time::Instant;

use crate::endpoint::{BadEndpoint, Endpoint, origin};
use crate::purse::Purse;
use crate::secret::{Secret, Secrets};

/// How long things may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Until there is a connection.
    pub connect: Duration,
    /// From the request to the beginning of the answer.
    pub first_byte: Duration,
    /// Between two pieces of an answer.
    pub silence: Duration,
    /// All of it, further tries included.
    pub total: Duration,
    /// Tries after the first one.
    pub retries: usize,
    /// Before the second try, where the server doesn't say; it doubles with each.
    pub pause: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            connect: Duration::from_secs(10),
            first_byte: Duration::from_mins(1),
            silence: Duration::from_mins(1),
            total: Duration::from_mins(2),
            retries: 2,
            pause: Duration::from_secs(1),
        }
    }
}

/// The window of a model of which nothing is known, in tokens: what the smallest ones in use have.
pub const UNKNOWN_WINDOW: u64 = 32_000;

/// A model that is asked over HTTP.
#[derive(Debug)]
pub struct Model {
    pub(crate) endpoint: Endpoint,
    pub(crate) url: Url,
    pub(crate) headers: HeaderMap,
    pub(crate) limits: Limits,
    pub(crate) client: Client,
    pub(crate) facts: Option<Facts>,
    pub(crate) counter: Arc<dyn TokenCounter>,
    pub(crate) purse: Option<Arc<Purse>>,
    /// What nobody is to read: the key, in whatever form it is sent.
    pub(crate) secrets: Secrets,
    pub(crate) is_agents: bool,
}

/// Where and with what somebody else asks a model.
#[derive(Clone)]
pub struct Borrowed {
    /// What is spoken there.
    pub format: Format,
    /// The model.
    pub model: String,
    /// The whole address.
    pub address: String,
    /// All that is said beside the body, credentials included.
    pub headers: HeaderMap,
    /// The credentials by themselves: nobody is to read them.
    pub secrets: Vec<Secret>,
}

impl fmt::Debug for Borrowed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Borrowed").field("model", &self.model).finish_non_exhaustive()
    }
}

impl Model {
    /// The model at `endpoint`, within `limits`, paid from `purse`.
    ///
    /// # Errors
    /// What can't be asked.
    pub fn new(
        endpoint: Endpoint,
        limits: Limits,
        purse: Option<Arc<Purse>>,
    ) -> Result<Self, BadEndpoint> {
        let (url, headers) = (endpoint.url()?, endpoint.headers()?);
        let client = client(&limits, Proxies::OfTheEnvironment)?;
        let secrets = Secrets(endpoint.key.iter().cloned().collect());
        let (facts, counter) = facts(Registry::built_in(), &endpoint.model);
        Ok(Model {
            endpoint,
            url,
            headers,
            limits,
            client,
            facts,
            counter,
            purse,
            secrets,
            is_agents: false,
        })
    }

    /// A model that is asked as somebody else asks it, within `limits`, paid from `purse`. What is in the clear goes through
    /// no proxy.
    ///
    /// # Errors
    /// What can't be asked.
    pub fn borrowed(
        from: Borrowed,
        limits: Limits,
        purse: Option<Arc<Purse>>,
    ) -> Result<Self, BadEndpoint> {
        let Borrowed { format, model, address, headers, secrets } = from;
        let bad = || BadEndpoint::Address(origin(&address).unwrap_or_default());
        let url = Url::parse(&address).map_err(|_| bad())?;
        let base = origin(&address).ok_or_else(bad)?;
        let endpoint = Endpoint { format, base, model, key: None };
        // Whether it can be asked at all.
        endpoint.url()?;
        let proxies = match url.scheme() {
            "https" => Proxies::OfTheEnvironment,
            _ => Proxies::None,
        };
        let client = client(&limits, proxies)?;
        let mut said = endpoint.headers()?;
        said.extend(headers);
        let (facts, counter) = facts(Registry::built_in(), &endpoint.model);
        Ok(Model {
            endpoint,
            url,
            headers: said,
            limits,
            client,
            facts,
            counter,
            purse,
            secrets: Secrets(secrets),
            is_agents: true,
        })
    }

    /// The same, which the agent asks too, here and with this key: what the agent sent is in its cache, and may be
    /// gone on from.
    #[must_use]
    pub fn asked_by_agent(self) -> Self {
        Model { is_agents: true, ..self }
    }

    /// The same, with its window and prices as `registry` knows them instead of the one that is built in.
    #[must_use]
    pub fn known_by(self, registry: &Registry) -> Self {
        let (facts, counter) = facts(registry, &self.endpoint.model);
        Model { facts, counter, ..self }
    }

    pub(crate) fn format(&self) -> Format {
        self.endpoint.format
    }

    pub(crate) fn without_key(&self, text: &str) -> String {
        self.secrets.left_out_of(text)
    }

    /// What a call costs whose tokens are billed so, where its price is known.
    pub(crate) fn price_of(&self, billed: &Billed) -> Option<Money> {
        Some(self.facts.as_ref()?.price.as_ref()?.of(billed))
    }

    /// When nobody waits any more for what is asked now.
    pub(crate) fn until(&self) -> Instant {
        let now = Instant::now();
        now.checked_add(self.limits.total).unwrap_or(now + Duration::from_hours(10_000))
    }

    pub(crate) fn list_url(&self) -> Url {
        self.endpoint.list_url().expect("its base was looked at when it was made")
    }

    /// What is known of it, if something is.
    pub fn facts(&self) -> Option<&Facts> {
        self.facts.as_ref()
    }
}

/// Through which proxies a server is reached.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Proxies {
    None,
    OfTheEnvironment,
}

fn client(limits: &Limits, proxies: Proxies) -> Result<Client, BadEndpoint> {
    // Whoever chose before is as good.
    let _chosen = rustls::crypto::ring::default_provider().install_default();
    let builder = Client::builder()
        .redirect(redirect::Policy::none())
        .connect_timeout(limits.connect)
        .user_agent(concat!("epitome/", env!("CARGO_PKG_VERSION")));
    let builder = match proxies {
        Proxies::None => builder.no_proxy(),
        Proxies::OfTheEnvironment => builder,
    };
    builder.build().map_err(|error| BadEndpoint::Client(error.to_string()))
}

fn facts(registry: &Registry, model: &str) -> (Option<Facts>, Arc<dyn TokenCounter>) {
    let facts = registry.get(model).cloned();
    let tokenizer = facts.as_ref().map_or("other", |facts| facts.tokenizer.counter());
    (facts, counter(tokenizer).expect("the registry names our counters"))
}
