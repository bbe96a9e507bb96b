//! Between two processes: callbacks, and the death of one.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use zorb::{Completion, Kind};
use zorb_tests::servant::{PATIENCE, Servant};

use crate::fixture::{Place, models, probe, serve};

/// The probe's server in another process; ended when dropped.
pub(crate) struct Other {
    pub(crate) child: Child,
    pub(crate) ior: String,
}

impl Other {
    pub(crate) fn start(at: Place, threads: &[&str]) -> Other {
        let mut child = Command::new(env!("CARGO_BIN_EXE_probe-server"))
            .args(threads)
            .arg(format!("listen={}", at.endpoint()))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut ior = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut ior).unwrap();
        Other { child, ior: ior.trim().to_owned() }
    }
}

impl Drop for Other {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn callbacks_nested_eight_deep_come_back_from_another_process_under_every_pair_of_models(at: Place) {
    for far in [&[][..], &["pool=16"], &["reactor=1"]] {
        let there = Other::start(at, far);
        for near in models() {
            for private in [64, 0] {
                let builder = at.server().server_threads(near).private_connections(private);
                let (here, my_text) = serve(builder, Arc::new(Servant::new(1)));
                let (me, them) = (probe(&here, &my_text), probe(&here, &there.ior));
                let depth = them.descend(8, Some(&me));
                assert_eq!(depth, Ok(8), "{near:?} and {far:?}, {private} private connections");
            }
        }
    }
}

fn a_server_that_is_killed_leaves_exceptions_and_nobody_waiting(at: Place) {
    let mut there = Other::start(at, &[]);
    let client = at.client().build();
    let target = probe(&client, &there.ior);
    target.nothing().unwrap();
    let caller = std::thread::spawn({
        let target = target.clone();
        move || target.wait(60_000)
    });
    let late = target.wait_async(60_000);
    let other = at.client().build();
    let other = probe(&other, &there.ior);
    let began = Instant::now();
    while other.waiting().unwrap() < 2 {
        assert!(began.elapsed() < PATIENCE, "it executes both calls");
        std::thread::sleep(Duration::from_millis(5));
    }
    there.child.kill().unwrap();
    there.child.wait().unwrap();
    for lost in [caller.join().unwrap(), late.wait()] {
        let lost = lost.unwrap_err();
        assert_eq!((lost.kind, lost.completed), (Kind::CommFailure, Completion::Maybe), "{lost}");
        assert!(lost.detail().contains(at.prefix()), "{lost}");
    }
    // Connections that are used again at once are not looked at first; these have rested for longer.
    std::thread::sleep(Duration::from_millis(20));
    for gone in [target.nothing(), target.nothing_async().wait()] {
        let gone = gone.unwrap_err();
        assert_eq!((gone.kind, gone.completed), (Kind::Transient, Completion::No), "{gone}");
    }
}

over! {
    between processes:
    a_server_that_is_killed_leaves_exceptions_and_nobody_waiting,
    callbacks_nested_eight_deep_come_back_from_another_process_under_every_pair_of_models,
}
