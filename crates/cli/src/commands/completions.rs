//! `litepress completions`: writes a script with which a shell completes commands and options.

use crate::failure::DONE;
use crate::output::print;
use clap::{Args, Command};
use clap_complete::Shell;
use litepress::{Error, ErrorKind, Result};

const EXAMPLES: &str = "\
Examples:
  litepress completions bash > litepress.bash
  litepress completions zsh > _litepress
  litepress completions fish > litepress.fish

Bash reads ~/.local/share/bash-completion/completions/litepress, fish
~/.config/fish/completions/litepress.fish, zsh a file _litepress in a folder of
$fpath. In PowerShell's profile:
litepress completions powershell | Out-String | Invoke-Expression
";

/// Print a script that completes commands and options in a shell
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct CompletionsArguments {
    /// The shell
    #[arg(value_name = "SHELL", value_enum)]
    shell: Shell,
}

pub fn run(arguments: &CompletionsArguments, mut program: Command) -> Result<u8> {
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, &mut program, "litepress", &mut script);
    let script = String::from_utf8(script)
        .map_err(|error| Error::new(ErrorKind::Unsupported, "the script is not UTF-8").caused_by(error))?;
    print(&script)?;
    Ok(DONE)
}
