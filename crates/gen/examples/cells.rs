//! Measures nanoseconds per cell: of every generator's example, or of the annotations on the command line.
//!
//! ```text
//! cargo run --release -p litepress-gen --example cells [-- ANNOTATION ...]
//! cargo run --release -p litepress-gen --example cells -- --markdown    the table of docs/generators.md
//! ```

use litepress_gen::catalogue::{self, Sample};
use litepress_rows::cells::BLOCK_ROWS;
use litepress_rows::{CellBlock, Result};
use std::hint::black_box;
use std::time::{Duration, Instant};

/// Number of rounds, of which the fastest counts: other work on the machine only ever makes a round slower.
const ROUNDS: usize = 40;
const ROUND: Duration = Duration::from_millis(5);

fn nanoseconds(annotation: &str) -> Result<f64> {
    let sample = Sample::new(annotation)?;
    let mut block = CellBlock::default();
    let mut row = 0;
    let mut best = f64::INFINITY;
    for _ in 0..ROUNDS {
        let (begin, first) = (Instant::now(), row);
        while begin.elapsed() < ROUND {
            sample.fill(row..row + BLOCK_ROWS as u64, &mut block);
            black_box(&block);
            row += BLOCK_ROWS as u64;
        }
        best = best.min(begin.elapsed().as_nanos() as f64 / (row - first) as f64);
    }
    Ok(best)
}

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if arguments == ["--markdown"] {
        print!("{}", catalogue::markdown(|entry| nanoseconds(entry.example).ok()));
        return Ok(());
    }
    let examples = || catalogue::all().map(|entry| entry.example.to_owned()).collect();
    let annotations: Vec<String> = if arguments.is_empty() { examples() } else { arguments };
    for annotation in annotations {
        println!("{:8.2}  {annotation}", nanoseconds(&annotation)?);
    }
    Ok(())
}
