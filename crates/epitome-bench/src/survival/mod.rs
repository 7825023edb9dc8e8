//! What survives: items are planted in long real sessions, these are compacted five times with new turns in
//! between, and what is left is judged item by item.
//!
//! - [`book`]: what is planted, from data files; one of them is opened only to measure
//! - [`stream`]: real sessions in a row, as entries
//! - [`plot`]: which items, said by whom and where; deterministic in its seed
//! - [`contender`]: what is measured
//! - [`judge`]: whether a request says an item, and where
//! - [`alone`]: what the ledger makes of each phrasing said by itself, without a compaction
//! - [`crowd`]: what it makes of each correction among all other matters
//! - [`report`], [`page`]: the figures, with intervals
//!
//! But for [`alone`] and [`crowd`] the library is seen from outside only: a request goes in, a request comes out.

pub mod alone;
pub mod book;
pub mod contender;
pub mod crowd;
pub mod judge;
pub mod page;
pub mod plot;
pub mod report;
mod run;
pub mod stream;

pub use book::{Book, Kind, Set, Shape, Speaker, shipped};
pub use contender::{Contender, Epitome, Everything};
pub use report::Report;
pub use run::{Broken, Miss, Study, run};
pub use stream::Stream;
