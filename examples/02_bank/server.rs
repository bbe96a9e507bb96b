//! A bank's office that makes an object for each account. One implementation serves two interfaces: `Account` and `Savings`.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bank::account::{InsufficientFunds, WithdrawError};
use bank::office::FindError;
use bank::{Account, AccountServant, NoSuchCustomer, Office, OfficeServant, Savings, SavingsServant};
use zorb::poa::Poa;
use zorb::{Call, Interface, Orb, SystemException};

zorb::include_idl!("bank");

/// What an account is made of. Calls come from many threads, so what changes is behind a lock.
struct Ledger {
    owner: String,
    balance: Mutex<i64>,
    rate: Mutex<f64>,
}

impl Ledger {
    fn new(owner: &str, rate: f64) -> Arc<Ledger> {
        Arc::new(Ledger { owner: owner.into(), balance: Mutex::new(0), rate: Mutex::new(rate) })
    }
}

impl AccountServant for Ledger {
    fn owner(&self, _: &Call) -> Result<String, SystemException> {
        Ok(self.owner.clone())
    }

    fn balance(&self, _: &Call) -> Result<i64, SystemException> {
        Ok(*lock(&self.balance))
    }

    fn deposit(&self, _: &Call, amount: i64) -> Result<(), SystemException> {
        if amount < 0 {
            return Err(SystemException::BadParam("a deposit is not negative"));
        }
        *lock(&self.balance) += amount;
        Ok(())
    }

    // The result and then each `out` parameter make a tuple.
    fn withdraw(&self, _: &Call, amount: i64) -> Result<(i64, String), WithdrawError> {
        let mut balance = lock(&self.balance);
        if amount > *balance {
            return Err(InsufficientFunds { missing: amount - *balance }.into());
        }
        *balance -= amount;
        Ok((*balance, format!("{amount} paid to {}", self.owner)))
    }
}

impl SavingsServant for Ledger {
    fn rate(&self, _: &Call) -> Result<f64, SystemException> {
        Ok(*lock(&self.rate))
    }

    fn set_rate(&self, _: &Call, value: f64) -> Result<(), SystemException> {
        *lock(&self.rate) = value;
        Ok(())
    }
}

/// Opens accounts in `poa`, and remembers them by their owners.
struct Branch {
    poa: Poa,
    accounts: Mutex<HashMap<String, Account>>,
}

impl OfficeServant for Branch {
    fn open(&self, _: &Call, owner: &str) -> Result<Option<Account>, SystemException> {
        let account = self.poa.activate::<Account>(Ledger::new(owner, 0.0))?;
        lock(&self.accounts).insert(owner.into(), account.clone());
        Ok(Some(account))
    }

    fn open_savings(&self, _: &Call, owner: &str, rate: f64) -> Result<Option<Savings>, SystemException> {
        let savings = self.poa.activate::<Savings>(Ledger::new(owner, rate))?;
        lock(&self.accounts).insert(owner.into(), savings.clone().into());
        Ok(Some(savings))
    }

    fn find(&self, _: &Call, owner: &str) -> Result<Option<Account>, FindError> {
        match lock(&self.accounts).get(owner) {
            Some(account) => Ok(Some(account.clone())),
            None => Err(NoSuchCustomer { name: owner.into() }.into()),
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let orb = Orb::builder().listen("tcp:127.0.0.1:0").build();
    let poa = orb.root_poa()?;
    let branch = Branch { poa: poa.clone(), accounts: Mutex::default() };
    let office = poa.activate::<Office>(Arc::new(branch))?;
    poa.manager().activate()?;
    println!("{}", office.as_object());
    orb.run();
    Ok(())
}
