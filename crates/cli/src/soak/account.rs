//! What callers were told, against what was executed: at most once, and exactly once where a call returned.

use std::collections::HashMap;

use zorb::{Completion, SystemException};

/// What a caller knows of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// It was executed.
    Returned = 0,
    /// It was not.
    NotExecuted = 1,
    /// It may have been.
    Perhaps = 2,
}

impl Outcome {
    pub(crate) fn of<T>(result: &Result<T, SystemException>) -> Outcome {
        match result.as_ref().map_err(|exception| exception.completed) {
            Ok(_) | Err(Completion::Yes) => Outcome::Returned,
            Err(Completion::No) => Outcome::NotExecuted,
            Err(Completion::Maybe) => Outcome::Perhaps,
        }
    }

    /// As files have it; `None`: no such.
    pub(crate) fn of_number(number: u64) -> Option<Outcome> {
        [Outcome::Returned, Outcome::NotExecuted, Outcome::Perhaps]
            .into_iter()
            .find(|one| *one as u64 == number)
    }
}

/// Who knows of all requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Callers {
    /// They lived on, and told of each.
    Survived,
    /// They were killed: a request may have been executed that nobody tells of.
    Died,
}

/// Requests by what became of them, and the faults.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Account {
    pub(crate) returned: u64,
    pub(crate) not_executed: u64,
    pub(crate) perhaps: u64,
    /// Returned, and was not executed.
    pub(crate) lost: u64,
    /// Executed more than once.
    pub(crate) doubled: u64,
    /// Executed, and the caller was told that it was not.
    pub(crate) denied: u64,
    /// Executed, and nobody made it.
    pub(crate) strange: u64,
    /// Some of those.
    pub(crate) examples: Vec<String>,
}

/// Faults that are told one by one.
const MOST_EXAMPLES: usize = 8;

impl Account {
    /// Compares what callers were told with the numbers in the book.
    pub(crate) fn of(told: &[(u64, Outcome)], book: &[u64], callers: Callers) -> Account {
        let mut account = Account::default();
        let mut executed: HashMap<u64, u32> = HashMap::with_capacity(book.len());
        for number in book {
            *executed.entry(*number).or_default() += 1;
        }
        for (number, times) in executed.iter().filter(|(_, times)| **times > 1) {
            account.doubled += 1;
            account.example(format!("request {number} was executed {times} times"));
        }
        for (number, outcome) in told {
            let was_executed = executed.remove(number).is_some();
            match outcome {
                Outcome::Returned => account.returned += 1,
                Outcome::NotExecuted => account.not_executed += 1,
                Outcome::Perhaps => account.perhaps += 1,
            }
            match (outcome, was_executed) {
                (Outcome::Returned, false) => {
                    account.lost += 1;
                    account.example(format!("request {number} returned and was not executed"));
                }
                (Outcome::NotExecuted, true) => {
                    account.denied += 1;
                    account.example(format!("request {number} was executed in spite of COMPLETED_NO"));
                }
                _ => {}
            }
        }
        if callers == Callers::Survived {
            for number in executed.keys() {
                account.strange += 1;
                account.example(format!("request {number} was executed, and nobody made it"));
            }
        }
        account
    }

    fn example(&mut self, text: String) {
        if self.examples.len() < MOST_EXAMPLES {
            self.examples.push(text);
        }
    }

    pub(crate) fn add(&mut self, other: Account) {
        self.returned += other.returned;
        self.not_executed += other.not_executed;
        self.perhaps += other.perhaps;
        self.lost += other.lost;
        self.doubled += other.doubled;
        self.denied += other.denied;
        self.strange += other.strange;
        for example in other.examples {
            self.example(example);
        }
    }

    pub(crate) fn faults(&self) -> u64 {
        self.lost + self.doubled + self.denied + self.strange
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_fault_is_found() {
        use Outcome::{NotExecuted, Perhaps, Returned};
        let told = [(1, Returned), (2, NotExecuted), (3, Perhaps), (4, Perhaps)];
        assert_eq!(Account::of(&told, &[1, 3], Callers::Survived).faults(), 0);
        assert_eq!(Account::of(&told, &[], Callers::Survived).lost, 1);
        assert_eq!(Account::of(&told, &[1, 1], Callers::Survived).doubled, 1);
        assert_eq!(Account::of(&told, &[1, 4, 4], Callers::Died).doubled, 1);
        assert_eq!(Account::of(&told, &[1, 2], Callers::Survived).denied, 1);
        assert_eq!(Account::of(&told, &[1, 5], Callers::Survived).strange, 1);
        assert_eq!(Account::of(&told, &[1, 5], Callers::Died).faults(), 0);
        assert_eq!(Account::of(&told, &[1, 5, 5], Callers::Died).doubled, 1);
        assert_eq!(Account::of(&told, &[], Callers::Died).examples.len(), 1);
    }
}
