//! Who may be at the other end of a Unix socket or of shared memory.

use std::fs::{self, Permissions};
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};
use std::sync::Arc;

use zorb::transport::Transport;
use zorb::transport::shm::Shm;
use zorb::transport::unix::{Unix, Users};
use zorb::{Completion, Kind, Orb};
use zorb_tests::copy_program;

use crate::fixture::probe;

/// `nobody`, by the number that all systems give it.
const NOBODY: u32 = 65_534;

/// A socket that somebody else put where it was to be expected is not talked to.
#[test]
fn a_server_of_another_user_is_called_only_by_who_talks_to_that_user() {
    if zorb_ipc::Credentials::own().user != 0 {
        // Past the harness, which shows what is printed of failures only.
        let left_out = b"servers of another user left out: only the superuser starts one\n";
        std::io::stderr().write_all(left_out).unwrap();
        return;
    }
    let directory = std::env::temp_dir().join(format!("zorb-users-{}", std::process::id()));
    fs::create_dir_all(&directory).unwrap();
    fs::set_permissions(&directory, Permissions::from_mode(0o777)).unwrap();
    // Where it was built others may not be let in.
    let program = directory.join("server");
    copy_program(env!("CARGO_BIN_EXE_probe-server"), &program);
    for name in ["unix", "shm"] {
        let mut server = Command::new(&program)
            .arg(format!("listen={name}:{}", directory.join(name).display()))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .uid(NOBODY)
            .spawn()
            .unwrap();
        let mut ior = String::new();
        BufReader::new(server.stdout.take().unwrap()).read_line(&mut ior).unwrap();
        let client = |users: Users| {
            let transport: Arc<dyn Transport> = match name {
                "unix" => Arc::new(Unix::new().users(users)),
                _ => Arc::new(Shm::new().users(users)),
            };
            Orb::builder().transport(transport).build()
        };
        let refused = probe(&client(Users::Own), ior.trim()).nothing().unwrap_err();
        assert_eq!((refused.kind, refused.completed), (Kind::Transient, Completion::No), "{refused}");
        assert!(refused.detail().contains("runs as user 65534"), "{refused}");
        for users in [Users::These(vec![NOBODY]), Users::Any] {
            probe(&client(users), ior.trim()).nothing().unwrap();
        }
        server.kill().unwrap();
        server.wait().unwrap();
    }
    fs::remove_dir_all(&directory).unwrap();
}
