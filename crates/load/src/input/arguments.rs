//! The files that FILE arguments mean: paths, patterns, folders, archives, and standard input.

use super::archive::{self, Member};
use super::{ENDINGS, Input, STANDARD_INPUT, Source, cannot_open, read_failed};
use crate::options::{Format, ReadOptions};
use litepress_rows::{Error, ErrorKind, Result};
use std::fs::File;
use std::io::{self, BufReader, IsTerminal, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use zip::ZipArchive;

impl Input {
    /// Returns the files that FILE arguments mean, in their order: paths, patterns (their matches in the order of names), folders
    /// (their files of known kinds), ZIP archives (their members), and `-` for standard input. Without arguments, standard input is read.
    ///
    /// # Errors
    /// If a file is missing, empty, or of an unknown format or compression; if a pattern matches nothing; if standard
    /// input is named twice or is a terminal; if the encoding is unknown.
    pub fn from_arguments(files: &[PathBuf], options: &ReadOptions) -> Result<Vec<Self>> {
        let standard_input = [PathBuf::from("-")];
        let files = if files.is_empty() { &standard_input } else { files };
        let is_standard_input = |file: &Path| file == Path::new("-");
        if files.iter().filter(|file| is_standard_input(file)).count() > 1 {
            return Err(Error::new(ErrorKind::Usage, "standard input (-) can be read once only"));
        }
        let mut inputs = Vec::new();
        for file in files {
            if is_standard_input(file) {
                inputs.push(Self::standard_input(options)?);
            } else {
                for path in matching_files(file)? {
                    inputs.extend(Self::all_of(&path, options)?);
                }
            }
        }
        Ok(inputs)
    }

    /// Returns the files at this path: the file itself, the files of a folder, or the members of a ZIP archive.
    ///
    /// # Errors
    /// As [`from_arguments`](Self::from_arguments), and if a folder or an archive has no file of a known kind.
    pub fn all_of(path: &Path, options: &ReadOptions) -> Result<Vec<Self>> {
        let kind = std::fs::metadata(path).map_err(|error| cannot_open(path, error))?;
        if kind.is_dir() {
            return Self::of_folder(path, options);
        }
        if !kind.is_file() {
            return Ok(vec![Self::from_path(path, options)?]);
        }
        options.path_guard.map_or(Ok(()), |guard| guard(path))?;
        let mut file = File::open(path).map_err(|error| cannot_open(path, error))?;
        let mut head = Vec::new();
        (&mut file).take(4).read_to_end(&mut head).map_err(|error| read_failed(path, error))?;
        if !archive::is_archive(&head) {
            // The guard of paths looks for open files.
            drop(file);
            return Ok(vec![Self::from_path(path, options)?]);
        }
        let archive = archive::open(path, file)?;
        match kind_of(&archive) {
            Kind::Spreadsheet => Ok(vec![Self {
                name: path.to_owned(),
                format: Format::Spreadsheet,
                bytes: Some(kind.len()),
                encoding: "",
                source: Source::Path(path.to_owned()),
                compression: None,
                names_table: true,
            }]),
            Kind::Document => {
                let error = Error::new(ErrorKind::Data, "this is a text document or a presentation, not a spreadsheet");
                Err(error.in_file(path).advise("export its tables as CSV"))
            }
            Kind::Archive => Self::of_archive(path, archive, options),
        }
    }

    /// Returns the members of an archive in the order of their names.
    fn of_archive(path: &Path, mut archive: ZipArchive<BufReader<File>>, options: &ReadOptions) -> Result<Vec<Self>> {
        let files = archive::files_of(&archive);
        let is_only = files.len() == 1;
        let (known, others): (Vec<_>, Vec<_>) = files.into_iter().partition(|(name, _)| is_only || is_known(name));
        let others: Vec<String> = others.into_iter().map(|(name, _)| name).collect();
        refuse_none(path, "archive", known.is_empty(), &others)?;
        note_others(path, &others, options);
        let file = Arc::new(File::open(path).map_err(|error| cannot_open(path, error))?);
        let mut inputs = Vec::new();
        for (name, position) in known {
            let name = path.join(name);
            let member = Member::find(&mut archive, position, path, &file, &name)?;
            let (bytes, stream) = (member.bytes, member.read(&name, &options.notes));
            inputs.push(Self::examine(&name, Source::Member(Arc::new(member)), Some(bytes), stream, options)?);
        }
        Ok(inputs)
    }

    /// Returns the files of a folder, but not of folders within it, in the order of their names.
    fn of_folder(path: &Path, options: &ReadOptions) -> Result<Vec<Self>> {
        let unreadable = |error| Error::io("read the folder", path, error);
        let (mut known, mut others) = (Vec::new(), Vec::new());
        for entry in std::fs::read_dir(path).map_err(unreadable)? {
            let entry = entry.map_err(unreadable)?;
            let name = entry.file_name().to_string_lossy().into_owned();
            if name.starts_with('.') {
                continue;
            }
            if entry.path().is_file() && is_known(&name) { known.push(entry.path()) } else { others.push(name) }
        }
        known.sort();
        others.sort();
        refuse_none(path, "folder", known.is_empty(), &others)?;
        note_others(path, &others, options);
        let mut inputs = Vec::new();
        for file in known {
            inputs.extend(Self::all_of(&file, options)?);
        }
        Ok(inputs)
    }

    fn standard_input(options: &ReadOptions) -> Result<Self> {
        if io::stdin().is_terminal() {
            let error = Error::new(ErrorKind::Usage, "no file is named, and standard input is a terminal");
            return Err(error.advise("name the files to load, or pipe something in"));
        }
        Self::from_stream(Path::new(STANDARD_INPUT), Box::new(io::stdin()), options)
    }
}

/// The content of a ZIP archive.
enum Kind {
    Spreadsheet,
    Document,
    Archive,
}

fn kind_of(archive: &ZipArchive<BufReader<File>>) -> Kind {
    let has = |name: &str| archive.index_for_name(name).is_some();
    if has("xl/workbook.xml") || has("xl/workbook.bin") {
        return Kind::Spreadsheet;
    }
    if has("word/document.xml") || has("ppt/presentation.xml") {
        return Kind::Document;
    }
    // OpenDocument has texts and presentations, too; the reader of spreadsheets tells them apart.
    if has("mimetype") && has("content.xml") { Kind::Spreadsheet } else { Kind::Archive }
}

/// Returns whether the name ends like one of a file that can be read.
fn is_known(name: &str) -> bool {
    let ending = name.rsplit('/').next().and_then(|name| name.rsplit_once('.')).map(|(_, ending)| ending);
    ending.is_some_and(|ending| {
        ending.eq_ignore_ascii_case("zip") || ENDINGS.iter().any(|it| it.eq_ignore_ascii_case(ending))
    })
}

fn refuse_none(path: &Path, noun: &str, is_none: bool, others: &[String]) -> Result<()> {
    if !is_none {
        return Ok(());
    }
    let message = match others {
        [] => format!("the {noun} has no file"),
        others => format!("the {noun} has no file of a known kind, only {}", listed(others)),
    };
    let advice =
        if noun == "folder" { "name its files, with their kind by --format" } else { "unpack it, and name its files" };
    Err(Error::new(ErrorKind::Usage, message).in_file(path).advise(advice))
}

fn note_others(path: &Path, others: &[String], options: &ReadOptions) {
    if !others.is_empty() {
        options.notes.add(format!(
            "{}: left out, since they are folders or of no known kind: {}",
            path.display(),
            listed(others)
        ));
    }
}

/// Lists the first names, and the number of the others.
fn listed(names: &[String]) -> String {
    const MOST: usize = 8;
    let first = names.iter().take(MOST).cloned().collect::<Vec<_>>().join(", ");
    if names.len() > MOST { format!("{first} and {} more", names.len() - MOST) } else { first }
}

/// Returns the argument itself if the file exists or the name is no pattern, otherwise the files that match.
fn matching_files(argument: &Path) -> Result<Vec<PathBuf>> {
    let pattern = argument.to_str().filter(|text| text.contains(['*', '?', '[']));
    let Some(pattern) = pattern.filter(|_| std::fs::symlink_metadata(argument).is_err()) else {
        return Ok(vec![argument.to_owned()]);
    };
    let usage = |message: String| Error::new(ErrorKind::Usage, message).in_file(argument);
    let found = glob::glob(pattern).map_err(|error| usage(format!("this is not a pattern of names: {error}")))?;
    let mut files = Vec::new();
    for path in found {
        let path = path.map_err(|error| {
            let path = error.path().to_owned();
            cannot_open(&path, error.into())
        })?;
        if !path.is_dir() {
            files.push(path);
        }
    }
    if files.is_empty() {
        return Err(Error::new(ErrorKind::Io, "no file matches this pattern").in_file(argument));
    }
    files.sort();
    Ok(files)
}
