//! What a provider bills of what it reported.

use epitome::model::Billed;
use epitome_recordings::Reported;

/// The tokens of a request by their rates.
pub(crate) fn billed(reported: &Reported) -> Billed {
    let usage = reported.usage;
    Billed {
        fresh: usage.input,
        read: usage.cache_read,
        written: usage.cache_write.saturating_sub(usage.cache_write_long),
        written_long: usage.cache_write_long,
        output: usage.output,
    }
}
