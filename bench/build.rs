//! Generates the stubs and skeletons of what the round-trip scenario calls.

fn main() {
    zorb_build::compile("idl/echo.idl");
}
