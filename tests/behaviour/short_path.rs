//! What a call that was made before does not do: it asks for no memory, on neither side.

use std::sync::Arc;

use allocation_counter::measure;
use zorb::messaging::{Giop, GiopLite, Messaging};
use zorb::{Call, Orb, OrbBuilder, Sequence, SystemException};
use zorb_tests::servant::Servant;
use zorb_tests::testing::{Gallery, GalleryServant, Probe};

use crate::driven::Pair;

/// Calls before which memory is still asked for: connections, buffers and what is kept of heads find their sizes.
const WARM_UP: usize = 200;
const CALLS: usize = 1000;

fn probes(pair: &Pair) -> [Probe; 2] {
    [(); 2].map(|()| pair.object(Arc::new(Servant::new(1))))
}

/// How often memory is asked for in so many calls.
fn allocations(mut call: impl FnMut(usize)) -> u64 {
    (0..WARM_UP).for_each(&mut call);
    measure(|| (0..CALLS).for_each(&mut call)).count_total
}

#[test]
fn calls_that_repeat_allocate_nothing() {
    let by_lite = || Orb::builder().messagings([Arc::new(GiopLite) as Arc<dyn Messaging>, Arc::new(Giop)]);
    for builder in [Orb::builder as fn() -> OrbBuilder, by_lite] {
        let pair = Pair::built_by(builder);
        let [probe, _] = probes(&pair);
        let made = allocations(|_| probe.nothing().expect("answered"));
        assert_eq!(made, 0, "a null call");
        let made = allocations(|number| {
            let divided = probe.divide(number as i32, 7).expect("7 is not 0");
            assert_eq!(divided, (number as i32 / 7, number as i32 % 7));
        });
        assert_eq!(made, 0, "a call with arguments and results");
    }
}

/// Looks at images, and keeps none.
struct Passage;

impl GalleryServant for Passage {
    fn hang(&self, _: &Call, _: &str, image: Sequence<f64>, _: &str) -> Result<(), SystemException> {
        assert!(image.is_view() && image.clone().iter().enumerate().all(|(at, value)| *value == at as f64));
        Ok(())
    }

    fn look(&self, _: &Call, _: &str) -> Result<Sequence<f64>, SystemException> {
        unreachable!("nobody asks")
    }

    fn paint(&self, _: &Call, _: u32) -> Result<Sequence<f64>, SystemException> {
        unreachable!("nobody asks")
    }

    fn take_down(&self, _: &Call, _: &str) -> Result<(), SystemException> {
        unreachable!("nobody asks")
    }
}

#[test]
fn a_large_argument_allocates_nothing_either() {
    let pair = Pair::new();
    let gallery: Gallery = pair.object(Arc::new(Passage));
    let image: Vec<f64> = (0..4_000).map(f64::from).collect();
    let made = allocations(|_| gallery.hang("", &image, "").expect("answered"));
    assert_eq!(made, 0, "it is sent from where it lies, and viewed where it was received");
}

#[test]
fn calls_that_take_turns_ask_for_memory_once_in_a_while() {
    let pair = Pair::new();
    let probes = probes(&pair);
    let null = |probe: &Probe| probe.nothing().expect("answered");
    let divide = |probe: &Probe| assert_eq!(probe.divide(9, 4), Ok((2, 1)));
    let made = allocations(|number| match number % 2 {
        0 => null(&probes[0]),
        _ => divide(&probes[1]),
    });
    assert_eq!(made, 0, "by turns");
    let made = allocations(|number| match number % 5 {
        0 | 1 => null(&probes[0]),
        2 => null(&probes[1]),
        _ => divide(&probes[0]),
    });
    // One head in 64 is remembered, in a few pieces of memory.
    assert!(made <= 8 * (CALLS as u64 / 64 + 1), "{made} times for {CALLS} calls, some of them in a row");
}
