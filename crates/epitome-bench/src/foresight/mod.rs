//! Foresight: does a view still say what the agent will need?
//!
//! Real sessions are cut at several points. The part before a cut is compacted; the agent's own words and calls after it
//! show what it needed. A [need](need::Need) is an exact string that occurs before the cut and that the agent uses after
//! it, before anybody else repeats it. Every [contender](contender::Contender) has the same room.
//!
//! - [`cut`], [`scene`]: a session in two
//! - [`need`], [`reread`]: what is needed after the cut
//! - [`contender`]: what makes views
//! - [`score`]: what they still say
//! - `run`, [`page`]: the figures

pub mod contender;
pub mod cut;
pub mod need;
pub mod page;
pub mod reread;
mod run;
pub mod scene;
pub mod score;

pub use contender::Contender;
pub use run::{CutRow, FEWEST, Figures, Row, Study, VERSION, run};
