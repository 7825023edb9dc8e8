//! Failures as gRPC statuses, and back: the nearest code for other clients, and the exact kind beside it.

use epitome::summarize::{FailureKind, SummarizeError};
use tonic::metadata::{MetadataMap, MetadataValue};
use tonic::{Code, Status};

/// Where a status says what kind of failure it is.
const KIND: &str = "epitome-failure";

/// What each kind is called there, as receipts spell it, and the code that is nearest to it.
const KINDS: [(FailureKind, &str, Code); 15] = [
    (FailureKind::Timeout, "timeout", Code::DeadlineExceeded),
    (FailureKind::Unreachable, "unreachable", Code::Unavailable),
    (FailureKind::RateLimited, "rate-limited", Code::ResourceExhausted),
    (FailureKind::Upstream, "upstream", Code::Internal),
    (FailureKind::Rejected, "rejected", Code::FailedPrecondition),
    (FailureKind::Unauthorized, "unauthorized", Code::PermissionDenied),
    (FailureKind::Malformed, "malformed", Code::DataLoss),
    (FailureKind::CutShort, "cut-short", Code::Aborted),
    (FailureKind::ToolCall, "tool-call", Code::Internal),
    (FailureKind::Refusal, "refusal", Code::FailedPrecondition),
    (FailureKind::SpendCap, "spend-cap", Code::ResourceExhausted),
    (FailureKind::Unbooked, "unbooked", Code::Internal),
    (FailureKind::Resting, "resting", Code::Unavailable),
    (FailureKind::Unattended, "unattended", Code::Internal),
    (FailureKind::Command, "command", Code::Internal),
];

/// The status that says `error`.
pub(crate) fn status(error: &SummarizeError) -> Status {
    let known = KINDS.iter().find(|(kind, ..)| *kind == error.kind);
    let Some((_, name, code)) = known else { return Status::internal(error.to_string()) };
    let mut beside = MetadataMap::new();
    beside.insert(KIND, MetadataValue::from_static(name));
    Status::with_metadata(*code, error.detail.clone(), beside)
}

/// What kind of failure a status is.
pub(crate) fn kind(status: &Status) -> FailureKind {
    let said = status.metadata().get(KIND).and_then(|kind| kind.to_str().ok());
    let said = KINDS.iter().find(|(_, name, _)| said == Some(name));
    said.map_or_else(|| by_code(status.code()), |(kind, ..)| *kind)
}

fn by_code(code: Code) -> FailureKind {
    match code {
        Code::Unavailable => FailureKind::Unreachable,
        Code::DeadlineExceeded => FailureKind::Timeout,
        Code::Unauthenticated | Code::PermissionDenied => FailureKind::Unauthorized,
        Code::ResourceExhausted => FailureKind::RateLimited,
        Code::InvalidArgument | Code::NotFound | Code::Unimplemented | Code::FailedPrecondition => {
            FailureKind::Rejected
        }
        // Too large a message, or one that isn't of the contract.
        Code::OutOfRange | Code::DataLoss => FailureKind::Malformed,
        Code::Aborted => FailureKind::CutShort,
        _ => FailureKind::Upstream,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_comes_back_and_the_code_alone_is_near_it() {
        for (sent, name, code) in KINDS {
            let mut status = status(&SummarizeError::new(sent, "on purpose"));
            assert_eq!((kind(&status), status.message()), (sent, "on purpose"));
            // An unknown kind is mapped from its code.
            status.metadata_mut().insert(KIND, MetadataValue::from_static("weather"));
            let near = kind(&status);
            let first = KINDS.iter().find(|(.., other)| *other == code).expect("it has a code").0;
            assert_eq!(near, first, "{name}");
        }
    }
}
