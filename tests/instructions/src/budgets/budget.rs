//! The file of budgets: one line each.
//!
//! ```text
//! # what   case          budget       lowest      raised because
//! client   null            1140         1120      replies carry a context since …
//! growth   1000-operations call/null+2% call/null+2%
//! messages head-lite     messages/head-34% messages/head-34%
//! ipc      send          libc/send+10  libc/send+10
//! ```

/// The most that one call may take, in one of its parts.
#[derive(Debug, PartialEq)]
pub(crate) struct Budget {
    /// The part: `encode`, `client`, ….
    pub(crate) what: String,
    /// What the call carries.
    pub(crate) case: String,
    pub(crate) most: Amount,
    /// The lowest that it ever was.
    pub(crate) lowest: Amount,
    /// Why it is above that; empty where it is not.
    pub(crate) reason: String,
}

/// A number of instructions.
#[derive(Debug, PartialEq)]
pub(crate) enum Amount {
    Instructions(u64),
    /// So many percent more than another figure was counted at, or fewer.
    Above {
        figure: String,
        percent: i64,
    },
    /// So many instructions more than another figure was counted at.
    Beyond {
        figure: String,
        instructions: u64,
    },
}

impl Amount {
    /// The other figure that this one is measured by.
    pub(crate) fn figure(&self) -> Option<&str> {
        match self {
            Amount::Instructions(_) => None,
            Amount::Above { figure, .. } | Amount::Beyond { figure, .. } => Some(figure),
        }
    }
}

impl Budget {
    /// Its figure's name.
    pub(crate) fn figure(&self) -> String {
        format!("{}/{}", self.what, self.case)
    }
}

/// Reads the file; says which line cannot be read.
pub(crate) fn parse(text: &str) -> Result<Vec<Budget>, String> {
    let lines = text.lines().zip(1..).filter(|(line, _)| !line.is_empty() && !line.starts_with('#'));
    let budgets = lines.map(|(line, number)| {
        budget(line).ok_or_else(|| format!("line {number} is not `what case budget lowest [reason]`: {line}"))
    });
    budgets.collect()
}

fn budget(line: &str) -> Option<Budget> {
    let mut words = line.split_whitespace();
    Some(Budget {
        what: words.next()?.to_owned(),
        case: words.next()?.to_owned(),
        most: amount(words.next()?)?,
        lowest: amount(words.next()?)?,
        reason: words.collect::<Vec<_>>().join(" "),
    })
}

fn amount(word: &str) -> Option<Amount> {
    match word.split_once('+') {
        None => match word.strip_suffix('%').and_then(|word| word.rsplit_once('-')) {
            Some((figure, less)) => {
                let less: i64 = less.parse().ok().filter(|less| (0..=100).contains(less))?;
                Some(Amount::Above { figure: figure.to_owned(), percent: -less })
            }
            None => word.parse().ok().map(Amount::Instructions),
        },
        Some((figure, more)) => {
            let figure = figure.to_owned();
            match more.strip_suffix('%') {
                Some(percent) => Some(Amount::Above { figure, percent: percent.parse().ok()? }),
                None => Some(Amount::Beyond { figure, instructions: more.parse().ok()? }),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_read() {
        let text = "# why\n\nclient null 20 10 because of it\ngrowth many call/null+2% call/null+1%\nipc send libc/send+10 9\none two a/b-c-34% 9\n";
        let above = |percent| Amount::Above { figure: "call/null".to_owned(), percent };
        let budgets = parse(text).expect("four lines");
        assert_eq!(budgets[0].figure(), "client/null");
        assert_eq!((&budgets[0].most, &*budgets[0].reason), (&Amount::Instructions(20), "because of it"));
        assert_eq!((&budgets[1].most, &budgets[1].lowest), (&above(2), &above(1)));
        assert_eq!(budgets[1].reason, "");
        let beyond = Amount::Beyond { figure: "libc/send".to_owned(), instructions: 10 };
        assert_eq!((&budgets[2].most, budgets[2].most.figure()), (&beyond, Some("libc/send")));
        assert_eq!(budgets[3].most, Amount::Above { figure: "a/b-c".to_owned(), percent: -34 });
    }

    #[test]
    fn what_is_no_budget_is_named_with_its_line() {
        for line in [
            "call",
            "call null",
            "call null 3000",
            "call null few 3000",
            "call null call/null+2x 1",
            "call null a/b-101% 1",
        ] {
            let error = parse(&format!("# one\n{line}\n")).expect_err(line);
            assert!(error.starts_with("line 2 ") && error.ends_with(line), "{error}");
        }
    }
}
