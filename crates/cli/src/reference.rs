//! The page `docs/reference/commands.md`, made from the definitions of the arguments.
//!
//! The test fails if the page is old, and writes it anew if `LITEPRESS_WRITE_DOCS` is set.

use crate::Cli;
use clap::builder::StyledStr;
use clap::{Arg, ArgAction, Command, CommandFactory};
use std::fmt::Write;
use std::path::Path;

const HEAD: &str = "\
# Commands and options

Made from the program's own definitions: `LITEPRESS_WRITE_DOCS=1 cargo test -p litepress-cli --lib reference` writes this page, and a test
fails if it is old. `litepress load --help` shows the same.

";

fn page() -> String {
    let mut program = Cli::command().term_width(100);
    program.build();
    let commands: Vec<&Command> = program.get_subcommands().filter(|command| command.get_name() != "help").collect();
    let mut text = HEAD.to_owned();
    text += "| command | what it does |\n|---|---|\n";
    for command in &commands {
        let name = command.get_name();
        writeln!(text, "| [`litepress {name}`](#litepress-{name}) | {} |", cell(command.get_about())).expect("a text");
    }
    for command in commands {
        text += &section(command);
    }
    text
}

fn section(command: &Command) -> String {
    let usage = command.clone().render_usage().to_string();
    let usage = usage.trim_start_matches("Usage: ").lines().map(str::trim).collect::<Vec<_>>().join("\n");
    let about = command.get_long_about().or(command.get_about());
    let mut text = format!(
        "\n## litepress {}\n\n{}.\n\n```text\n{usage}\n```\n",
        command.get_name(),
        about.map(ToString::to_string).unwrap_or_default().trim_end_matches('.'),
    );
    let arguments: Vec<&Arg> = command.get_arguments().filter(|argument| !argument.is_hide_set()).collect();
    let mut headings: Vec<Option<&str>> = Vec::new();
    for argument in &arguments {
        let heading = heading(argument);
        if !headings.contains(&heading) {
            headings.push(heading);
        }
    }
    headings.sort_by_key(Option::is_some);
    for heading_of_table in headings {
        let title = heading_of_table.unwrap_or("Arguments and options");
        write!(text, "\n**{title}**\n\n| option | meaning |\n|---|---|\n").expect("a text");
        for argument in arguments.iter().filter(|argument| heading(argument) == heading_of_table) {
            writeln!(text, "| {} | {} |", names(argument), meaning(argument)).expect("a text");
        }
    }
    let examples = command.get_after_help().map(ToString::to_string).unwrap_or_default();
    if let Some(examples) = examples.strip_prefix("Examples:\n") {
        let (examples, rest) = examples.split_once("\n\n").unwrap_or((examples, ""));
        let lines: String =
            examples.lines().map(|line| format!("{}\n", line.strip_prefix("  ").unwrap_or(line))).collect();
        write!(text, "\n**Examples**\n\n```text\n{lines}```\n").expect("a text");
        if !rest.trim().is_empty() {
            write!(text, "\n{}\n", rest.trim()).expect("a text");
        }
    }
    text
}

fn heading(argument: &Arg) -> Option<&str> {
    argument.get_help_heading()
}

/// Returns the names of an argument with its values: `` `--page-size SIZE` ``, `` `-v`, `--verbose` ``.
fn names(argument: &Arg) -> String {
    let values = argument.get_value_names().unwrap_or_default().iter().map(|name| format!("<{name}>"));
    let values = values.collect::<Vec<_>>().join(" ");
    if argument.is_positional() {
        return format!("`{}`", escaped(&values));
    }
    let takes_values = matches!(argument.get_action(), ArgAction::Set | ArgAction::Append);
    let short = argument.get_short().map(|short| format!("`-{short}`"));
    let long = argument
        .get_long()
        .map(|long| if takes_values { format!("`--{long} {}`", escaped(&values)) } else { format!("`--{long}`") });
    short.into_iter().chain(long).collect::<Vec<_>>().join(", ")
}

/// Returns the help of an argument, its default and its choices.
fn meaning(argument: &Arg) -> String {
    let mut text = cell(argument.get_long_help().or(argument.get_help()));
    if !matches!(argument.get_action(), ArgAction::Set | ArgAction::Append) {
        return text;
    }
    let defaults: Vec<_> = argument.get_default_values().iter().map(|value| value.to_string_lossy()).collect();
    if !defaults.is_empty() && !argument.is_hide_default_value_set() {
        write!(text, " [default: {}]", defaults.join(" ")).expect("a text");
    }
    for choice in argument.get_possible_values().iter().filter(|choice| !choice.is_hide_set()) {
        let help = cell(choice.get_help());
        write!(text, "<br>`{}`{}{help}", choice.get_name(), if help.is_empty() { "" } else { ": " }).expect("a text");
    }
    text
}

/// Returns a help text for a cell of a table.
fn cell(text: Option<&StyledStr>) -> String {
    let text = text.map(ToString::to_string).unwrap_or_default();
    let text = text.replace('<', "&lt;").replace('*', "\\*").replace('_', "\\_");
    escaped(&text.split_whitespace().collect::<Vec<_>>().join(" "))
}

fn escaped(text: &str) -> String {
    text.replace('|', "\\|")
}

/// The options stood in three places, written by hand, and each lacked some.
#[test]
fn the_reference_is_that_of_the_program() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference/commands.md");
    let page = page();
    if std::env::var_os("LITEPRESS_WRITE_DOCS").is_some() {
        std::fs::write(&path, &page).expect("the page");
    }
    let written = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(written == page, "{} is old: see its second line", path.display());
}

#[test]
fn the_reference_has_each_command_and_option() {
    let (page, mut program) = (page(), Cli::command());
    program.build();
    for command in program.get_subcommands().filter(|command| command.get_name() != "help") {
        let title = format!("\n## litepress {}\n", command.get_name());
        let (_, text) = page.split_once(&title).expect(&title);
        let text = text.split("\n## ").next().unwrap_or_default();
        for argument in command.get_arguments().filter(|argument| !argument.is_hide_set()) {
            let Some(long) = argument.get_long() else { continue };
            assert!(text.contains(&format!("`--{long}")), "{title}{long}");
        }
    }
}
