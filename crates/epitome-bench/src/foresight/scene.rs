//! A cut session, with all that contenders and scores ask about it.

use std::sync::Arc;

use epitome::Request;
use epitome::count::{Tally, TokenCounter};
use epitome::transcript::unit::Units;

use super::cut::prefix;
use super::need::{Need, needs};
use super::reread::{Reread, rereads};
use crate::Broken;
use crate::passage::{Passage, Who, decoded, passages};

/// What is compacted, and what comes after.
#[derive(Debug)]
pub struct Scene {
    /// What is compacted.
    pub prefix: Request,
    /// Its units.
    pub units: Units,
    /// What it says.
    pub passages: Vec<Passage>,
    /// Its tokens.
    pub tally: Tally,
    /// Tokens of what every contender keeps: the frame and standing instructions.
    pub standing: u64,
    /// Strings that the agent needs after the cut.
    pub needs: Vec<Need>,
    /// Files that it reads again after the cut.
    pub rereads: Vec<Reread>,
    /// What counts tokens.
    pub counter: Arc<dyn TokenCounter>,
}

impl Scene {
    /// Cuts a session before an entry.
    ///
    /// # Errors
    /// What stands before isn't a request.
    pub fn new(
        session: &Request,
        all: &[Passage],
        entry: usize,
        counter: &Arc<dyn TokenCounter>,
    ) -> Result<Self, Broken> {
        let prefix = prefix(session, entry)?;
        let units = Units::of(&prefix.transcript, prefix.format.instructions());
        let passages = passages(&prefix);
        let tally = Tally::of(&prefix, counter.as_ref());
        let frame = tally.frame.total().tokens;
        let instructions = prefix.transcript.entries().filter(|entry| entry.role().instructs());
        let standing = frame + instructions.map(|entry| tally.entry(entry.index)).sum::<u64>();
        let mut said = decoded(session.system().unwrap_or_default());
        said.push('\n');
        said.push_str(&decoded(session.tools().unwrap_or_default()));
        for passage in passages.iter().filter(|passage| passage.who == Who::Standing) {
            said.push('\n');
            said.push_str(&passage.text);
        }
        let after = all.partition_point(|passage| passage.entry < entry);
        let needs = needs(&passages, &all[after..], &said);
        let rereads = rereads(session, entry);
        let counter = Arc::clone(counter);
        Ok(Scene { prefix, units, passages, tally, standing, needs, rereads, counter })
    }

    /// Tokens of the prefix but for what every contender keeps.
    pub fn tokens(&self) -> u64 {
        self.tally.total().tokens - self.standing
    }

    /// The tokens that a contender may use: a share of them, in percent.
    pub fn room(&self, percent: u8) -> u64 {
        self.tokens() * u64::from(percent) / 100
    }

    /// What a unit says.
    pub fn of_unit(&self, unit: usize) -> &[Passage] {
        let from = self.passages.partition_point(|passage| passage.unit < unit);
        let to = self.passages.partition_point(|passage| passage.unit <= unit);
        &self.passages[from..to]
    }

    /// Tokens of a unit but for standing instructions.
    pub fn unit_tokens(&self, unit: usize) -> u64 {
        let entries = self.units.all()[unit].entries.clone();
        let spoken = entries.filter(|at| !self.prefix.transcript.entry(*at).role().instructs());
        spoken.map(|at| self.tally.entry(at)).sum()
    }
}
