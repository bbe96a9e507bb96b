//! Shutdown lets running requests finish, and nothing of an ORB outlives it.

use std::sync::Arc;
use std::time::{Duration, Instant};

use zorb::Kind;
use zorb::server::ThreadModel;
use zorb_tests::servant::{PATIENCE, Servant};

use crate::fixture::{Place, models, probe, serve};

fn running_requests_are_answered(at: Place) {
    for model in [ThreadModel::per_connection(), ThreadModel::pool(4)] {
        let servant = Arc::new(Servant::new(1));
        let (server, text) = serve(at.server().server_threads(model), servant.clone());
        let client = at.client().build();
        let probe = probe(&client, &text);
        std::thread::scope(|scope| {
            let slow = scope.spawn(|| probe.wait(300));
            let later = probe.wait_async(300);
            let began = Instant::now();
            while servant.waiting() < 2 && began.elapsed() < PATIENCE {
                std::thread::yield_now();
            }
            server.shutdown(true, PATIENCE);
            for result in [slow.join().unwrap(), later.wait()] {
                result.unwrap_or_else(|exception| panic!("{model:?}: {exception}"));
            }
        });
        assert_eq!(server.connections(), 0, "{model:?}");
        let gone = probe.nothing().unwrap_err();
        assert_eq!(gone.kind, Kind::Transient, "{model:?}: {gone}");
    }
}

fn shutdown_without_waiting_returns_from_within_an_upcall(at: Place) {
    struct Suicidal;
    impl zorb_tests::testing::ProbeServant for Suicidal {
        fn nothing(&self, call: &zorb::Call) -> Result<(), zorb::SystemException> {
            call.orb().shutdown(true, PATIENCE);
            Ok(())
        }
        zorb_tests::unserved!();
    }
    for model in models() {
        let orb = at.server().server_threads(model).build();
        let poa = orb.root_poa().unwrap();
        let reference = poa.activate::<zorb_tests::testing::Probe>(Arc::new(Suicidal)).unwrap();
        poa.manager().activate().unwrap();
        let client = at.client().build();
        let text = zorb::Interface::as_object(&reference).to_string();
        std::thread::scope(|scope| {
            let runner = scope.spawn(|| orb.run());
            probe(&client, &text).nothing().unwrap_or_else(|exception| panic!("{model:?}: {exception}"));
            runner.join().unwrap();
        });
    }
}

fn orbs_come_and_go_without_leaving_threads_or_descriptors(at: Place) {
    let count = |what: &str| std::fs::read_dir(format!("/proc/self/{what}")).unwrap().count();
    let once = || {
        let (server, text) = serve(at.server(), Arc::new(Servant::new(1)));
        let client = at.client().build();
        let probe = probe(&client, &text);
        probe.nothing().unwrap();
        probe.nothing_async().wait().unwrap();
        server.shutdown(true, PATIENCE);
        client.shutdown(true, PATIENCE);
    };
    // In a process of its own, since other tests come and go here.
    if std::env::var_os("ZORB_TEST_ALONE").is_none() {
        // The harness names a test's thread after it.
        let thread = std::thread::current();
        let output = std::process::Command::new(std::env::current_exe().unwrap())
            .args([thread.name().expect("it has one"), "--exact", "--test-threads", "1"])
            .env("ZORB_TEST_ALONE", "1")
            .stderr(std::process::Stdio::inherit())
            .output()
            .unwrap();
        let printed = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success() && printed.contains(" 1 passed;"), "{printed}");
        return;
    }
    once();
    let before = (count("task"), count("fd"));
    for _ in 0..20 {
        once();
    }
    let began = Instant::now();
    // The first may have had a thread that was still about to end.
    let is_left = || count("task") > before.0 || count("fd") > before.1;
    while is_left() && began.elapsed() < PATIENCE {
        std::thread::sleep(Duration::from_millis(10));
    }
    assert!(!is_left(), "{before:?} threads and descriptors, then {:?}", (count("task"), count("fd")));
}

over! {
    running_requests_are_answered,
    shutdown_without_waiting_returns_from_within_an_upcall,
    orbs_come_and_go_without_leaving_threads_or_descriptors,
}
