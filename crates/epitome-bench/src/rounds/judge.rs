//! Whether a request still says what was planted.

use epitome::Request;
use serde::Serialize;

use crate::needle::{mentions, sides};
use crate::passage::passages;

/// What has become of a value that was replaced.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Order {
    /// The old one, and the new one after it.
    InOrder,
    /// Only the new one.
    NewOnly,
    /// The old one last: whoever reads it takes it for what holds.
    OldLast,
    /// Neither.
    Lost,
}

/// All that a request says, in order.
#[derive(Clone, Debug)]
pub struct RequestText(String);

impl RequestText {
    /// By a request.
    pub fn by(request: &Request) -> Self {
        RequestText(
            passages(request).iter().fold(String::new(), |all, said| all + &said.text + "\n"),
        )
    }

    /// As one text.
    pub fn text(&self) -> &str {
        &self.0
    }

    /// Whether `sentence` stands in it verbatim, its full stop apart.
    pub fn says(&self, sentence: &str) -> bool {
        self.0.contains(sentence.trim_end_matches('.'))
    }

    /// Where it says `value` last in one line with its subject.
    pub fn last(&self, subject: &str, value: &str) -> Option<usize> {
        let subject = subject.to_lowercase();
        let has_subject = |at: &std::ops::Range<usize>| {
            let (before, behind) = sides(&self.0, at);
            before.to_lowercase().contains(&subject) || behind.to_lowercase().contains(&subject)
        };
        mentions(&self.0, value).filter(has_subject).last().map(|at| at.start)
    }

    /// What has become of a value that was replaced.
    pub fn order(&self, subject: &str, old: &str, new: &str) -> Order {
        match (self.last(subject, old), self.last(subject, new)) {
            (None, None) => Order::Lost,
            (None, Some(_)) => Order::NewOnly,
            (Some(old), Some(new)) if old < new => Order::InOrder,
            (Some(_), _) => Order::OldLast,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_value_counts() {
        let order = |text: &str| RequestText(text.to_owned()).order("staging port", "8442", "9021");
        assert_eq!(order("The staging port is 8442.\nMake the Staging port 9021."), Order::InOrder);
        assert_eq!(order("New staging port: 9021."), Order::NewOnly);
        assert_eq!(order("staging port 9021\nstaging port 8442"), Order::OldLast);
        assert_eq!(order("staging port 8442"), Order::OldLast);
        assert_eq!(order("staging port\n9021\n84422 staging port"), Order::Lost);
    }
}
