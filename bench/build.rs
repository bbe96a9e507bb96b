//! Generates the stubs and skeletons of what the scenarios call.

fn main() {
    zorb_build::compile("idl/echo.idl");
    zorb_build::compile("idl/cube.idl");
}
