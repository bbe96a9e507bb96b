//! Runs the example as a reader would, and compares what it prints.

use std::process::Command;

#[test]
fn each_client_goes_by_the_best_that_it_knows() {
    let expected = "\
a client that knows both:
  masked by text: used
  masked: if the one before cannot be reached
  tcp: not allowed: only masked may be used, by the ORB's policy
  hello, world
a client that knows the transport:
  masked: used
  tcp: not allowed: only masked may be used, by the ORB's policy
  hello, world
a client that knows neither:
  tcp: used
  profile 0x4d41534b: not registered: no transport reads it
  hello, world
";
    let output = Command::new(env!("CARGO_BIN_EXE_outside")).output().expect("it was built");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(String::from_utf8_lossy(&output.stdout), expected);
}
