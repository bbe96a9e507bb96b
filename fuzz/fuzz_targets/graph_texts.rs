#![no_main]
libfuzzer_sys::fuzz_target!(|data: &[u8]| zorb_dynamic::fuzz::graph_texts(data));
