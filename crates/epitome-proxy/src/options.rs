//! What a proxy is asked to do.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use epitome::engine::OptionsError;
use epitome::engine::delegate::Compactors;
use epitome::session::{Landing, SessionOptionsError};
use epitome::summarize::Summaries;
use epitome::trigger::{TriggerError, When};
use epitome_tower::{Conversations, random_key};

use crate::log::{ProxyObserver, SpanParent};
use crate::management::ManagementToken;
use crate::upstream::Upstreams;

/// What a proxy is asked to do.
#[derive(Clone, Debug)]
pub struct ProxyOptions {
    /// Where requests go.
    pub upstreams: Upstreams,
    /// The context window of every model; without it, the answer of its upstream's models API, or else the known window
    /// of each model.
    pub window: Option<u64>,
    /// The same for some models, by a name or, with `*` at its end, the beginning of one.
    pub windows: Vec<(String, u64)>,
    /// Whether conversations are looked at.
    pub mode: ProxyMode,
    /// When to compact.
    pub trigger: When,
    /// The same for some models, by a name or, with `*` at its end, the beginning of one.
    pub triggers: Vec<(String, When)>,
    /// When to compact as soon as the provider's cache has forgotten the prompt, so that nothing in it is lost.
    pub soft: Option<When>,
    /// Where a compaction lands.
    pub landing: Landing,
    /// Who sums up what a compaction folds, asked in the background; nobody where that is empty.
    pub summaries: Summaries,
    /// Whole compactors, asked before, in the background too.
    pub compactors: Compactors,
    /// What summarizers learn of the client.
    pub callers: CallerAccess,
    /// Where known conversations are kept beyond the process; `None` for memory only.
    pub state: Option<ProxyState>,
    /// What opens the dashboard at `/ui`; without it there is none, and nothing is kept for it.
    pub management: Option<ManagementToken>,
    /// What becomes of a request that an error inside the proxy would send as it came.
    pub internal_errors: InternalErrors,
    /// From what agents may recall, at `/mcp`, what was hidden of their conversations.
    pub recall: RecallSource,
    /// How upstreams are reached.
    pub outward: Outward,
    /// Who is told what happens.
    pub observer: Option<ProxyObserver>,
    /// Who ties the span of a call of a model to the one that its headers name.
    pub span_parent: Option<SpanParent>,
    /// What it puts up with.
    pub limits: ProxyLimits,
}

/// What summarizers learn of the client in whose conversation they are asked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CallerAccess {
    /// Nothing.
    #[default]
    None,
    /// Where its request goes, and with which credential ([`Caller::current`](crate::Caller::current)).
    Summarizers,
}

/// Whether conversations are looked at.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ProxyMode {
    /// They are kept inside the window.
    #[default]
    Auto,
    /// The same, once somebody has agreed to it at `/ui`: until then all passes as it came.
    Ask,
    /// All passes byte for byte.
    Off,
}

/// What becomes of a request that an error inside the proxy would send as it came.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum InternalErrors {
    /// It is sent as it came.
    #[default]
    Forward,
    /// It is answered with the error, in its provider's shape.
    Refuse,
}

/// What proxies share that know the same conversations, one after the other or at the same time.
#[derive(Clone)]
pub struct ProxyState {
    /// Where conversations are kept.
    pub conversations: Arc<dyn Conversations>,
    /// The key of the digests of credentials and conversations. It is drawn once, and kept with the conversations.
    pub secret: [u8; 32],
    /// Who knows what use teaches of models.
    pub learning: KeptLearning,
}

/// Who knows what refusals and replies teach of windows and counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeptLearning {
    /// Whoever knows the same conversations, the next start too.
    Shared,
    /// This run: a server that was restarted with another window is asked anew.
    OfThisRun,
}

/// A secret that nobody knows.
pub fn draw_secret() -> [u8; 32] {
    let mut secret = [0; 32];
    let drawn = random_key().0.into_iter().flat_map(u64::to_le_bytes);
    secret.iter_mut().zip(drawn).for_each(|(byte, drawn)| *byte = drawn);
    secret
}

impl fmt::Debug for ProxyState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("ProxyState").field(&self.conversations).finish()
    }
}

/// From what agents may recall what was hidden of their conversations.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RecallSource {
    /// From nothing.
    #[default]
    None,
    /// From what the proxy keeps in memory of the newest compactions, each credential from its own.
    Memory,
    /// The same, and the tools are offered to the model itself, whose calls the proxy answers.
    Offered,
}

/// How upstreams are reached.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Outward {
    /// Directly.
    #[default]
    Direct,
    /// Upstreams at `https://` are reached through the HTTP proxy of the environment (`HTTPS_PROXY`, `ALL_PROXY`; not those of
    /// `NO_PROXY`), which sees only their names.
    Environment,
}

impl Default for ProxyOptions {
    /// At eight tenths of the window, to where 30 further turns have room, for models at their public addresses.
    fn default() -> Self {
        ProxyOptions {
            upstreams: Upstreams::default(),
            window: None,
            windows: Vec::new(),
            mode: ProxyMode::Auto,
            trigger: When::default(),
            triggers: Vec::new(),
            soft: None,
            landing: Landing::Turns(30),
            summaries: Summaries::default(),
            compactors: Compactors::default(),
            callers: CallerAccess::None,
            state: None,
            management: None,
            internal_errors: InternalErrors::Forward,
            recall: RecallSource::None,
            outward: Outward::Direct,
            observer: None,
            span_parent: None,
            limits: ProxyLimits::default(),
        }
    }
}

/// The most header fields of a request, and of an answer: the HTTP library's own bound is 100.
pub(crate) const MOST_FIELDS: usize = 1_000;

/// What a proxy puts up with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProxyLimits {
    /// The most bytes of a call of a model that is looked at, unpacked; a larger one passes untouched.
    pub body: usize,
    /// The most bytes of all calls that are looked at, at the same time; beyond, they pass untouched.
    pub held: usize,
    /// Connections at the same time; for one more the oldest one is closed on which nothing is under way, and else it waits.
    pub connections: usize,
    /// From the beginning of a connection until the head of its first request is read.
    pub head: Duration,
    /// How long a connection is kept on which nothing is under way, or twice as long; and until a later head is read.
    pub idle: Duration,
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
            head: Duration::from_secs(15),
            idle: Duration::from_mins(2),
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
    /// What is asked of summarizers can't be.
    #[error(transparent)]
    Summaries(#[from] OptionsError),
    /// A compaction would begin anew where it ends.
    #[error(
        "a compaction would land at {lands} and begin at {fires}{of}: the target must be below the trigger"
    )]
    Target {
        /// Where it lands.
        lands: String,
        /// Where it begins.
        fires: String,
        /// For which model, if for one.
        of: String,
    },
    /// It would begin with every prompt: no compaction gets below.
    #[error(
        "a compaction would begin at {fires}{of}, but no view gets below about 50 tokens: name at least 1k"
    )]
    TooEarly {
        /// Where it begins.
        fires: String,
        /// For which model, if for one.
        of: String,
    },
    /// A window in which nothing has room.
    #[error(
        "a window of {window} tokens{of} is too small for a conversation: name at least 1k, such as 32k"
    )]
    Window {
        /// Its tokens.
        window: u64,
        /// Of which model, if of one.
        of: String,
    },
    /// The soft trigger would never be the one that begins a compaction.
    #[error("--soft-trigger ({soft}) isn't below --trigger ({hard}): name less")]
    SoftTrigger {
        /// Where the soft one begins.
        soft: String,
        /// Where the other one does.
        hard: String,
    },
    /// Compactions wait for agreement, and there is no dashboard where anybody could agree.
    #[error("--mode ask needs a dashboard where you agree to compactions; `epitome serve` has one")]
    NobodyAgrees,
    /// A name of a model that can't be one.
    #[error("`{0}`: `*` is only allowed at the end of a model name")]
    ModelName(String),
    /// An upstream is to prove who it is, and this machine trusts nobody.
    #[error(
        "no CA certificates are found on this machine, so no https:// upstream can be verified"
    )]
    NoRoots,
    /// A file of PEM that holds not what it should.
    #[error("no {0} in PEM: {1}")]
    Pem(&'static str, String),
    /// Encryption can't be set up.
    #[error("TLS can't be set up: {0}")]
    Tls(#[from] rustls::Error),
    /// Nothing more can be taken in over the network.
    #[error("serving stopped: {0}")]
    Network(#[from] std::io::Error),
}
