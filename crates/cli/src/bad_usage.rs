//! Wrong options and arguments: what clap says, and tips for words of other commands and other tools.

use crate::failure::{ErrorForm, USAGE};
use clap::Command;
use clap::builder::StyledStr;
use clap::error::{ContextKind, ContextValue, Error, ErrorKind};
use std::ffi::OsString;

/// Options of other tools, and what does the same here.
const ELSEWHERE: [(&str, &str); 13] = [
    ("--as", "'--store-as' stores a typed column in another form"),
    ("--csv", "the format is found from the content; '--format csv' says it"),
    ("--fields-terminated-by", "'--delimiter' says what stands between fields"),
    ("--header", "the first record is the header unless '--no-header' is given"),
    ("--if-exists", "'--append' adds to a database that exists, '--overwrite' replaces it"),
    ("--nl", "'--format ndjson' reads one JSON object a line"),
    ("--null", "'--null-value' names the texts that mean NULL"),
    ("--pk", "'--primary-key' names the columns of the key"),
    ("--replace", "'--overwrite' replaces the database, '--on-conflict replace' keeps the last row of a key"),
    ("--sep", "'--delimiter' says what stands between fields"),
    ("--separator", "'--delimiter' says what stands between fields"),
    ("--tsv", "'--format tsv' reads fields between tabs"),
    ("--upsert", "'--append --on-conflict update' updates the rows whose key exists"),
];

/// Prints the error, or the help that clap returns as one, and returns the exit code.
pub fn report(mut error: Error, arguments: &[OsString], program: &Command) -> u8 {
    if let Some(tip) = tip(&error, program) {
        error.remove(ContextKind::SuggestedArg);
        // The line of usage would show the wrong suggestion.
        error.remove(ContextKind::Usage);
        error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![StyledStr::from(tip)]));
    }
    let is_json = arguments.iter().take_while(|argument| *argument != "--").any(|argument| argument == "--json");
    if is_json && error.use_stderr() {
        return ErrorForm::Json.report(&to_error(&error));
    }
    // A closed output is no reason to fail.
    let _ = error.print();
    u8::try_from(error.exit_code()).unwrap_or(USAGE)
}

/// Finds a tip about an option that the command does not have.
fn tip(error: &Error, program: &Command) -> Option<String> {
    let Some(ContextValue::String(given)) = error.get(ContextKind::InvalidArg) else { return None };
    if error.kind() != ErrorKind::UnknownArgument {
        return None;
    }
    let option = given.split('=').next()?;
    if let Some((_, tip)) = ELSEWHERE.iter().find(|(name, _)| *name == option) {
        return Some((*tip).to_owned());
    }
    let name = option.strip_prefix("--")?;
    let has = |command: &&Command| command.get_arguments().any(|argument| argument.get_long() == Some(name));
    let commands = program.get_subcommands().filter(has);
    let commands: Vec<String> = commands.map(|command| format!("'litepress {}'", command.get_name())).collect();
    (!commands.is_empty()).then(|| format!("'{option}' is an option of {}", commands.join(" and ")))
}

/// Takes the text that clap prints apart: the first paragraph is the message, the tips are the help.
fn to_error(error: &Error) -> litepress::Error {
    let text = error.render().to_string();
    let mut paragraphs = text.split("\n\n").map(str::trim);
    let message = paragraphs.next().unwrap_or_default();
    let converted =
        litepress::Error::new(litepress::ErrorKind::Usage, message.strip_prefix("error: ").unwrap_or(message));
    let tips = paragraphs.filter_map(|paragraph| paragraph.strip_prefix("tip: "));
    let tips = tips.map(|tip| tip.replace("\n  tip: ", "; ")).collect::<Vec<String>>().join("; ");
    if tips.is_empty() { converted.advise("see --help") } else { converted.advise(tips) }
}
