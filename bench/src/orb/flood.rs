//! Floods: oneway operations with sequences of each type and with strings, as the field's benchmark has them.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use zorb::{Call as Context, Char, Sequence, SystemException};

use super::idl::bench::{BinStruct, BinStruct32, ttcp_sequence, ttcp_sequenceServant};
use super::{NAME, failed};
use crate::BenchError;
use crate::flood::{Element, Flood, Flooded};
use crate::pattern::{Checker, Texts, Windows, character};

/// Between two questions whether all has been executed, while the answer is no.
const ASK_EVERY: Duration = Duration::from_micros(100);

/// An element of a sequence, in its mapping to Rust.
trait Value: Clone + Default + PartialEq + 'static {
    const ELEMENT: Element;

    /// The one that is made of a number.
    fn of(number: u32) -> Self;

    /// Sends a buffer.
    fn send(to: &ttcp_sequence, buffer: &[Self]) -> Result<(), SystemException>;
}

macro_rules! value {
    ($type:ty, $element:ident, $send:ident, $of:expr) => {
        impl Value for $type {
            const ELEMENT: Element = Element::$element;

            fn of(number: u32) -> $type {
                let of: fn(u32) -> $type = $of;
                of(number)
            }

            fn send(to: &ttcp_sequence, buffer: &[$type]) -> Result<(), SystemException> {
                to.$send(buffer)
            }
        }
    };
}

value!(u8, Octet, sendOctetSeq, |number| number as u8);
value!(Char, Char, sendCharSeq, |number| Char(number as u8));
value!(i16, Short, sendShortSeq, |number| number as i16);
value!(i32, Long, sendLongSeq, |number| number as i32);
value!(f64, Double, sendDoubleSeq, f64::from);
value!(BinStruct, Struct, sendStructSeq, bin_struct);
value!(BinStruct32, Struct32, sendStruct32Seq, |number| BinStruct32 {
    s: number as i16,
    c: Char(number as u8),
    l: number as i32,
    o: number as u8,
    d: number.into(),
    filler: [number as u8; 8],
    ..Default::default()
});

/// The struct that is made of a number.
pub(super) fn bin_struct(number: u32) -> BinStruct {
    BinStruct {
        s: number as i16,
        c: Char(number as u8),
        l: number as i32,
        o: number as u8,
        d: number.into(),
        ..Default::default()
    }
}

/// The sending end, with the buffers of one kind of flood.
pub(super) struct Sender {
    to: ttcp_sequence,
    element: Element,
    elements: usize,
    buffers: Box<dyn Buffers>,
    /// How long the receiver may execute none of the buffers that it has not yet.
    patience: Duration,
}

/// Windows of any type, or strings.
trait Buffers {
    fn rewind(&mut self);
    fn send(&mut self, to: &ttcp_sequence, number: u32) -> Result<(), SystemException>;
}

impl<V: Value> Buffers for Windows<V> {
    fn rewind(&mut self) {
        self.buffer(0);
    }

    fn send(&mut self, to: &ttcp_sequence, number: u32) -> Result<(), SystemException> {
        V::send(to, self.buffer(number))
    }
}

impl Buffers for Texts {
    fn rewind(&mut self) {}

    fn send(&mut self, to: &ttcp_sequence, number: u32) -> Result<(), SystemException> {
        to.sendString(self.buffer(number))
    }
}

fn buffers<V: Value>(elements: usize) -> Box<dyn Buffers> {
    Box::new(Windows::<V>::new(elements, 1, |first, table| {
        for (value, number) in table.iter_mut().zip(0..) {
            *value = V::of(first.wrapping_add(number));
        }
    }))
}

impl Sender {
    pub(super) fn new(to: ttcp_sequence, flood: Flood, patience: Duration) -> Sender {
        let elements = flood.elements();
        let buffers = match flood.element {
            Element::Octet => buffers::<u8>(elements),
            Element::Char => buffers::<Char>(elements),
            Element::Short => buffers::<i16>(elements),
            Element::Long => buffers::<i32>(elements),
            Element::Double => buffers::<f64>(elements),
            Element::Struct => buffers::<BinStruct>(elements),
            Element::Struct32 => buffers::<BinStruct32>(elements),
            Element::String => Box::new(Texts::new(elements)),
        };
        Sender { to, element: flood.element, elements, buffers, patience }
    }

    /// Whether its buffers are those of this flood.
    pub(super) fn sends(&self, flood: Flood) -> bool {
        (self.element, self.elements) == (flood.element, flood.elements())
    }

    /// Sends a flood and waits until its last buffer was executed.
    pub(super) fn send(&mut self, flood: Flood) -> Result<Flooded, BenchError> {
        let Flood { element, octets, count } = flood;
        self.to.start(element.name(), octets as u64, count).map_err(failed)?;
        self.buffers.rewind();

        let start = Instant::now();
        for number in 0..count {
            self.buffers
                .send(&self.to, number)
                .map_err(|error| failed(format!("cannot send buffer {number} of {count}: {error}")))?;
        }
        let sent = start.elapsed();
        let (mut before, mut moved) = (0, Instant::now());
        loop {
            let (executed, fault) = self.to.executed().map_err(failed)?;
            let confirmed = start.elapsed();
            if !fault.is_empty() {
                return Err(BenchError::Corrupt { system: NAME, what: fault });
            }
            if executed == count {
                return Ok(Flooded { confirmed, sent: Some(sent) });
            }
            if executed != before {
                (before, moved) = (executed, Instant::now());
            } else if moved.elapsed() >= self.patience {
                let what = format!("{executed} of {count} buffers arrived");
                return Err(BenchError::Corrupt { system: NAME, what });
            }
            thread::sleep(ASK_EVERY);
        }
    }
}

/// The receiving end: checks and counts.
pub(super) struct Receiver {
    checker: Mutex<Checker>,
}

impl Receiver {
    pub(super) fn new() -> Receiver {
        let none = Flood { element: Element::Octet, octets: 1, count: 0 };
        Receiver { checker: Mutex::new(Checker::new(none)) }
    }

    fn checker(&self) -> MutexGuard<'_, Checker> {
        self.checker.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn take<V: Value>(&self, buffer: &[V]) -> Result<(), SystemException> {
        self.checker().take(V::ELEMENT, buffer.len(), |at, number| buffer[at] == V::of(number));
        Ok(())
    }
}

#[allow(non_snake_case, reason = "the operations' names in IDL")]
impl ttcp_sequenceServant for Receiver {
    fn start(&self, _cx: &Context, r#type: &str, octets: u64, count: u32) -> Result<(), SystemException> {
        let wrong = |what: String| SystemException::BadParam(what);
        let element = r#type.parse().map_err(wrong)?;
        let octets = usize::try_from(octets).map_err(|_| wrong(format!("{octets} octets are too many")))?;
        *self.checker() = Checker::new(Flood { element, octets, count });
        Ok(())
    }

    fn sendOctetSeq(&self, _cx: &Context, buffer: Sequence<u8>) -> Result<(), SystemException> {
        self.take(&buffer)
    }

    fn sendCharSeq(&self, _cx: &Context, buffer: Sequence<Char>) -> Result<(), SystemException> {
        self.take(&buffer)
    }

    fn sendShortSeq(&self, _cx: &Context, buffer: Sequence<i16>) -> Result<(), SystemException> {
        self.take(&buffer)
    }

    fn sendLongSeq(&self, _cx: &Context, buffer: Sequence<i32>) -> Result<(), SystemException> {
        self.take(&buffer)
    }

    fn sendDoubleSeq(&self, _cx: &Context, buffer: Sequence<f64>) -> Result<(), SystemException> {
        self.take(&buffer)
    }

    fn sendStructSeq(&self, _cx: &Context, buffer: Sequence<BinStruct>) -> Result<(), SystemException> {
        self.take(&buffer)
    }

    fn sendStruct32Seq(&self, _cx: &Context, buffer: Sequence<BinStruct32>) -> Result<(), SystemException> {
        self.take(&buffer)
    }

    fn sendString(&self, _cx: &Context, buffer: &str) -> Result<(), SystemException> {
        let octets = buffer.as_bytes();
        self.checker().take(Element::String, octets.len(), |at, number| octets[at] == character(number));
        Ok(())
    }

    fn executed(&self, _cx: &Context) -> Result<(u32, String), SystemException> {
        let checker = self.checker();
        Ok((checker.executed(), checker.fault().unwrap_or_default().to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::raw::HEAD;
    use std::sync::Arc;
    use zorb::poa::Poa;
    use zorb::{Interface, Orb};

    const LONG: Duration = Duration::from_secs(60);

    fn with_receiver(receiver: impl FnOnce(&Poa) -> ttcp_sequence, test: impl FnOnce(ttcp_sequence)) {
        let orb = Orb::builder().listen("tcp:127.0.0.1:0").build();
        let poa = orb.root_poa().unwrap();
        poa.manager().activate().unwrap();
        test(receiver(&poa));
        orb.shutdown(true, LONG);
    }

    fn honest(poa: &Poa) -> ttcp_sequence {
        poa.activate::<ttcp_sequence>(Arc::new(Receiver::new())).unwrap()
    }

    #[test]
    fn every_type_arrives_as_it_was_sent() {
        with_receiver(honest, |to| {
            for element in Element::ALL {
                let flood = Flood { element, octets: 1000, count: 600 };
                let mut sender = Sender::new(to.clone(), flood, LONG);
                // Twice, since the second flood begins where the first one's last window is.
                for _ in 0..2 {
                    sender.send(flood).unwrap();
                }
                assert_eq!(to.executed().unwrap(), (600, String::new()), "{element}");
            }
        });
    }

    #[test]
    fn a_bare_socket_with_our_options_moves_about_as_many_octets() {
        with_receiver(honest, |to| {
            let reference = to.as_object().ior().to_string();
            let (meter, address) = crate::orb::service::metered(&reference).unwrap();
            let orb = Orb::builder().build();
            let through: ttcp_sequence =
                Interface::from_object(orb.string_to_object(&address).unwrap().unwrap());
            for element in Element::SEQUENCES {
                let flood = Flood { element, octets: 1 << 16, count: 10 };
                let mut sender = Sender::new(through.clone(), flood, LONG);
                let mut octets = |count| {
                    let sizes = meter.sizes_of(|| {
                        (0..count)
                            .try_for_each(|number| sender.buffers.send(&through, number))
                            .map_err(failed)?;
                        through.executed().map(drop).map_err(failed)
                    });
                    sizes.unwrap().request
                };
                let head = (octets(11) - octets(1)) / 10 - flood.buffer();
                assert!(head.abs_diff(HEAD) <= 4, "{element}: {head}");
            }
        });
    }

    #[test]
    fn what_is_wrong_is_named() {
        with_receiver(honest, |to| {
            let flood = Flood { element: Element::Struct, octets: 240, count: 2 };
            let mut sender = Sender::new(to.clone(), flood, LONG);
            to.start("struct", 240, 2).unwrap();
            sender.buffers.send(&to, 1).unwrap();
            assert_eq!(to.executed().unwrap().1, "buffer 0 of 2 is wrong at element 0 of 10");
            to.start("long", 40, 2).unwrap();
            to.sendLongSeq(&[0; 9]).unwrap();
            assert_eq!(to.executed().unwrap().1, "buffer 0 of 2 has 9 elements instead of 10");
            assert!(to.start("float", 1, 1).unwrap_err().to_string().contains("there is no type \"float\""));
        });
    }

    #[test]
    fn strings_of_16_mib_and_of_one_character_arrive() {
        with_receiver(honest, |to| {
            for octets in [1, 16 << 20] {
                let flood = Flood { element: Element::String, octets, count: 3 };
                Sender::new(to.clone(), flood, LONG).send(flood).unwrap();
                assert_eq!(to.executed().unwrap(), (3, String::new()), "{octets}");
            }
        });
    }

    #[test]
    fn wrong_characters_and_lengths_of_strings_are_named() {
        with_receiver(honest, |to| {
            let texts = Texts::new(100);
            let first = texts.buffer(0);
            let fault = |text: &str| {
                to.start("string", 100, 1).unwrap();
                to.sendString(text).unwrap();
                to.executed().unwrap().1
            };
            assert_eq!(fault(first), "");
            assert_eq!(fault(&first.replacen('0', "1", 1)), "buffer 0 of 1 is wrong at element 0 of 100");
            assert_eq!(fault(texts.buffer(1)), "buffer 0 of 1 is wrong at element 0 of 100");
            assert_eq!(fault(&first[..99]), "buffer 0 of 1 has 99 elements instead of 100");
            assert_eq!(fault(&first[..0]), "buffer 0 of 1 has 0 elements instead of 100");
            assert_eq!(fault(&(first.to_owned() + "0")), "buffer 0 of 1 has 101 elements instead of 100");
            // As many octets, one character of two.
            assert_eq!(fault(&first.replacen("01", "é", 1)), "buffer 0 of 1 is wrong at element 0 of 100");
            to.start("octet", 100, 1).unwrap();
            to.sendString(first).unwrap();
            assert_eq!(to.executed().unwrap().1, "buffer 0 of 1 is of string, not of octet");
        });
    }

    #[test]
    fn a_buffer_that_never_arrives_is_missed() {
        with_receiver(honest, |to| {
            let flood = Flood { element: Element::Octet, octets: 10, count: 3 };
            let mut sender = Sender::new(to.clone(), flood, Duration::from_millis(20));
            let lossy = Lossy(buffers::<u8>(10));
            sender.buffers = Box::new(lossy);
            let error = sender.send(flood).unwrap_err();
            let corrupt = matches!(&error, BenchError::Corrupt { system: "zorb", .. });
            assert!(corrupt && error.to_string().ends_with("2 of 3 buffers arrived"), "{error}");
        });
    }

    /// Loses the third buffer.
    struct Lossy(Box<dyn Buffers>);

    impl Buffers for Lossy {
        fn rewind(&mut self) {
            self.0.rewind();
        }

        fn send(&mut self, to: &ttcp_sequence, number: u32) -> Result<(), SystemException> {
            if number == 2 { Ok(()) } else { self.0.send(to, number) }
        }
    }
}
