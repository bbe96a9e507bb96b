//! The whole ORB, server and client, over TCP on the loopback interface, under every threading model.

mod addressing;
mod calls;
mod connections;
mod contexts;
mod deadlines;
mod fixture;
mod forwarding;
mod futures;
mod nesting;
mod order;
mod processes;
mod publishing;
mod servants;
mod shutdown;
