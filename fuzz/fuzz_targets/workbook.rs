#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| litepress_load::fuzzing::workbook(data));
