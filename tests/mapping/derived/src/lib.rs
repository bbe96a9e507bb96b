//! Generated code that refers to another crate's, with every lint denied.
#![deny(warnings, missing_docs, clippy::all)]

zorb::include_idl!("savings");

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::time::Duration;

    use zorb::rt::{Interface, OperationError, Raised};
    use zorb::{Call, Exception, Orb, SystemException};
    use zorb_test_mapping::bank::bank::{
        Account, AccountServant, Named, NamedServant, NoSuchCustomer, account,
    };

    use super::savings::{SavingsAccount, SavingsAccountServant, savings_account::CloseError};

    struct Closed;

    impl NamedServant for Closed {
        fn name(&self, _: &Call) -> Result<String, SystemException> {
            Ok("closed".into())
        }
    }

    impl AccountServant for Closed {
        fn withdraw(&self, _: &Call, missing: i64) -> Result<(i64, String), account::WithdrawError> {
            Err(account::InsufficientFunds { missing }.into())
        }

        fn nudge(&self, _: &Call, _: zorb::Sequence<f64>) -> Result<(), SystemException> {
            Ok(())
        }
    }

    impl SavingsAccountServant for Closed {
        fn interest(&self, _: &Call) -> Result<super::bank::Interest, SystemException> {
            Ok(super::bank::Interest { rate: 0.5 })
        }

        fn set_interest(&self, _: &Call, _: &super::bank::Interest) -> Result<(), SystemException> {
            Ok(())
        }

        fn close(&self, _: &Call) -> Result<i64, CloseError> {
            Err(NoSuchCustomer { name: "nobody".into() }.into())
        }
    }

    #[test]
    fn another_crate_s_interface_is_an_ancestor() {
        fn is_servant<S: SavingsAccountServant>(_: S) {}
        is_servant(Closed);
        let _upcast: fn(SavingsAccount) -> Account = From::from;
        let _further: fn(SavingsAccount) -> Named = From::from;
        let info = SavingsAccount::INFO;
        assert_eq!(info.id, "IDL:zorb.test/savings/SavingsAccount:1.0");
        assert!(info.is_a("IDL:zorb.test/bank/Account:1.0"));
        assert!(info.is_a("IDL:zorb.test/bank/Named:1.0"));
        assert!(!info.is_a("IDL:zorb.test/bank/Office:1.0"));
    }

    #[test]
    fn another_crate_s_operations_and_exceptions_travel() {
        let server = Orb::builder().listen("tcp:127.0.0.1:0").build();
        let poa = server.root_poa().unwrap();
        let here = poa.activate::<SavingsAccount>(Arc::new(Closed)).unwrap();
        poa.manager().activate().unwrap();

        let client = Orb::builder().build();
        let object = client.string_to_object(&here.as_object().to_string()).unwrap().unwrap();
        // The server knows the ancestors by the repository ids that the other crate has.
        assert!(Named::narrow(&object).unwrap().is_some());
        let savings = SavingsAccount::narrow(&object).unwrap().expect("the server says so");
        assert_eq!(savings.interest().unwrap().rate, 0.5);
        let Err(CloseError::NoSuchCustomer(raised)) = savings.close() else { panic!("a user exception") };
        assert_eq!(raised.name, "nobody");
        // Inherited, by way of the base and as itself.
        assert_eq!(savings.name().unwrap(), "closed");
        for account in [&savings as &Account, &Account::from(savings.clone())] {
            let Err(account::WithdrawError::InsufficientFunds(raised)) = account.withdraw(7) else {
                panic!("a user exception")
            };
            assert_eq!(raised.missing, 7);
        }
        server.shutdown(true, Duration::from_secs(60));
    }

    #[test]
    fn another_crate_s_exceptions_are_raised_and_converted() {
        let error = CloseError::from(account::InsufficientFunds { missing: 7 });
        let Raised::User(raised) = error.raised() else { panic!("a user exception") };
        assert_eq!(raised.repository_id(), "IDL:zorb.test/bank/Account/InsufficientFunds:1.0");
        fn question_mark() -> Result<(), Exception> {
            Err(CloseError::from(NoSuchCustomer { name: "x".into() }))?
        }
        let Err(Exception::User(raised)) = question_mark() else { panic!("a user exception") };
        assert_eq!(raised.downcast_ref::<NoSuchCustomer>().map(|it| it.name.as_str()), Some("x"));
    }
}
