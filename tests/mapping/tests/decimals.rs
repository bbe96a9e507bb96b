//! `fixed` in every position: through stubs and skeletons over a connection, collocated, and octets that are none.

use std::sync::Arc;
use std::sync::Mutex;
use std::sync::mpsc::{Sender, channel};
use std::time::Duration;

use zorb::cdr::{ByteOrder, Decode, DecodeErrorKind, Decoder, Encode, EncodeErrorKind, Encoder, Format};
use zorb::{Call, Fixed, Interface, Orb, SystemException};
use zorb_test_mapping::decimals::decimals::{
    Bill, Few, LEAST, Price, RATE, TWICE, Till, TillServant, TooDear, till,
};

fn fixed(text: &str) -> Fixed {
    text.parse().expect(text)
}

struct Desk {
    balance: Mutex<Fixed>,
    noted: Sender<Fixed>,
}

impl TillServant for Desk {
    fn balance(&self, _: &Call) -> Result<Fixed, SystemException> {
        Ok(*self.balance.lock().unwrap())
    }

    fn set_balance(&self, _: &Call, balance: Fixed) -> Result<(), SystemException> {
        *self.balance.lock().unwrap() = balance;
        Ok(())
    }

    fn pay(&self, _: &Call, amount: Fixed, total: Fixed) -> Result<(Fixed, Few, Fixed), till::PayError> {
        if amount > fixed("1000") {
            return Err(TooDear { most: fixed("1000.00") }.into());
        }
        let tax = amount.checked_mul(RATE).unwrap().round(2);
        Ok((tax, vec![fixed("-999"), fixed("1")], total.checked_add(fixed("1")).unwrap()))
    }

    fn copy(
        &self,
        _: &Call,
        original: &Bill,
        more: &[Fixed],
        lines: &[[Fixed; 2]; 2],
    ) -> Result<(Bill, Price), SystemException> {
        let copy = Bill { more: more.to_vec(), lines: *lines, ..original.clone() };
        let price = match more.first() {
            Some(first) => Price::known(*first),
            None => Price::why("nothing".into()),
        };
        Ok((copy, price))
    }

    fn note(&self, _: &Call, share: Fixed) -> Result<(), SystemException> {
        let _ = self.noted.send(share);
        Ok(())
    }
}

fn bill() -> Bill {
    let least = Fixed::new(-1, 31).unwrap();
    Bill { to: "Ada".into(), net: fixed("1234567.89"), part: least, ..Default::default() }
}

#[test]
fn decimals_go_through_stubs_and_skeletons() {
    let (server, client) = (Orb::builder().listen("tcp:127.0.0.1:0").build(), Orb::builder().build());
    let (noted, notes) = channel();
    let root = server.root_poa().unwrap();
    let here = root.activate::<Till>(Arc::new(Desk { balance: Mutex::default(), noted })).unwrap();
    root.manager().activate().unwrap();
    let text = here.as_object().to_string();
    let there = Till::from_object(client.string_to_object(&text).unwrap().unwrap());
    for till in [there, here] {
        till.set_balance(fixed("-0.05")).unwrap();
        assert_eq!(till.balance().unwrap().to_string(), "-0.05");

        let most = fixed("9999999999999999999999999999998");
        let paid = (fixed("3.79"), vec![fixed("-999"), fixed("1")], most.checked_add(fixed("1")).unwrap());
        assert_eq!(till.pay(fixed("19.95"), most).unwrap(), paid);
        assert_eq!(till.pay_async(fixed("19.95"), most).wait().unwrap(), paid);
        let error = till.pay(fixed("1000.01"), most).unwrap_err();
        assert_eq!(error, till::PayError::TooDear(TooDear { most: fixed("1000") }));

        let lines = [[fixed("0.1"), fixed("-0.1")], [fixed("999.9"), fixed("0")]];
        let sums = [fixed("1"), fixed("-9999999.99")];
        let (copy, price) = till.copy(&bill(), &sums, &lines).unwrap();
        assert_eq!(copy, Bill { more: sums.to_vec(), lines, ..bill() });
        assert_eq!(price, Price::known(fixed("1.00")));
        assert_eq!(till.copy(&bill(), &[], &lines).unwrap().1, Price::why("nothing".into()));

        till.note(fixed("0.12345")).unwrap();
        assert_eq!(notes.recv_timeout(Duration::from_secs(60)).unwrap(), fixed("0.12345"));
    }
}

#[test]
fn what_the_type_does_not_hold_is_the_callers_fault() {
    let (server, client) = (Orb::builder().listen("tcp:127.0.0.1:0").build(), Orb::builder().build());
    let root = server.root_poa().unwrap();
    let till =
        root.activate::<Till>(Arc::new(Desk { balance: Mutex::default(), noted: channel().0 })).unwrap();
    root.manager().activate().unwrap();
    let text = till.as_object().to_string();
    let till = Till::from_object(client.string_to_object(&text).unwrap().unwrap());
    for refused in ["0.005", "10000000"] {
        let error = till.set_balance(fixed(refused)).unwrap_err().to_string();
        assert!(error.contains("BAD_PARAM") && error.contains("balance"), "{error}");
    }
    assert_eq!(till.balance().unwrap(), Fixed::default());
}

#[test]
fn constants_have_all_their_digits() {
    assert_eq!((RATE, TWICE), (fixed("0.19"), fixed("0.38")));
    assert_eq!(LEAST.to_string(), "-9999999999999999999999999999999");
}

fn octets(value: &impl Encode) -> Result<Vec<u8>, EncodeErrorKind> {
    let mut to = Encoder::new(Format::default());
    value.encode(&mut to).map_err(|error| error.kind)?;
    Ok(to.slices().flatten().copied().collect())
}

fn read(octets: &[u8]) -> Result<Bill, DecodeErrorKind> {
    let mut from = Decoder::from_slice(octets, ByteOrder::NATIVE, Format::default());
    Bill::decode(&mut from).map_err(|error| error.kind)
}

/// The octets of a bill: those of `to` take 8, `net` 5, `part` 16, each of the `lines` 3, then come the length and the sums.
#[test]
fn octets_that_are_no_decimals_are_refused() {
    let bill = Bill { more: vec![fixed("1")], ..bill() };
    let written = octets(&bill).expect("it is a bill");
    assert_eq!(read(&written).as_ref(), Ok(&bill));
    assert!(written.len() >= <Bill as Decode>::MIN_SIZE);
    for end in 0..written.len() {
        assert!(read(&written[..end]).is_err(), "{end} of {} octets", written.len());
    }
    // Any half octet that becomes a letter is no digit; as the sign it has to be C or D.
    for at in (8..13).chain(13..29).chain(29..41).chain(written.len() - 5..written.len()) {
        for half in [0xa0, 0x0a, 0xf0, 0x0f] {
            let mut forged = written.clone();
            forged[at] = if half > 0x0f { forged[at] & 0x0f | half } else { forged[at] & 0xf0 | half };
            assert!(
                matches!(read(&forged), Err(DecodeErrorKind::Invalid(_))),
                "octet {at} is {:x}",
                forged[at]
            );
        }
    }
    // So many sums cannot follow.
    let mut forged = written.clone();
    let count = written.len() - 9;
    forged[count..count + 4].copy_from_slice(&0x1000_0000_u32.to_ne_bytes());
    assert!(read(&forged).is_err());
    assert!(octets(&Bill { net: fixed("0.001"), ..bill }).is_err());
}
