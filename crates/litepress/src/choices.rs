//! Options with a few named values: the names that all faces of litepress use.

use crate::{
    Conflict, FileFormat, FtsContent, InvalidUtf8, NanPolicy, Numbers, OnError, Ragged, RepeatedHeader, StrayQuotes,
    Sync, Verify,
};

/// A type whose values have names.
pub trait Choice: Copy + PartialEq + 'static {
    /// The names and the values.
    const CHOICES: &'static [(&'static str, Self)];

    /// Finds the value of a name.
    ///
    /// # Errors
    /// A sentence that lists all names.
    fn from_name(name: &str) -> Result<Self, String> {
        let found = Self::CHOICES.iter().find(|(choice, _)| *choice == name);
        found.map(|(_, value)| *value).ok_or_else(|| {
            let choices: Vec<String> = Self::CHOICES.iter().map(|(choice, _)| format!("'{choice}'")).collect();
            format!("'{name}' is not one of {}", choices.join(", "))
        })
    }

    /// Returns the name.
    fn name(self) -> &'static str {
        let found = Self::CHOICES.iter().find(|(_, value)| *value == self);
        found.expect("every value has a name").0
    }
}

impl Choice for Conflict {
    const CHOICES: &'static [(&'static str, Self)] =
        &[("abort", Self::Abort), ("ignore", Self::Ignore), ("replace", Self::Replace), ("update", Self::Update)];
}

impl Choice for Sync {
    const CHOICES: &'static [(&'static str, Self)] = &[("full", Self::Full), ("off", Self::Off)];
}

impl Choice for Verify {
    const CHOICES: &'static [(&'static str, Self)] =
        &[("none", Self::None), ("quick", Self::Quick), ("full", Self::Full)];
}

impl Choice for FileFormat {
    const CHOICES: &'static [(&'static str, Self)] = &[
        ("csv", Self::Csv),
        ("tsv", Self::Tsv),
        ("ndjson", Self::Ndjson),
        ("json", Self::Json),
        ("parquet", Self::Parquet),
        ("arrow", Self::Arrow),
        ("flatgeobuf", Self::FlatGeobuf),
        ("sqlite", Self::Sqlite),
    ];
}

impl Choice for OnError {
    const CHOICES: &'static [(&'static str, Self)] =
        &[("abort", Self::Abort), ("reject", Self::Reject), ("null", Self::Null)];
}

impl Choice for Ragged {
    const CHOICES: &'static [(&'static str, Self)] =
        &[("error", Self::Error), ("pad", Self::Pad), ("fit", Self::Fit), ("reject", Self::Reject)];
}

impl Choice for StrayQuotes {
    const CHOICES: &'static [(&'static str, Self)] = &[("error", Self::Error), ("text", Self::Text)];
}

impl Choice for RepeatedHeader {
    const CHOICES: &'static [(&'static str, Self)] =
        &[("keep", Self::Keep), ("skip", Self::Skip), ("stop", Self::Stop)];
}

impl Choice for InvalidUtf8 {
    const CHOICES: &'static [(&'static str, Self)] =
        &[("error", Self::Error), ("replace", Self::Replace), ("blob", Self::Blob)];
}

impl Choice for FtsContent {
    const CHOICES: &'static [(&'static str, Self)] = &[("table", Self::Table), ("own", Self::Own)];
}

impl Choice for Numbers {
    const CHOICES: &'static [(&'static str, Self)] =
        &[("exact", Self::Exact), ("digits", Self::Digits), ("lenient", Self::Lenient)];
}

impl Choice for NanPolicy {
    const CHOICES: &'static [(&'static str, Self)] =
        &[("error", Self::Error), ("null", Self::Null), ("text", Self::Text)];
}

#[cfg(test)]
mod tests {
    use super::*;

    fn round_trip<T: Choice + std::fmt::Debug>() {
        for (name, value) in T::CHOICES {
            assert_eq!((T::from_name(name), value.name()), (Ok(*value), *name));
        }
        assert!(T::from_name("nothing").unwrap_err().starts_with("'nothing' is not one of '"));
    }

    #[test]
    fn every_name_is_that_of_its_value() {
        round_trip::<Conflict>();
        round_trip::<Sync>();
        round_trip::<Verify>();
        round_trip::<FileFormat>();
        round_trip::<OnError>();
        round_trip::<Ragged>();
        round_trip::<StrayQuotes>();
        round_trip::<RepeatedHeader>();
        round_trip::<InvalidUtf8>();
        round_trip::<FtsContent>();
        round_trip::<Numbers>();
        round_trip::<NanPolicy>();
        round_trip::<crate::RowidPolicy>();
    }
}
