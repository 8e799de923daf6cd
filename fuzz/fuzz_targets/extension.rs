#![no_main]

libfuzzer_sys::fuzz_target!(|text: &str| litepress_extension::fuzzing::argument(text));
