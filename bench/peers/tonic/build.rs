//! Makes client and server from a description in Rust, so that no protobuf compiler is needed.

use tonic_build::manual::{Builder, Method, Service};

fn method(name: &str, route: &str, input: &str, output: &str) -> tonic_build::manual::MethodBuilder {
    Method::builder()
        .name(name)
        .route_name(route)
        .input_type(format!("crate::messages::{input}"))
        .output_type(format!("crate::messages::{output}"))
        .codec_path("tonic_prost::ProstCodec")
}

fn main() {
    let mut service = Service::builder().name("Bench").package("zorb.peers");
    for (name, route, message) in [
        ("ping", "Ping", "Nothing"),
        ("echo", "Echo", "Octets"),
        ("cube_short", "CubeShort", "Short"),
        ("cube_long", "CubeLong", "Long"),
        ("cube_octet", "CubeOctet", "Octet"),
        ("cube_struct", "CubeStruct", "Mixed"),
        ("cube_octets", "CubeOctets", "Octets"),
        ("cube_longs", "CubeLongs", "Longs"),
    ] {
        service = service.method(method(name, route, message, message).build());
    }
    service = service.method(method("expect", "Expect", "Expectation", "Nothing").build());
    for (name, route, message) in [
        ("send_octets", "SendOctets", "Octets"),
        ("send_chars", "SendChars", "Octets"),
        ("send_shorts", "SendShorts", "Shorts"),
        ("send_longs", "SendLongs", "Longs"),
        ("send_doubles", "SendDoubles", "Doubles"),
        ("send_structs", "SendStructs", "Structs"),
        ("send_structs32", "SendStructs32", "Structs32"),
        ("send_string", "SendString", "Text"),
    ] {
        service = service.method(method(name, route, message, "Progress").client_streaming().build());
    }
    Builder::new().compile(&[service.build()]);
}
