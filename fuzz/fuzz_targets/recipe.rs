//! Any recipe is a plan or an error.
#![no_main]

use litepress_gen::{GenPlan, Recipe, Request};

libfuzzer_sys::fuzz_target!(|text: &str| {
    let plan = Recipe::parse(text, "fuzzed").and_then(|recipe| {
        let schema = recipe.schema()?;
        GenPlan::new(&schema, &Request { recipe: Some(recipe), ..Request::default() })
    });
    if let Err(error) = plan {
        assert!(!error.message().is_empty());
    }
});
