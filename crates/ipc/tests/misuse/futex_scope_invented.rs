// There are two scopes, and no others.

use zorb_ipc::Futex;

enum Machine {}

fn wrong(_: Futex<'_, Machine>) {}

fn main() {}
