//! "Did you mean …?"

/// Letters that are compared: longer names differ enough in these, and a text of any length costs no more.
const LONGEST: usize = 64;

/// The known name that a misspelled one most likely stands for, if one is close enough: a third of its letters may differ.
pub(crate) fn nearest<'k>(word: &str, known: impl IntoIterator<Item = &'k str>) -> Option<&'k str> {
    let word: Vec<char> = word.chars().take(LONGEST).flat_map(char::to_lowercase).collect();
    let most = word.len().div_ceil(3);
    let measured = known.into_iter().map(|name| (distance(&word, name), name));
    measured.filter(|(distance, _)| *distance <= most).min().map(|(_, name)| name)
}

/// `; did you mean …?`, or nothing.
pub(crate) fn suggestion<'k>(word: &str, known: impl IntoIterator<Item = &'k str>) -> String {
    nearest(word, known).map(|name| format!("; did you mean {name}?")).unwrap_or_default()
}

/// Letters to insert, delete, replace or swap with the next, case aside.
fn distance(word: &[char], name: &str) -> usize {
    let name: Vec<char> = name.chars().take(LONGEST).flat_map(char::to_lowercase).collect();
    let mut rows: Vec<Vec<usize>> = vec![(0..=name.len()).collect()];
    for (i, a) in word.iter().enumerate() {
        let mut row = vec![i + 1];
        for (j, b) in name.iter().enumerate() {
            let mut best = (rows[i][j] + usize::from(a != b)).min(rows[i][j + 1] + 1).min(row[j] + 1);
            if i > 0 && j > 0 && *a == name[j - 1] && word[i - 1] == *b {
                best = best.min(rows[i - 1][j - 1] + 1);
            }
            row.push(best);
        }
        rows.push(row);
    }
    rows[word.len()][name.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn close_names_are_found() {
        let known = ["call_timeout", "connect_timeout", "listen"];
        assert_eq!(nearest("cal_timeout", known), Some("call_timeout"));
        assert_eq!(nearest("LISTE", known), Some("listen"));
        assert_eq!(nearest("widget", known), None);
        assert_eq!(nearest("", known), None);
        assert_eq!(distance(&['a', 'b', 'c'], "xbcd"), 2);
        assert_eq!(distance(&['a', 'b', 'c'], "bac"), 1);
    }
}
