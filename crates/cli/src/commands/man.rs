//! `litepress man`: writes the manual pages.

use crate::failure::DONE;
use crate::output::print;
use clap::{Args, Command};
use clap_mangen::Man;
use litepress::{Error, Result};
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  litepress man .
  litepress man share/man/man1
  litepress man man1 > pages.txt

man finds share/man beside the folder of a program, such as ~/.local/share/man
for ~/.local/bin.
";

/// Write the manual pages, one a command, into a folder
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct ManArguments {
    /// The folder: made if it is missing; pages of an older litepress in it are replaced
    #[arg(value_name = "FOLDER")]
    folder: PathBuf,
}

pub fn run(arguments: &ManArguments, mut program: Command) -> Result<u8> {
    let folder = &arguments.folder;
    std::fs::create_dir_all(folder).map_err(|error| Error::io("make the folder", folder, error))?;
    // Commands learn their full names, options of the program and texts of help here.
    program.build();
    let commands = program.get_subcommands().filter(|command| command.get_name() != "help");
    let pages = std::iter::once(&program).chain(commands);
    for page in pages.map(|command| Man::new(command.clone())) {
        let mut text = Vec::new();
        let file = folder.join(page.get_filename());
        let written = page.render(&mut text).and_then(|()| std::fs::write(&file, &text));
        written.map_err(|error| Error::io("write the page", &file, error))?;
        print(&format!("{}\n", file.display()))?;
    }
    Ok(DONE)
}
