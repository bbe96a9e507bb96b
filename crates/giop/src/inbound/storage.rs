//! What the memory of large messages comes from, where connections share it: [`Storage`].

use alloc::sync::Arc;
use alloc::vec::Vec;

use zorb_cdr::{Home, Memory, Octets};

/// Gives memory to large messages of many connections, so that all together hold no more than they may, or use again what was made
/// before. Those that the ordinary receive buffer holds ([`Limits::receive_buffer`](crate::Limits::receive_buffer)) have no part in it.
pub trait Storage: Send + Sync {
    /// Memory of at least so many octets, whatever they are, that counts until its last handle is gone; `None`: others hold too much.
    fn take(&self, octets: usize) -> Option<Memory>;
    /// The same for what has come of a message whose sender has fallen silent: no more than that, and nothing that others wait for.
    fn take_apart(&self, octets: usize) -> Option<Memory> {
        self.take(octets)
    }
    /// Counts so many octets of fragments, to be [released](Self::release) again. False: others hold too much.
    fn claim(&self, octets: usize) -> bool;
    /// The opposite.
    fn release(&self, octets: usize);
    /// How much all may hold together, for people.
    fn most(&self) -> usize;
}

/// Octets of fragments, counted where there is a storage.
#[derive(Default)]
pub(super) struct Charged {
    octets: usize,
    storage: Option<Arc<dyn Storage>>,
}

impl Charged {
    /// From now on they count there as well.
    pub(super) fn count_in(&mut self, storage: Option<&Arc<dyn Storage>>) {
        if let (None, 0, Some(storage)) = (&self.storage, self.octets, storage) {
            self.storage = Some(storage.clone());
        }
    }

    /// Counts more, and says how many there are.
    ///
    /// # Errors
    /// What all connections may hold together, which they do already.
    pub(super) fn add(&mut self, octets: usize) -> Result<usize, usize> {
        if let Some(storage) = &self.storage
            && !storage.claim(octets)
        {
            return Err(storage.most());
        }
        self.octets = self.octets.saturating_add(octets);
        Ok(self.octets)
    }

    pub(super) fn subtract(&mut self, octets: usize) {
        self.octets = self.octets.saturating_sub(octets);
        if let Some(storage) = &self.storage {
            storage.release(octets);
        }
    }

    /// Hands out `octets` of a message that is whole, which was charged `charge`. The connection no longer counts that; the storage does until
    /// nobody has them any more.
    pub(super) fn hand_out(&mut self, octets: Vec<u8>, charge: usize) -> Octets {
        self.octets = self.octets.saturating_sub(charge);
        let length = octets.len();
        let memory = match &self.storage {
            Some(storage) => {
                Memory::of_home(octets, Arc::new(Charge { octets: charge, storage: storage.clone() }))
            }
            None => octets.into(),
        };
        memory.octets(0, length)
    }
}

/// What is charged until it is dropped.
struct Charge {
    octets: usize,
    storage: Arc<dyn Storage>,
}

impl Home for Charge {
    /// They are freed.
    fn give_back(&self, _: Vec<u8>) {}
}

impl Drop for Charge {
    fn drop(&mut self) {
        self.storage.release(self.octets);
    }
}

impl Drop for Charged {
    fn drop(&mut self) {
        let all = self.octets;
        self.subtract(all);
    }
}

#[cfg(test)]
mod tests {
    use alloc::vec;
    use core::sync::atomic::{AtomicUsize, Ordering};

    use zorb_cdr::{Encoder, Format, Version};

    use super::*;
    use crate::{
        Addressing, Inbound, Limits, ProtocolError, RequestHead, ResponseFlags, ServiceContexts,
        begin_request, finish,
    };

    /// So many octets for all.
    struct Bound {
        most: usize,
        held: Arc<Held>,
    }

    #[derive(Default)]
    struct Held(AtomicUsize);

    impl Home for Held {
        fn give_back(&self, octets: Vec<u8>) {
            self.0.fetch_sub(octets.len(), Ordering::Relaxed);
        }
    }

    impl Storage for Bound {
        fn take(&self, octets: usize) -> Option<Memory> {
            self.claim(octets).then(|| Memory::of_home(vec![0xee; octets], self.held.clone()))
        }
        fn claim(&self, octets: usize) -> bool {
            let fits = self.held.0.load(Ordering::Relaxed) + octets <= self.most;
            if fits {
                self.held.0.fetch_add(octets, Ordering::Relaxed);
            }
            fits
        }
        fn release(&self, octets: usize) {
            self.held.0.fetch_sub(octets, Ordering::Relaxed);
        }
        fn most(&self) -> usize {
            self.most
        }
    }

    fn bound(most: usize) -> Arc<Bound> {
        Arc::new(Bound { most, held: Arc::default() })
    }

    impl Bound {
        fn held(&self) -> usize {
            self.held.0.load(Ordering::Relaxed)
        }
    }

    fn inbound(storage: &Arc<Bound>) -> Inbound {
        Inbound::new(Limits::default()).with_storage(storage.clone())
    }

    fn request(id: u32, body: &[u8]) -> Vec<u8> {
        let mut to = Encoder::new(Format::new(Version::V1_2));
        let head = RequestHead {
            id,
            response: ResponseFlags::WITH_TARGET,
            target: Addressing::ObjectKey(b"key"),
            operation: "store",
            by_number: None,
            contexts: &ServiceContexts::new(),
        };
        begin_request(&mut to, &head).unwrap();
        to.write_octets(body);
        finish(&mut to).unwrap();
        to.into_buffer()
    }

    /// Gives all of it; stops at the first error.
    fn give(
        inbound: &mut Inbound,
        mut octets: &[u8],
        mut got: impl FnMut(crate::Message),
    ) -> Result<(), ProtocolError> {
        while !octets.is_empty() {
            let space = inbound.space();
            let count = space.len().min(octets.len());
            space[..count].copy_from_slice(&octets[..count]);
            inbound.received(count);
            octets = &octets[count..];
            while let Some(message) = inbound.next()? {
                got(message);
            }
        }
        Ok(())
    }

    #[test]
    fn a_large_message_holds_memory_until_nobody_has_it_and_small_ones_hold_none() {
        let storage = bound(4 << 20);
        let mut inbound = inbound(&storage);
        give(&mut inbound, &request(1, &[1; 1000]), drop).unwrap();
        assert_eq!(storage.held(), 0);
        let mut kept = Vec::new();
        let large = request(2, &vec![7; 1 << 20]);
        give(&mut inbound, &large, |message| kept.push(message)).unwrap();
        assert!((large.len()..2 << 20).contains(&storage.held()), "{}", storage.held());
        let crate::Message::Request(message) = &kept[0] else { panic!("{kept:?}") };
        assert_eq!(message.id, 2);
        kept.clear();
        assert_eq!(storage.held(), 0, "the connection keeps nothing of it");
        // Also where the next message had begun behind it.
        let two = [&large[..], &request(3, &[3; 1000])[..500]].concat();
        give(&mut inbound, &two, |message| kept.push(message)).unwrap();
        kept.clear();
        give(&mut inbound, &request(3, &[3; 1000])[500..], |message| kept.push(message)).unwrap();
        kept.clear();
        let _ = inbound.space();
        assert_eq!(storage.held(), 0);
        give(&mut inbound, &large, |message| kept.push(message)).unwrap();
        drop(inbound);
        assert!(storage.held() >= large.len(), "somebody reads it still");
    }

    #[test]
    fn what_is_more_than_all_may_hold_is_refused_by_name_and_nothing_in_it_is_taken_for_a_message() {
        let storage = bound(600 << 10);
        let mut first = inbound(&storage);
        let mut kept = Vec::new();
        give(&mut first, &request(1, &vec![7; 200 << 10]), |message| kept.push(message)).unwrap();
        let before = storage.held();
        // Of requests: whoever lost count would serve one.
        let inner: Vec<u8> = request(3, b"x").repeat(20_000);
        let mut second = inbound(&storage);
        let refused = give(&mut second, &request(2, &inner), |message| panic!("{message:?}")).unwrap_err();
        let ProtocolError::LimitExceeded { limit: "message_memory", allowed, .. } = refused else {
            panic!("{refused}")
        };
        assert_eq!(allowed, 600 << 10);
        assert_eq!(give(&mut second, &inner, |message| panic!("{message:?}")), Err(refused));
        assert_eq!(storage.held(), before, "it keeps nothing");
        // Others go on, and it is had again when they have ended.
        give(&mut first, &request(4, b"small"), drop).unwrap();
        kept.clear();
        drop(first);
        assert_eq!(storage.held(), 0);
        give(&mut inbound(&storage), &request(5, &vec![7; 200 << 10]), drop).unwrap();
    }

    #[test]
    fn fragments_count_until_nobody_has_the_whole_or_they_are_given_up() {
        let storage = bound(100 << 10);
        let fragmented = |id: u32| {
            let mut first = request(id, &[7; 10 << 10]);
            first[6] |= 2;
            first
        };
        let mut one = inbound(&storage);
        give(&mut one, &fragmented(1), drop).unwrap();
        let charged = storage.held();
        assert!(charged > 10 << 10, "{charged}");
        let mut last = b"GIOP\x01\x02\x01\x07\x04\0\0\0\x01\0\0\0".to_vec();
        last[6] = 1;
        let mut got = Vec::new();
        give(&mut one, &last, |message| got.push(message)).unwrap();
        assert!(storage.held() >= charged, "{}", storage.held());
        // A part is enough, as of a value that is read in place.
        let crate::Message::Request(message) = got.pop().expect("the last was given") else {
            panic!("a request")
        };
        let key = message.operation.clone();
        drop(message);
        assert!(storage.held() >= charged);
        drop(key);
        assert_eq!(storage.held(), 0);
        let mut many: Vec<Inbound> = Vec::new();
        let refused = loop {
            let mut next = inbound(&storage);
            match give(&mut next, &fragmented(1), drop) {
                Ok(()) => many.push(next),
                Err(refused) => break refused,
            }
            assert!(many.len() < 11, "too many are held");
        };
        assert!(matches!(refused, ProtocolError::LimitExceeded { limit: "message_memory", .. }), "{refused}");
        drop(many);
        assert_eq!(storage.held(), 0, "connections that end give back what they hold");
    }
}
