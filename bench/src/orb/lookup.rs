//! Skeletons that find an operation in other ways than the generated one: for comparison only.
//!
//! What is found is the same in all: what the generated skeleton does for the operation.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use zorb::rt::{InterfaceInfo, Servant, Served, ServedBy, ServerRequest, Skeleton};
use zorb::{Call, IntoServant, SystemException};

use crate::demux::Lookup;

zorb::include_idl!("operations");
include!(concat!(env!("OUT_DIR"), "/operations_servants.rs"));

/// What a skeleton of interface `I` calls for an operation.
type Method<I> = fn(&<I as Served>::Servant, ServerRequest);

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

fn of<I: ServedBy<Counting>>(
    counting: &Counting,
    lookup: Lookup,
    methods: &'static [Method<I>],
) -> (Servant, &'static str) {
    let names = (0..).take(methods.len()).map(|number| lookup.operation(number));
    let counting = counting.clone();
    let servant: Servant = match lookup {
        Lookup::Perfect => IntoServant::<I>::into_servant(Arc::new(counting)),
        Lookup::Linear => {
            let names: Vec<String> = names.collect();
            let find = move |name: &[u8]| names.iter().position(|known| known.as_bytes() == name);
            Arc::new(Finding::<I, _> { find, methods, counting })
        }
        Lookup::Hashed => {
            let numbers: HashMap<Vec<u8>, usize> =
                names.enumerate().map(|(number, name)| (name.into_bytes(), number)).collect();
            let find = move |name: &[u8]| numbers.get(name).copied();
            Arc::new(Finding::<I, _> { find, methods, counting })
        }
        Lookup::Numbered => {
            let find = |name: &[u8]| std::str::from_utf8(name).ok()?.parse().ok();
            Arc::new(Finding::<I, _> { find, methods, counting })
        }
    };
    (servant, I::INFO.id)
}

/// A skeleton of interface `I` that finds the operation's number by `find`.
struct Finding<I: Served, F> {
    find: F,
    methods: &'static [Method<I>],
    counting: Counting,
}

impl<I: ServedBy<Counting>, F: Fn(&[u8]) -> Option<usize> + 'static> Skeleton for Finding<I, F> {
    fn interface(&self) -> &'static InterfaceInfo {
        I::INFO
    }

    fn dispatch(&self, request: ServerRequest) {
        match (self.find)(request.operation_bytes()).and_then(|number| self.methods.get(number)) {
            Some(method) => method(I::lend(&self.counting), request),
            None => request.unknown_operation(),
        }
    }
}
