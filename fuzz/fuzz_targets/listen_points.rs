#![no_main]
libfuzzer_sys::fuzz_target!(|data: &[u8]| zorb_giop::fuzz::listen_points(data));
