//! Any nearly valid database has a profile, or an error.
#![no_main]

use litepress_check::fuzzing::{Choices, SEEDS, mutate};
use litepress_profile::{ProfileOptions, profile};

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    let mut choices = Choices::new(data);
    let mut bytes = SEEDS[choices.below(SEEDS.len())].clone();
    for _ in 0..=choices.below(4) {
        mutate(&mut bytes, &mut choices);
    }
    let path = std::env::temp_dir().join(format!("litepress-fuzz-{}.db", std::process::id()));
    std::fs::write(&path, &bytes).expect("room for a temporary file");
    if let Ok(profile) = profile(&path, &ProfileOptions::default(), &|| Ok(())) {
        drop(profile.to_toml());
    }
    std::fs::remove_file(&path).expect("the file is there");
});
