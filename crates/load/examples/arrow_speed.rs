//! Nanoseconds a row of reading a file into blocks, by one thread: `arrow_speed FILE`.
use litepress_load::input::Input;
use litepress_load::options::ReadOptions;
use litepress_load::reader::Batch;
use std::time::Instant;

fn main() {
    let name = std::path::PathBuf::from(std::env::args_os().nth(1).expect("a file"));
    let input = Input::from_path(&name, &ReadOptions::default()).unwrap();
    let mut reader = litepress_load::arrow::open(&input, &ReadOptions::default()).unwrap();
    for field in reader.columns() {
        println!("{field:?}");
    }
    let (start, mut rows, mut pieces, mut batch) = (Instant::now(), 0, 0, Batch::default());
    while let Some(mut piece) = reader.next_piece().unwrap() {
        pieces += 1;
        loop {
            piece.read(&mut batch).unwrap();
            if batch.rows == 0 {
                break;
            }
            if rows == 0 {
                println!("{:?}", batch.blocks.iter().map(|block| format!("{:?}", block.value(0))).collect::<Vec<_>>());
            }
            rows += batch.rows;
        }
    }
    println!("{rows} rows, {pieces} pieces, {:.0} ns a row", start.elapsed().as_nanos() as f64 / rows as f64);
}
