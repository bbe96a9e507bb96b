//! Opens accounts; shows attributes, `out` parameters, exceptions, inheritance and narrowing.

use bank::account::WithdrawError;
use bank::{Account, NoSuchCustomer, Office, Savings};
use zorb::{Exception, Interface, Orb, SystemException};

zorb::include_idl!("bank");

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let reference = std::env::args().nth(1).ok_or("usage: bank-client REFERENCE")?;
    let orb = Orb::builder().build();
    let object = orb.string_to_object(&reference)?.ok_or("the reference is nil")?;
    // Asks the object unless its reference says already what it is.
    let office = Office::narrow(&object)?.ok_or("the object is no office")?;
    Ok(visit(&office)?)
}

/// Every operation's error becomes an [`Exception`], so `?` serves for all.
fn visit(office: &Office) -> Result<(), Exception> {
    // A reference may be nil, so it is an `Option`.
    let account = office.open("Ada")?.ok_or_else(nil)?;
    account.deposit(100)?;
    let (balance, receipt) = account.withdraw(30)?;
    println!("{}: {receipt}, {balance} left", account.owner()?);

    // The declared exceptions of an operation, and any system exception, are an enum.
    match account.withdraw(1000) {
        Err(WithdrawError::InsufficientFunds(exception)) => println!("{} are missing", exception.missing),
        Err(WithdrawError::System(exception)) => return Err(exception.into()),
        Ok(_) => println!("that should have failed"),
    }
    if let Err(exception) = account.deposit(-1) {
        println!("{}, {}", exception.kind, exception.completed);
    }

    let savings = office.open_savings("Grace", 1.5)?.ok_or_else(nil)?;
    savings.set_rate(savings.rate()? + 0.25)?;
    savings.deposit(10)?; // inherited
    println!("{} saves at {} %", savings.owner()?, savings.rate()?);

    for owner in ["Ada", "Grace", "Alan"] {
        match find(office, owner) {
            Ok(Some(account)) => {
                let kind = if Savings::narrow(&account)?.is_some() { "savings" } else { "account" };
                println!("{owner}: {kind} with {}", account.balance()?);
            }
            Ok(None) => println!("{owner}: nil"),
            Err(Exception::User(exception)) => match exception.downcast_ref::<NoSuchCustomer>() {
                Some(NoSuchCustomer { name }) => println!("{name}: not a customer"),
                None => println!("{}", exception.repository_id()),
            },
            Err(other) => return Err(other),
        }
    }
    Ok(())
}

fn find(office: &Office, owner: &str) -> Result<Option<Account>, Exception> {
    Ok(office.find(owner)?)
}

fn nil() -> SystemException {
    SystemException::InvObjref("the office gave a nil reference")
}
