//! Bodies that flow through: what was read ahead, then what still comes.

use std::collections::VecDeque;
use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use epitome_tracing::ModelCall;
use http::HeaderMap;
use http_body::{Body, Frame, SizeHint};
use hyper::body::Incoming;
use tokio::time::{Instant, Sleep, sleep};

use crate::activity::Activity;
use crate::native::Insert;
use crate::unpacking::Unpacker;
use crate::usage::Usage;

/// A body, forwarded frame by frame: the other side is read only as fast as this one takes it, and dropping it drops the
/// connection that it comes from.
#[derive(Default)]
pub(crate) struct Flow {
    ahead: VecDeque<Frame<Bytes>>,
    rest: Option<Incoming>,
    /// It broke after what was read ahead.
    broken: Option<FlowError>,
    /// Until what came before the break is on its way: an error takes with it what isn't.
    breaking: Option<Pin<Box<Sleep>>>,
    patience: Option<Patience>,
    /// What reads it, where it is compressed and told as it is without that.
    unpacker: Option<Box<Unpacker>>,
    usage: Option<Box<Usage>>,
    woven: Option<Box<dyn Weave>>,
    insert: Option<Box<Insert>>,
    /// What it goes on with, once that is known.
    awaited: Option<Box<Awaited>>,
    /// The connection that it is written to isn't idle.
    busy: Option<Arc<Activity>>,
    /// The call that it answers, until it is over.
    call: Option<Arc<ModelCall>>,
}

/// Between what came and the break behind it.
const LINGER: Duration = Duration::from_millis(50);

/// Makes one stream of several.
pub(crate) trait Weave: Send + Sync {
    /// What is told of a piece.
    fn passes(&mut self, piece: &Bytes) -> Bytes;

    /// How it goes on where a stream ends.
    fn over(self: Box<Self>) -> Onward;
}

/// How a stream goes on where one of several ends.
pub(crate) enum Onward {
    /// With this, and then it is over.
    Over(Bytes),
    /// With what comes of this.
    Next(Pin<Box<dyn Future<Output = Flow> + Send>>),
}

/// How long the next frame may take.
struct Patience {
    most: Duration,
    timer: Pin<Box<Sleep>>,
    is_waiting: bool,
}

/// A stream that isn't there yet, for which its client waits.
struct Awaited {
    /// Locked by nobody: bodies are shared among threads, which this one isn't made for.
    flow: Mutex<Pin<Box<dyn Future<Output = Flow> + Send>>>,
    every: Duration,
    timer: Pin<Box<Sleep>>,
}

/// A comment of a stream, which keeps the connection alive; clients pass over it.
const COMMENT: &[u8] = b": waiting\n\n";

/// Between two comments while a round is asked for.
const WAIT: Duration = Duration::from_secs(10);

/// The least between two of them.
const LEAST: Duration = Duration::from_millis(10);

/// Why a body ended early.
#[derive(Debug, thiserror::Error)]
pub(crate) enum FlowError {
    /// The connection that it comes from broke.
    #[error(transparent)]
    Broken(#[from] hyper::Error),
    /// Nothing came for too long.
    #[error("nothing came for {} s", .0.as_secs())]
    Silent(Duration),
    /// It isn't compressed as its head says.
    #[error("it can't be unpacked")]
    Packed,
}

impl FlowError {
    /// The kind of it in a word.
    fn kind(&self) -> &'static str {
        match self {
            FlowError::Broken(_) | FlowError::Packed => "upstream",
            FlowError::Silent(_) => "timeout",
        }
    }
}

/// A body that was read whole, or as far as could be. Of what isn't whole no byte is lost.
pub(crate) enum Collected {
    /// All of it.
    Whole(Bytes),
    /// It is longer than allowed, or has trailers.
    Long(Flow),
    /// It breaks.
    Broken(Flow),
}

impl From<Bytes> for Flow {
    fn from(bytes: Bytes) -> Self {
        let ahead = (!bytes.is_empty()).then(|| Frame::data(bytes));
        Flow { ahead: ahead.into_iter().collect(), ..Flow::default() }
    }
}

impl Flow {
    /// What comes from a connection; an error where its next frame takes longer than `most`.
    pub(crate) fn new(incoming: Incoming, most: Duration) -> Self {
        let timer = Box::pin(sleep(most));
        let patience = Some(Patience { most, timer, is_waiting: false });
        Flow { rest: Some(incoming), patience, ..Flow::default() }
    }

    /// What `flow` gives, and a comment at the beginning and every so often until then.
    pub(crate) fn awaiting(
        flow: impl Future<Output = Flow> + Send + 'static,
        every: Duration,
    ) -> Self {
        let every = every.max(LEAST);
        let awaited =
            Awaited { flow: Mutex::new(Box::pin(flow)), every, timer: Box::pin(sleep(every)) };
        let ahead = VecDeque::from([Frame::data(Bytes::from_static(COMMENT))]);
        Flow { ahead, awaited: Some(Box::new(awaited)), ..Flow::default() }
    }

    /// A comment, while what it goes on with isn't there.
    fn poll_awaited(&mut self, context: &mut Context<'_>) -> Poll<Option<Frame<Bytes>>> {
        let Some(awaited) = &mut self.awaited else { return Poll::Ready(None) };
        let waiting = awaited.flow.get_mut().unwrap_or_else(PoisonError::into_inner);
        if let Poll::Ready(flow) = waiting.as_mut().poll(context) {
            let (busy, call) = (self.busy.take(), self.call.take());
            let insert = self.insert.take().or(flow.insert);
            *self = Flow { insert, busy, call, ..flow };
            return Poll::Ready(None);
        }
        ready!(awaited.timer.as_mut().poll(context));
        awaited.timer.as_mut().reset(Instant::now() + awaited.every);
        Poll::Ready(Some(Frame::data(Bytes::from_static(COMMENT))))
    }

    /// The same, during which a connection isn't idle.
    pub(crate) fn busy(self, activity: Arc<Activity>) -> Self {
        Flow { busy: Some(activity), ..self }
    }

    /// The same, which answers a call.
    pub(crate) fn answering(self, call: Arc<ModelCall>) -> Self {
        let mut flow = Flow { call: Some(call), ..self };
        flow.end_call();
        flow
    }

    /// Tells the call that it answers once it is over.
    fn end_call(&mut self) {
        if self.call.is_some()
            && self.is_end_stream()
            && let Some(call) = self.call.take()
        {
            call.over();
        }
    }

    /// The same, read as it passes, as far as its headers say how, with somebody who is told.
    pub(crate) fn read_by(mut self, headers: &HeaderMap, told: impl FnOnce(&mut Usage)) -> Self {
        self.usage = self.usage.or_else(|| Usage::of(headers).map(Box::new));
        if let Some(usage) = &mut self.usage {
            told(usage);
        }
        self
    }

    /// The same, without its compression.
    pub(crate) fn unpacked(mut self, mut unpacker: Unpacker) -> Self {
        if let Some(usage) = &mut self.usage {
            usage.unpacked();
        }
        for frame in &mut self.ahead {
            match frame.data_ref().map(|data| unpacker.unpack(data)) {
                Some(Ok(data)) => *frame = Frame::data(data),
                Some(Err(_)) => self.broken = Some(FlowError::Packed),
                None => {}
            }
        }
        Flow { unpacker: Some(Box::new(unpacker)), ..self }
    }

    /// The same, in which calls for what was hidden are answered.
    pub(crate) fn woven(self, woven: Box<dyn Weave>) -> Self {
        Flow { woven: Some(woven), ..self }
    }

    /// What it goes on with where a round of it is over.
    fn go_on(&mut self, onward: Onward) -> Option<Bytes> {
        match onward {
            Onward::Over(rest) => Some(rest).filter(|rest| !rest.is_empty()),
            Onward::Next(next) => {
                let timer = Box::pin(sleep(WAIT));
                let flow = Mutex::new(next);
                self.awaited = Some(Box::new(Awaited { flow, every: WAIT, timer }));
                Some(Bytes::new())
            }
        }
    }

    /// The same, with something put first.
    pub(crate) fn with(self, insert: Insert) -> Self {
        Flow { insert: Some(Box::new(insert)), ..self }
    }

    /// Reads it to its end, but no more bytes than `room` grants; it is asked for each frame.
    pub(crate) async fn collect(mut self, mut room: impl FnMut(usize) -> bool) -> Collected {
        let mut read = VecDeque::new();
        // What isn't whole passes once more.
        let mut usage = self.usage.take();
        loop {
            let next = poll_fn(|context| Pin::new(&mut self).poll_frame(context)).await;
            let (frame, broken) = match next {
                None => break,
                Some(Ok(frame)) => (Some(frame), None),
                Some(Err(error)) => (None, Some(error)),
            };
            let fits = frame.as_ref().and_then(Frame::data_ref).is_some_and(|it| room(it.len()));
            read.extend(frame);
            if !fits {
                read.append(&mut self.ahead);
                let is_broken = broken.is_some();
                let flow = Flow { ahead: read, broken, breaking: None, usage, ..self };
                return if is_broken { Collected::Broken(flow) } else { Collected::Long(flow) };
            }
        }
        let mut chunks: Vec<Bytes> =
            read.into_iter().filter_map(|it| it.into_data().ok()).collect();
        if let Some(usage) = &mut usage {
            for chunk in &chunks {
                usage.passes(chunk);
            }
        }
        if let [_] = chunks[..] {
            return Collected::Whole(chunks.remove(0));
        }
        let mut whole = BytesMut::with_capacity(chunks.iter().map(Bytes::len).sum());
        for chunk in chunks {
            whole.extend_from_slice(&chunk);
        }
        Collected::Whole(whole.freeze())
    }

    /// Reads ahead until `is_enough` says so of all that came, until it ends, or for `most`: nothing of it is lost.
    pub(crate) async fn opened(
        mut self,
        most: Duration,
        mut is_enough: impl FnMut(&[u8]) -> bool,
    ) -> Self {
        let (mut read, mut seen) = (VecDeque::new(), Vec::new());
        let usage = self.usage.take();
        let mut late = pin!(sleep(most));
        loop {
            let next = tokio::select! {
                biased;
                next = poll_fn(|context| Pin::new(&mut self).poll_frame(context)) => next,
                () = late.as_mut() => break,
            };
            match next {
                None => break,
                Some(Ok(frame)) => {
                    seen.extend_from_slice(frame.data_ref().map_or(&[], |data| data));
                    let is_over = frame.is_trailers();
                    read.push_back(frame);
                    if is_over || is_enough(&seen) {
                        break;
                    }
                }
                Some(Err(error)) => {
                    (self.broken, self.breaking) = (Some(error), None);
                    break;
                }
            }
        }
        read.append(&mut self.ahead);
        Flow { ahead: read, usage, ..self }
    }

    /// Turns what was read ahead into something else, unless that is nothing.
    pub(crate) fn turn_ahead(&mut self, turn: impl FnOnce(&[u8]) -> Option<Bytes>) {
        let data = self.ahead.iter().filter_map(Frame::data_ref);
        let read: Vec<u8> = data.flat_map(|data| data.iter().copied()).collect();
        let Some(turned) = turn(&read) else { return };
        self.ahead.retain(|frame| !frame.is_data());
        self.ahead.push_front(Frame::data(turned));
    }

    /// Why it breaks behind what was read ahead.
    pub(crate) fn broken(&self) -> Option<&FlowError> {
        self.broken.as_ref()
    }

    fn passes(&mut self, frame: &Frame<Bytes>) {
        if let (Some(usage), Some(data)) = (&mut self.usage, frame.data_ref()) {
            usage.passes(data);
        }
    }

    /// The next frame as it is told.
    fn poll_told(
        &mut self,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, FlowError>>> {
        let flow = self;
        loop {
            let mut came = ready!(flow.poll_came(context));
            if let Some(woven) = &mut flow.woven {
                came = match came {
                    Some(Ok(frame)) => match frame.into_data() {
                        Ok(data) => Some(Ok(Frame::data(woven.passes(&data)))),
                        // Nothing comes behind trailers, and they are of this round alone.
                        Err(_) => continue,
                    },
                    Some(Err(error)) => Some(Err(error)),
                    None => {
                        let onward = flow.woven.take().map(Weave::over);
                        let rest = onward.and_then(|onward| flow.go_on(onward));
                        rest.map(|rest| Ok(Frame::data(rest)))
                    }
                };
            }
            let is_empty = |frame: &Frame<Bytes>| frame.data_ref().is_some_and(Bytes::is_empty);
            let Some(insert) = &mut flow.insert else {
                if matches!(&came, Some(Ok(frame)) if is_empty(frame)) {
                    continue;
                }
                return Poll::Ready(came);
            };
            let data = match came {
                Some(Ok(frame)) => match frame.into_data() {
                    Ok(data) => insert.passes(&data),
                    Err(other) => return Poll::Ready(Some(Ok(other))),
                },
                Some(Err(error)) => return Poll::Ready(Some(Err(error))),
                None => {
                    let rest = insert.rest();
                    flow.insert = None;
                    rest
                }
            };
            if !data.is_empty() {
                return Poll::Ready(Some(Ok(Frame::data(data))));
            }
        }
    }

    /// The next frame as it came.
    fn poll_came(
        &mut self,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, FlowError>>> {
        if self.awaited.is_some()
            && self.ahead.is_empty()
            && let Some(comment) = ready!(self.poll_awaited(context))
        {
            return Poll::Ready(Some(Ok(comment)));
        }
        if let Some(frame) = self.ahead.pop_front() {
            self.passes(&frame);
            return Poll::Ready(Some(Ok(frame)));
        }
        if self.broken.is_none() {
            match ready!(self.poll_rest(context)) {
                Some(Err(error)) => self.broken = Some(error),
                polled => {
                    if let Some(Ok(frame)) = &polled {
                        self.passes(frame);
                    }
                    return Poll::Ready(polled);
                }
            }
        }
        let breaking = self.breaking.get_or_insert_with(|| Box::pin(sleep(LINGER)));
        ready!(breaking.as_mut().poll(context));
        self.rest = None;
        Poll::Ready(self.broken.take().map(Err))
    }

    /// The next frame of the connection, as it is without compression.
    fn poll_rest(
        &mut self,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, FlowError>>> {
        let came = ready!(self.poll_packed(context));
        let Some(unpacker) = &mut self.unpacker else { return Poll::Ready(came) };
        Poll::Ready(came.map(|came| {
            let frame = came?;
            let Some(data) = frame.data_ref() else { return Ok(frame) };
            unpacker.unpack(data).map(Frame::data).map_err(|_| FlowError::Packed)
        }))
    }

    fn poll_packed(
        &mut self,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, FlowError>>> {
        let Some(rest) = &mut self.rest else { return Poll::Ready(None) };
        let polled = Pin::new(rest).poll_frame(context);
        let Some(patience) = &mut self.patience else { return polled.map_err(FlowError::from) };
        if polled.is_ready() {
            patience.is_waiting = false;
            return polled.map_err(FlowError::from);
        }
        if !std::mem::replace(&mut patience.is_waiting, true) {
            patience.timer.as_mut().reset(Instant::now() + patience.most);
        }
        ready!(patience.timer.as_mut().poll(context));
        Poll::Ready(Some(Err(FlowError::Silent(patience.most))))
    }
}

impl Body for Flow {
    type Data = Bytes;
    type Error = FlowError;

    fn poll_frame(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, FlowError>>> {
        let flow = self.get_mut();
        let told = ready!(flow.poll_told(context));
        match &told {
            Some(Ok(_)) => flow.end_call(),
            Some(Err(error)) => {
                if let Some(call) = flow.call.take() {
                    call.failed(error.kind());
                }
            }
            None => {
                if let Some(call) = flow.call.take() {
                    call.over();
                }
            }
        }
        Poll::Ready(told)
    }

    fn is_end_stream(&self) -> bool {
        self.ahead.is_empty()
            && self.insert.is_none()
            && self.woven.is_none()
            && self.awaited.is_none()
            && self.broken.is_none()
            && self.rest.as_ref().is_none_or(Body::is_end_stream)
    }

    fn size_hint(&self) -> SizeHint {
        if self.insert.is_some() || self.woven.is_some() || self.unpacker.is_some() {
            return SizeHint::new();
        }
        let ahead: usize = self.ahead.iter().filter_map(Frame::data_ref).map(Bytes::len).sum();
        let rest = self.rest.as_ref().map(Body::size_hint).unwrap_or_default();
        if self.rest.is_none() && self.broken.is_none() && self.awaited.is_none() {
            return SizeHint::with_exact(ahead as u64);
        }
        let mut hint = SizeHint::new();
        hint.set_lower(ahead as u64 + rest.lower());
        if let Some(upper) = rest.upper().filter(|_| self.awaited.is_none()) {
            hint.set_upper(ahead as u64 + upper);
        }
        hint
    }
}
