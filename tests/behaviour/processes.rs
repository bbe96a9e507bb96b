//! Callbacks between two processes.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;

use zorb_tests::servant::Servant;

use crate::fixture::{Place, models, probe, serve};

/// The probe's server in another process; ended when dropped.
struct Other {
    child: Child,
    ior: String,
}

impl Other {
    fn start(at: Place, threads: &[&str]) -> Other {
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

over! {
    between processes:
    callbacks_nested_eight_deep_come_back_from_another_process_under_every_pair_of_models,
}
