//! "Did you mean …?"

/// The candidate that a misspelled word most likely stands for, if one is close enough.
pub(crate) fn nearest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let word: Vec<char> = word.chars().take(LONGEST).collect();
    // A third of the letters may differ: `lnog` is `long`, but `foo` is not `bar`.
    // Never all of them: one letter is like no other.
    let most = word.len().div_ceil(3).min(word.len().saturating_sub(1));
    let close = candidates.into_iter().filter(|it| it.len().abs_diff(word.len()) <= most);
    let measured = close.map(|it| (distance(&word, it), it)).filter(|(distance, _)| *distance <= most);
    measured.min().map(|(_, candidate)| candidate)
}

/// Letters that are compared: longer names differ enough in these.
const LONGEST: usize = 64;

/// The number of letters to insert, delete, replace or swap with the next, case aside.
fn distance(word: &[char], candidate: &str) -> usize {
    let candidate: Vec<char> = candidate.chars().take(LONGEST).collect();
    let width = candidate.len() + 1;
    let mut rows = vec![(0..width).collect::<Vec<_>>()];
    for (i, a) in word.iter().enumerate() {
        let mut row = vec![i + 1];
        for (j, b) in candidate.iter().enumerate() {
            let replaced = rows[i][j] + usize::from(!a.eq_ignore_ascii_case(b));
            let mut best = replaced.min(rows[i][j + 1] + 1).min(row[j] + 1);
            if i > 0 && j > 0 && *a == candidate[j - 1] && word[i - 1] == *b {
                best = best.min(rows[i - 1][j - 1] + 1);
            }
            row.push(best);
        }
        rows.push(row);
    }
    rows[word.len()][candidate.len()]
}

#[cfg(test)]
mod tests {
    use super::nearest;

    #[test]
    fn close_words_are_found() {
        let words = ["long", "short", "sequence", "Account"];
        assert_eq!(nearest("lnog", words), Some("long"));
        assert_eq!(nearest("sequnce", words), Some("sequence"));
        assert_eq!(nearest("account", words), Some("Account"));
        assert_eq!(nearest("widget", words), None);
        assert_eq!(nearest("", words), None);
        assert_eq!(nearest("s", ["m", "S"]), Some("S"));
        assert_eq!(nearest("s", ["m"]), None);
    }
}
