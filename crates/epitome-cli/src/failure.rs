//! Failures: what, where, and the next command to try.

use std::process::ExitCode;

/// How the process ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    /// All is well.
    Ok = 0,
    /// Something went wrong that isn't the input's fault.
    Failure = 1,
    /// The command line makes no sense.
    Usage = 2,
    /// A check found something, a target can't be reached, or what was written still breaks a rule.
    Found = 3,
    /// A search found nothing.
    Nothing = 4,
    /// The input can't be read.
    Input = 65,
    /// Who was to help couldn't.
    Upstream = 69,
    /// The same may work a little later.
    Again = 75,
    /// Somebody asked it to end.
    Interrupted = 130,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        ExitCode::from(exit as u8)
    }
}

/// A failure that knows its exit code and what to do next.
#[derive(Debug, thiserror::Error)]
#[error("{what}")]
pub(crate) struct Failure {
    pub(crate) exit: Exit,
    what: String,
    hint: Option<String>,
}

impl Failure {
    /// The input can't be read.
    pub(crate) fn input(what: impl Into<String>) -> Self {
        Failure { exit: Exit::Input, what: what.into(), hint: None }
    }

    /// The command line makes no sense.
    pub(crate) fn usage(what: impl Into<String>) -> Self {
        Failure { exit: Exit::Usage, what: what.into(), hint: None }
    }

    /// The same may work a little later.
    pub(crate) fn again(what: impl Into<String>) -> Self {
        Failure { exit: Exit::Again, what: what.into(), hint: None }
    }

    /// Who was to help couldn't.
    pub(crate) fn upstream(what: impl Into<String>) -> Self {
        Failure { exit: Exit::Upstream, what: what.into(), hint: None }
    }

    /// Somebody asked it to end.
    pub(crate) fn interrupted(what: impl Into<String>) -> Self {
        Failure { exit: Exit::Interrupted, what: what.into(), hint: None }
    }

    /// Anything else.
    pub(crate) fn other(what: impl Into<String>) -> Self {
        Failure { exit: Exit::Failure, what: what.into(), hint: None }
    }

    /// Whether the same may work a little later.
    pub(crate) fn is_again(error: &anyhow::Error) -> bool {
        error.downcast_ref::<Failure>().is_some_and(|failure| failure.exit == Exit::Again)
    }

    /// What to do next.
    pub(crate) fn what_to_do(&self) -> Option<&str> {
        self.hint.as_deref()
    }

    /// The same, with what to do next.
    #[must_use]
    pub(crate) fn hint(self, hint: impl Into<String>) -> Self {
        Failure { hint: Some(hint.into()), ..self }
    }
}
