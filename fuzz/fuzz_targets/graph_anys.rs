#![no_main]
libfuzzer_sys::fuzz_target!(|data: &[u8]| zorb_cdr::fuzz::graph_anys(data));
