//! Needs: the exact strings that the agent itself uses after the cut and can only have from before it.

use std::collections::{HashMap, HashSet};

use epitome::text::specifics::{Class, specifics};

use crate::needle::{excerpt, mentions, neighbours, says};
use crate::passage::{Passage, Who};

/// Mentions of a need whose neighbours are looked at, the newest ones.
const MENTIONS: usize = 64;

/// An exact string that the agent uses after the cut.
///
/// It occurs before the cut, and only the agent says it between the cut and its first use. Standing instructions and
/// tool definitions don't have it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Need {
    /// The string.
    pub text: String,
    /// What it is.
    pub class: Class,
    /// Whether the agent uses it in a call's arguments, outside of bodies of edits.
    pub points: bool,
    /// What stands around each mention before the cut, where anything does.
    pub neighbours: Vec<Vec<String>>,
    /// The shortest excerpt before the cut that says it with its neighbours, where it has any.
    pub excerpt: Option<String>,
}

/// All that is said before the cut and counts, as one text.
pub fn said_before(passages: &[Passage]) -> String {
    let texts = passages.iter().filter(|passage| passage.who.counts());
    texts.fold(String::new(), |all, passage| all + &passage.text + "\n")
}

/// The needs of a cut, by their first use.
pub fn needs(before: &[Passage], after: &[Passage], standing: &str) -> Vec<Need> {
    let text = said_before(before);
    let known: HashSet<&str> = specifics(&text).map(|specific| specific.text).collect();
    let is_before = |string: &str| known.contains(string) || says(&text, string);
    let mut heard = String::new();
    let mut needs: Vec<Need> = Vec::new();
    // For each string that was used, its need, if it is one.
    let mut used: HashMap<&str, Option<usize>> = HashMap::new();
    for passage in after {
        match passage.who {
            Who::Reasoning => continue,
            Who::Model => {}
            Who::Person | Who::Tool | Who::Client | Who::Standing => {
                heard.push_str(&passage.text);
                heard.push('\n');
                continue;
            }
        }
        for specific in specifics(&passage.text) {
            let string = specific.text;
            let points = passage.points_at(specific.at);
            match used.get(string) {
                Some(Some(at)) => {
                    let need = &mut needs[*at];
                    if points && !need.points {
                        need.points = !says(&heard, string);
                    }
                }
                Some(None) => {}
                None => {
                    let is_need =
                        is_before(string) && !says(standing, string) && !says(&heard, string);
                    used.insert(string, is_need.then_some(needs.len()));
                    if is_need {
                        let (class, text) = (specific.class, string.to_owned());
                        let (neighbours, excerpt) = (Vec::new(), None);
                        needs.push(Need { text, class, points, neighbours, excerpt });
                    }
                }
            }
        }
    }
    for need in &mut needs {
        let all: Vec<_> = mentions(&text, &need.text).collect();
        let newest = all.iter().rev().take(MENTIONS);
        let around = newest.map(|at| (neighbours(&text, at), at));
        let around: Vec<_> = around.filter(|(words, _)| !words.is_empty()).collect();
        let excerpts = around.iter().map(|(_, at)| excerpt(&text, at));
        need.excerpt = excerpts.min_by_key(|excerpt| excerpt.len()).map(str::to_owned);
        let mut around: Vec<_> = around.into_iter().map(|(words, _)| words).collect();
        around.sort();
        around.dedup();
        need.neighbours = around;
    }
    needs
}
