//! Being asked to end.
//!
//! No handler is ever set: signals that were ignored when the program began stay ignored, and once nothing
//! here lives, whoever asks the program to end is obeyed as ever.

#[cfg(target_os = "linux")]
use nix::sys::signalfd::SignalFd;

#[cfg(unix)]
pub(crate) use unix::{Held, hold};

#[cfg(not(unix))]
pub(crate) fn hold() {}

#[cfg(unix)]
mod unix {
    use nix::sys::signal::{SigSet, SigmaskHow, Signal};

    /// While it lives, what asks the process to end has to wait; then it ends.
    #[derive(Debug)]
    pub(crate) struct Held(Option<SigSet>);

    /// Holds what asks the process to end, for work that must not be left half done.
    pub(crate) fn hold() -> Held {
        let all = [Signal::SIGINT, Signal::SIGTERM, Signal::SIGHUP, Signal::SIGQUIT];
        held(&all.into_iter().collect())
    }

    pub(super) fn held(ends: &SigSet) -> Held {
        Held(ends.thread_swap_mask(SigmaskHow::SIG_BLOCK).ok())
    }

    impl Drop for Held {
        fn drop(&mut self) {
            if let Some(before) = &self.0 {
                let _never = before.thread_set_mask();
            }
        }
    }
}

/// Notices being asked to end while it lives, so that what was started can be ended too. It is made before
/// threads are, which then hold the signals as it does.
#[derive(Debug)]
pub(crate) struct Asked {
    #[cfg(target_os = "linux")]
    told: Option<SignalFd>,
    #[cfg(target_os = "linux")]
    _held: Held,
}

/// What is waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Heed {
    /// Whatever asks to end.
    All,
    /// All but that the terminal is gone, which ends the program at once: what reads from one would go on for ever.
    AllButHangup,
}

#[cfg(target_os = "linux")]
impl Asked {
    pub(crate) fn listen(heed: Heed) -> Self {
        use nix::sys::signal::{SigSet, Signal};
        use nix::sys::signalfd::SfdFlags;

        let ignored = ignored();
        let all = [Signal::SIGINT, Signal::SIGTERM, Signal::SIGHUP];
        let heeded = all.into_iter().filter(|signal| ignored >> (*signal as i32 - 1) & 1 == 0);
        let heeded = heeded.filter(|signal| heed == Heed::All || *signal != Signal::SIGHUP);
        let heeded: SigSet = heeded.collect();
        let flags = SfdFlags::SFD_NONBLOCK | SfdFlags::SFD_CLOEXEC;
        let told = SignalFd::with_flags(&heeded, flags).ok();
        // Who can't be told must not hold them.
        let heeded = if told.is_some() { heeded } else { SigSet::empty() };
        Asked { told, _held: unix::held(&heeded) }
    }

    /// Whether somebody asked.
    pub(crate) fn to_end(&self) -> bool {
        let told = self.told.as_ref().map(SignalFd::read_signal);
        matches!(told, Some(Ok(Some(_))))
    }
}

/// The signals that are ignored, a bit for each; held ones would be told all the same.
#[cfg(target_os = "linux")]
fn ignored() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let bits = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    bits.and_then(|bits| u64::from_str_radix(bits.trim(), 16).ok()).unwrap_or(0)
}

/// Elsewhere the program ends at once.
#[cfg(not(target_os = "linux"))]
impl Asked {
    pub(crate) fn listen(_: Heed) -> Self {
        Asked {}
    }

    pub(crate) fn to_end(&self) -> bool {
        false
    }
}
