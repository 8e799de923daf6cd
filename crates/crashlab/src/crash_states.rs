//! The states of a folder that a power cut may leave.

use crate::disk::{Change, Disk, File, position, write};
use crate::recording::{Event, Recording};
use fastrand::Rng;
use std::collections::{BTreeMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io;
use std::path::Path;

/// Sizes of sectors, each of which is written as a whole or not at all.
const SECTOR_BYTES: [usize; 2] = [512, 4096];

/// The files that a power cut may leave.
#[derive(Clone, Debug)]
pub struct CrashState {
    /// The files.
    pub files: BTreeMap<String, Vec<u8>>,
    /// Number of events before the power cut.
    pub events: usize,
    /// Whether the program had been told that its change is durable.
    pub is_after_end: bool,
    /// A description of what is lost.
    pub lost: String,
}

/// Crash states of a recording: after each event, with up to a number of choices of what is lost. States that are equal to one that
/// came before are left out.
#[derive(Debug)]
pub struct CrashStates<'r> {
    recording: &'r Recording,
    states_per_event: usize,
    disk: Disk,
    events: usize,
    is_after_end: bool,
    random: Rng,
    seen: HashSet<u64>,
    ready: Vec<CrashState>,
    is_over: bool,
}

impl Recording {
    /// Returns crash states, up to `states_per_event` for each event. `seed` chooses among them.
    #[must_use]
    pub fn crash_states(&self, states_per_event: usize, seed: u64) -> CrashStates<'_> {
        CrashStates {
            recording: self,
            states_per_event,
            disk: Disk::new(&self.files),
            events: 0,
            is_after_end: false,
            random: Rng::with_seed(seed),
            seen: HashSet::new(),
            ready: Vec::new(),
            is_over: false,
        }
    }
}

impl Iterator for CrashStates<'_> {
    type Item = CrashState;

    fn next(&mut self) -> Option<CrashState> {
        loop {
            if let Some(state) = self.ready.pop() {
                return Some(state);
            }
            if self.is_over {
                return None;
            }
            self.cut();
            match self.recording.events.get(self.events) {
                None => self.is_over = true,
                Some(event) => {
                    self.disk.apply(event);
                    self.is_after_end |= *event == Event::End;
                    self.events += 1;
                }
            }
        }
    }
}

impl CrashStates<'_> {
    /// Makes the states of a power cut now.
    fn cut(&mut self) {
        let mut losses = systematic(&self.disk);
        // Some of them by chance, so that long lists of changes do not always have the same.
        self.random.shuffle(&mut losses);
        let systematic = self.states_per_event.div_ceil(2);
        losses.truncate(systematic.max(self.states_per_event.saturating_sub(8)));
        losses.push(Loss::all(&self.disk, Fate::Lost, 0));
        losses.push(Loss::all(&self.disk, Fate::Kept, usize::MAX));
        if self.states_per_event < 3 {
            self.random.shuffle(&mut losses);
        }
        let mut attempts = 2 * self.states_per_event;
        let mut made = 0;
        while made < self.states_per_event && attempts > 0 {
            attempts -= 1;
            let loss = losses.pop().unwrap_or_else(|| Loss::random(&self.disk, &mut self.random));
            let files = loss.apply(&self.disk);
            let mut hasher = DefaultHasher::new();
            (&files, self.is_after_end).hash(&mut hasher);
            if self.seen.insert(hasher.finish()) {
                let (events, is_after_end) = (self.events, self.is_after_end);
                self.ready.push(CrashState { files, events, is_after_end, lost: loss.describe() });
                made += 1;
            }
        }
    }
}

impl CrashState {
    /// Writes the files to an empty folder.
    ///
    /// # Errors
    /// If a file cannot be written.
    pub fn write_to(&self, folder: &Path) -> io::Result<()> {
        self.files.iter().try_for_each(|(name, bytes)| std::fs::write(folder.join(name), bytes))
    }
}

/// The fate of one change of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Fate {
    Kept,
    Lost,
    /// A write of which only some sectors are kept. The file has its new length; sectors that are lost there have the filler.
    Torn {
        sector_bytes: usize,
        kept: Vec<bool>,
        filler: u8,
    },
}

/// A choice of everything that is lost.
#[derive(Clone, Debug)]
struct Loss {
    /// The fates of the pending changes of each file.
    fates: Vec<Vec<Fate>>,
    /// The state of each name, among its possible ones.
    names: Vec<usize>,
}

/// Returns losses in a systematic order: names and data apart, each change alone lost, alone kept, cut off and torn.
fn systematic(disk: &Disk) -> Vec<Loss> {
    let mut losses = vec![Loss::all(disk, Fate::Kept, 0), Loss::all(disk, Fate::Lost, usize::MAX)];
    for (at, file) in disk.files.iter().enumerate() {
        for (change, pending) in file.pending.iter().enumerate() {
            for (others, this) in [(Fate::Kept, Fate::Lost), (Fate::Lost, Fate::Kept)] {
                let mut loss = Loss::all(disk, others, usize::MAX);
                loss.fates[at][change] = this;
                losses.push(loss);
            }
            let mut prefix = Loss::all(disk, Fate::Kept, usize::MAX);
            prefix.fates[at][change..].fill(Fate::Lost);
            losses.push(prefix.clone());
            let Change::Write { bytes, .. } = pending else { continue };
            for sector_bytes in SECTOR_BYTES {
                let sectors = bytes.len().div_ceil(sector_bytes);
                for (cut, filler) in [(0, 0), (1, 0), (sectors / 2, 0xa5), (sectors - 1, 0)] {
                    let kept = (0..sectors).map(|sector| sector < cut).collect();
                    prefix.fates[at][change] = Fate::Torn { sector_bytes, kept, filler };
                    losses.push(prefix.clone());
                }
            }
        }
    }
    losses
}

impl Loss {
    /// Gives all changes one fate, and all names the state at a position, or their last one.
    fn all(disk: &Disk, fate: Fate, name: usize) -> Self {
        let fates = disk.files.iter().map(|file| vec![fate.clone(); file.pending.len()]).collect();
        let names = disk.names.values().map(|it| name.min(it.states.len() - 1)).collect();
        Self { fates, names }
    }

    /// Chooses by chance, with a likelihood of loss that is chosen by chance too.
    fn random(disk: &Disk, random: &mut Rng) -> Self {
        let likelihood = [0.1, 0.5, 0.9][random.usize(..3)];
        let sector_bytes = SECTOR_BYTES[random.usize(..SECTOR_BYTES.len())];
        let mut fate = |change: &Change| {
            let is_kept = random.f64() >= likelihood;
            match change {
                Change::Write { bytes, .. } if random.f64() < 0.3 => {
                    let sectors = bytes.len().div_ceil(sector_bytes);
                    let kept = (0..sectors).map(|_| random.f64() >= likelihood).collect();
                    Fate::Torn { sector_bytes, kept, filler: if random.bool() { 0 } else { 0xa5 } }
                }
                _ if is_kept => Fate::Kept,
                _ => Fate::Lost,
            }
        };
        let fates = disk.files.iter().map(|file| file.pending.iter().map(&mut fate).collect()).collect();
        let names = disk.names.values().map(|name| random.usize(..name.states.len())).collect();
        Self { fates, names }
    }

    fn apply(&self, disk: &Disk) -> BTreeMap<String, Vec<u8>> {
        let mut files = BTreeMap::new();
        for ((name, states), &state) in disk.names.iter().zip(&self.names) {
            if let Some(file) = states.states[state] {
                files.insert(name.clone(), survive(&disk.files[file], &self.fates[file]));
            }
        }
        files
    }

    /// Describes the loss, with the numbers of files and changes.
    fn describe(&self) -> String {
        let mut text = format!("names {:?}", self.names);
        for (file, fates) in self.fates.iter().enumerate().filter(|(_, fates)| !fates.is_empty()) {
            let letter = |fate: &Fate| match fate {
                Fate::Kept => 'k',
                Fate::Lost => '-',
                Fate::Torn { .. } => 't',
            };
            text += &format!(", file {file} {}", fates.iter().map(letter).collect::<String>());
        }
        text
    }
}

/// Returns the bytes of a file whose changes have these fates.
fn survive(file: &File, fates: &[Fate]) -> Vec<u8> {
    let mut bytes = file.durable.clone();
    for (change, fate) in file.pending.iter().zip(fates) {
        match (change, fate) {
            (_, Fate::Lost) => {}
            (Change::Write { offset, bytes: written }, Fate::Torn { sector_bytes, kept, filler }) => {
                let end = position(*offset) + written.len();
                if bytes.len() < end {
                    bytes.resize(end, *filler);
                }
                for (sector, (piece, is_kept)) in written.chunks(*sector_bytes).zip(kept).enumerate() {
                    if *is_kept {
                        write(&mut bytes, *offset + (sector * sector_bytes) as u64, piece, *filler);
                    }
                }
            }
            (change, _) => change.apply(&mut bytes),
        }
    }
    bytes
}
