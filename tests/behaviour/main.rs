//! The whole ORB, server and client, over every transport, under every threading model.
//!
//! A test that takes a [`Place`](fixture::Place) runs over each; a new transport joins by a line in `over!`.

/// Makes tests, one for each transport, of functions that take a place.
macro_rules! over {
    (between processes: $($test:ident),+ $(,)?) => {
        over!(tcp, Tcp: $($test)+);
        over!(unix, Unix: $($test)+);
        over!(shm, Shm: $($test)+);
    };
    ($($test:ident),+ $(,)?) => {
        over!(between processes: $($test),+);
        over!(memory, Memory: $($test)+);
        over!(ahead, Ahead: $($test)+);
    };
    ($module:ident, $place:ident: $($test:ident)+) => {
        mod $module {
            $(
                #[test]
                fn $test() {
                    super::$test(crate::fixture::Place::$place);
                }
            )+
        }
    };
}

mod addressing;
mod ahead;
mod bridge_messages;
mod bridges;
mod calls;
mod connections;
mod contexts;
mod datagrams;
mod deadlines;
mod fixture;
mod forwarding;
mod four;
mod futures;
mod groups;
mod nesting;
mod order;
mod processes;
mod publishing;
mod servants;
mod shutdown;
mod spinning;
mod users;
