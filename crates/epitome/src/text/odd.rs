//! Rows that say otherwise than most: the one frozen account of three thousand.

use std::collections::BTreeMap;

use super::kinds::{Cell, LEAST_ALIKE, Row, are_few, counts};

/// Where rows stand that say otherwise than most, the oddest first; none, where most are like no others.
///
/// Rows with the same number of cells are alike if half of their columns have few different words. A row is odd if it has a
/// word in such a column that is far rarer than the others. Other rows are odd as a whole.
pub(super) fn odd(rows: &[Row]) -> Vec<usize> {
    let mut groups: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for (at, row) in rows.iter().enumerate().filter(|(_, row)| !row.is_empty()) {
        groups.entry(row.len()).or_default().push(at);
    }
    let all: usize = groups.values().map(Vec::len).sum();
    let mut alike = 0;
    let mut odd = Vec::new();
    for (cells, group) in groups {
        // How frequent a row's rarest word is, relative to an even distribution.
        let mut shares = vec![1.0; group.len()];
        let mut few = 0;
        for cell in 0..cells {
            let saids: [fn(&Cell) -> _; 2] = [|cell| cell.text, |cell| cell.masked];
            let counted = saids.map(|said| (said, counts(rows, &group, |row| said(&row[cell]))));
            let Some((said, counts)) =
                counted.into_iter().find(|(_, counts)| are_few(counts, group.len()))
            else {
                continue;
            };
            few += 1;
            for (share, at) in shares.iter_mut().zip(&group) {
                let same = counts[&said(&rows[*at][cell])] * counts.len();
                *share = f64::min(*share, same as f64 / group.len() as f64);
            }
        }
        if few * 2 >= cells && group.len() >= LEAST_ALIKE {
            alike += group.len();
            let rare = shares.into_iter().zip(group);
            odd.extend(rare.filter(|(share, _)| *share * LEAST_ALIKE as f64 <= 1.0));
        } else {
            let share = group.len() as f64 / all as f64;
            odd.extend(group.into_iter().map(|at| (share, at)));
        }
    }
    if alike * 2 <= all {
        return Vec::new();
    }
    odd.sort_by(|(one, first), (other, second)| one.total_cmp(other).then(second.cmp(first)));
    odd.into_iter().map(|(_, at)| at).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::kinds::words;

    fn odd_lines(text: &str) -> Vec<&str> {
        let lines: Vec<&str> = text.lines().collect();
        let rows: Vec<Row> = lines.iter().map(|line| words(line)).collect();
        odd(&rows).into_iter().map(|at| lines[at]).collect()
    }

    #[test]
    fn what_few_of_many_rows_say_is_odd() {
        let row = |n: usize| {
            let state = if n == 77 { "frozen" } else { "active" };
            format!("acc-{n:04}, u{}, {state}, {}\n", n % 37, 100 + n * 7 % 311)
        };
        let rows: String = (0..1000).map(row).collect();
        let text = format!("id, owner, state, balance\n{rows}the list is cut\n");
        assert_eq!(
            odd_lines(&text),
            ["the list is cut", "id, owner, state, balance", "acc-0077, u3, frozen, 328"]
        );
    }

    #[test]
    fn of_prose_no_line_is_odd() {
        let text = "The moon is far away.\nNobody knows who lives there.\nWe went and looked.\nIt was cold.\n";
        assert_eq!(odd_lines(text), Vec::<&str>::new());
    }
}
