//! What a proxy is asked to do.

use std::time::Duration;

use epitome::session::{Landing, SessionOptionsError};
use epitome::trigger::{TriggerError, When};

use crate::log::RequestObserver;
use crate::management::ManagementToken;
use crate::upstream::Upstreams;

/// What a proxy is asked to do.
#[derive(Clone, Debug)]
pub struct ProxyOptions {
    /// Where requests go.
    pub upstreams: Upstreams,
    /// The most tokens of every model's prompt; where nothing is said, each model's own, by its name.
    pub window: Option<u64>,
    /// When to compact.
    pub trigger: When,
    /// Where a compaction lands.
    pub landing: Landing,
    /// What opens the dashboard at `/ui`; without it there is none, and nothing is kept for it.
    pub management: Option<ManagementToken>,
    /// From what agents may recall, at `/mcp`, what was hidden of their conversations.
    pub recall: RecallSource,
    /// How upstreams are reached.
    pub outward: Outward,
    /// Who is told of each request.
    pub observer: Option<RequestObserver>,
    /// What it puts up with.
    pub limits: ProxyLimits,
}

/// From what agents may recall what was hidden of their conversations.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RecallSource {
    /// From nothing.
    #[default]
    None,
    /// From what the proxy keeps in memory of the newest compactions, each credential from its own.
    Memory,
}

/// How upstreams are reached.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Outward {
    /// Directly.
    #[default]
    Direct,
    /// Those at `https://` through the HTTP proxy that the environment names (`HTTPS_PROXY`, `ALL_PROXY`; not those of `NO_PROXY`),
    /// which sees their names and nothing else.
    Environment,
}

impl Default for ProxyOptions {
    /// At eight tenths of the window to three tenths, for models at their public addresses.
    fn default() -> Self {
        ProxyOptions {
            upstreams: Upstreams::default(),
            window: None,
            trigger: When::default(),
            landing: Landing::Window(0.3),
            management: None,
            recall: RecallSource::None,
            outward: Outward::Direct,
            observer: None,
            limits: ProxyLimits::default(),
        }
    }
}

/// What a proxy puts up with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProxyLimits {
    /// The most bytes of a call of a model that is looked at, unpacked; a larger one passes untouched.
    pub body: usize,
    /// The most bytes of all calls that are looked at, at the same time; beyond, they pass untouched.
    pub held: usize,
    /// Connections at the same time; more wait.
    pub connections: usize,
    /// From the first byte of a head until all of it is read. A connection on which nothing is under way is closed after as
    /// long, or twice as long.
    pub head: Duration,
    /// How long a connection on which nothing is under way is kept once the proxy is to end, or twice as long.
    pub drain: Duration,
    /// Between two pieces of a request.
    pub silence: Duration,
    /// Until an upstream is connected.
    pub connect: Duration,
    /// How long the first events of a stream are held back while they say nothing, to learn whether the prompt is too long.
    pub opening: Duration,
    /// How long the proxy itself lets the client of a stream wait until it sends the first comment, and between two of them.
    pub keep_alive: Duration,
    /// Until an upstream begins to answer, and between two pieces of its answer.
    pub patience: Duration,
}

impl Default for ProxyLimits {
    fn default() -> Self {
        ProxyLimits {
            body: 64 << 20,
            held: 512 << 20,
            connections: 1024,
            head: Duration::from_mins(2),
            drain: Duration::from_secs(5),
            silence: Duration::from_mins(1),
            connect: Duration::from_secs(10),
            opening: Duration::from_secs(10),
            keep_alive: Duration::from_secs(10),
            patience: Duration::from_mins(15),
        }
    }
}

/// What no proxy can be made of, and why serving ended early.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ProxyError {
    /// A trigger that is out of range.
    #[error(transparent)]
    Trigger(#[from] TriggerError),
    /// A setting of the sessions that is out of range.
    #[error(transparent)]
    Sessions(#[from] SessionOptionsError),
    /// An upstream is to prove who it is, and this machine trusts nobody.
    #[error(
        "no certificates of authorities are found on this machine, so that no https:// upstream can prove who it is"
    )]
    NoRoots,
    /// A file of PEM that holds not what it should.
    #[error("no {0} in PEM: {1}")]
    Pem(&'static str, String),
    /// Encryption can't be set up.
    #[error("no encryption: {0}")]
    Tls(#[from] rustls::Error),
    /// Nothing more can be taken in over the network.
    #[error("it can't serve any longer: {0}")]
    Network(#[from] std::io::Error),
}
