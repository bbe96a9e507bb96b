//! Skeletons that find an operation in other ways than the generated one: for comparison only.
//!
//! What is found is the same in all: the generated function of the operation, which calls the same servant.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use zorb::rt::{InterfaceInfo, Servant, ServerRequest, Skeleton};
use zorb::{Call, Interface, IntoServant, SystemException};

use crate::demux::Lookup;

zorb::include_idl!("operations");
include!(concat!(env!("OUT_DIR"), "/operations_servants.rs"));

/// What a skeleton calls for an operation.
type Method = fn(&Counting, ServerRequest);

/// Counts its calls.
#[derive(Clone, Default)]
pub(super) struct Counting(Arc<AtomicU64>);

impl Counting {
    fn count(&self) -> Result<(), SystemException> {
        self.0.fetch_add(1, Ordering::Relaxed);
        Ok(())
    }

    pub(super) fn counted(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// A servant of an interface of so many operations, which are found by `lookup`, and its type; `None` where there is no
/// such interface.
pub(super) fn servant(
    counting: &Counting,
    lookup: Lookup,
    operations: u32,
) -> Option<(Servant, &'static str)> {
    match operations {
        1 => Some(of::<Operations1>(counting, lookup, &METHODS_1)),
        10 => Some(of::<Operations10>(counting, lookup, &METHODS_10)),
        100 => Some(of::<Operations100>(counting, lookup, &METHODS_100)),
        1000 => Some(of::<Operations1000>(counting, lookup, &METHODS_1000)),
        _ => None,
    }
}

fn of<I: Interface>(
    counting: &Counting,
    lookup: Lookup,
    methods: &'static [Method],
) -> (Servant, &'static str)
where
    Arc<Counting>: IntoServant<I>,
{
    let names = (0..).take(methods.len()).map(|number| lookup.operation(number));
    let (counting, interface) = (counting.clone(), I::INFO);
    let servant: Servant = match lookup {
        Lookup::Perfect => Arc::new(counting).into_servant(),
        Lookup::Linear => {
            let names: Vec<String> = names.collect();
            let find = move |name: &[u8]| names.iter().position(|known| known.as_bytes() == name);
            Arc::new(Finding { find, methods, counting, interface })
        }
        Lookup::Hashed => {
            let numbers: HashMap<Vec<u8>, usize> =
                names.enumerate().map(|(number, name)| (name.into_bytes(), number)).collect();
            let find = move |name: &[u8]| numbers.get(name).copied();
            Arc::new(Finding { find, methods, counting, interface })
        }
        Lookup::Numbered => {
            let find = |name: &[u8]| std::str::from_utf8(name).ok()?.parse().ok();
            Arc::new(Finding { find, methods, counting, interface })
        }
    };
    (servant, interface.id)
}

/// A skeleton that finds the operation's number by `find`.
struct Finding<F> {
    find: F,
    methods: &'static [Method],
    counting: Counting,
    interface: &'static InterfaceInfo,
}

impl<F: Fn(&[u8]) -> Option<usize> + 'static> Skeleton for Finding<F> {
    fn interface(&self) -> &'static InterfaceInfo {
        self.interface
    }

    fn dispatch(&self, request: ServerRequest) {
        match (self.find)(request.operation_bytes()).and_then(|number| self.methods.get(number)) {
            Some(method) => method(&self.counting, request),
            None => request.unknown_operation(),
        }
    }
}
