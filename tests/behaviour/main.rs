//! The whole ORB, server and client, over every transport, under every threading model.
//!
//! A test that takes a [`Place`](fixture::Place) runs over each, and with each messaging protocol; a new transport or protocol
//! joins by a line in `over!`.

/// Makes tests, one for each transport and messaging protocol, of functions that take a place.
macro_rules! over {
    (by giop between processes: $($test:ident),+ $(,)?) => {
        over!(tcp, Tcp, Giop: $($test)+);
        over!(unix, Unix, Giop: $($test)+);
        over!(shm, Shm, Giop: $($test)+);
        over!(slabs, Slabs, Giop: $($test)+);
    };
    (between processes: $($test:ident),+ $(,)?) => {
        over!(by giop between processes: $($test),+);
        over!(lite_tcp, Tcp, Lite: $($test)+);
        over!(lite_unix, Unix, Lite: $($test)+);
        over!(lite_shm, Shm, Lite: $($test)+);
    };
    ($($test:ident),+ $(,)?) => {
        over!(between processes: $($test),+);
        over!(memory, Memory, Giop: $($test)+);
        over!(ahead, Ahead, Giop: $($test)+);
        over!(lite_memory, Memory, Lite: $($test)+);
        over!(lite_ahead, Ahead, Lite: $($test)+);
    };
    ($module:ident, $road:ident, $speech:ident: $($test:ident)+) => {
        mod $module {
            $(
                #[test]
                fn $test() {
                    use crate::fixture::{Place, Road, Speech};
                    super::$test(Place::new(Road::$road, Speech::$speech));
                }
            )+
        }
    };
}

mod addressing;
mod ahead;
mod asynchronous;
mod both_ways;
mod bridge_messages;
mod bridge_references;
mod bridges;
mod buffering;
mod calls;
mod completions;
mod connections;
mod context_clauses;
mod contexts;
mod datagrams;
mod deadlines;
mod deferred;
mod deposit_peers;
mod deposits;
mod driven;
mod dynamic;
mod fixture;
mod foreign;
mod forwarding;
mod four;
mod fragments;
mod frames;
mod frames_to_groups;
mod futures;
mod groups;
mod in_place;
mod interceptors;
mod invocation;
mod joint;
mod kept_memory;
mod loans;
mod message_memory;
mod messaging;
mod nesting;
mod order;
mod processes;
mod properties;
mod publishing;
mod repeated;
mod rest;
mod servants;
mod served_images;
mod short_path;
mod shutdown;
mod spinning;
mod tap;
mod trains;
mod users;
