//! K-way merge of runs by term (Knuth 5.4.1). The doclists of one term are merged by rowid.

use crate::run::RunReader;
use crate::writer::{SegmentSink, SegmentWriter};
use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;
use std::io::{self, Read};

/// Longest doclist that is copied at once if one run alone has the term.
const COPIED_BYTES: u64 = 16 << 10;

/// Merges runs into one segment. No row may be in two runs.
///
/// # Errors
/// If a read or a write fails, the runs are no runs, or two of them have one row.
pub fn merge<R: Read, S: SegmentSink<Error: From<io::Error>>>(
    mut runs: Vec<RunReader<R>>,
    segment: &mut SegmentWriter<S>,
) -> Result<(), S::Error> {
    let mut heads = BinaryHeap::with_capacity(runs.len());
    let first_terms = runs.iter().map(|_| Vec::new()).enumerate().map(|(run, term)| Head { term, run });
    for head in first_terms.collect::<Vec<_>>() {
        push_next(&mut heads, head, &mut runs)?;
    }
    let (mut equal, mut holders) = (Vec::<Head>::new(), Vec::new());
    while let Some(Reverse(first)) = heads.pop() {
        equal.push(first);
        while let Some(Reverse(next)) = heads.peek()
            && next.term == equal[0].term
        {
            equal.extend(heads.pop().map(|head| head.0));
        }
        segment.term(&equal[0].term)?;
        holders.clear();
        holders.extend(equal.iter().map(|head| head.run));
        merge_doclists(&mut runs, &mut holders, segment)?;
        for head in equal.drain(..) {
            push_next(&mut heads, head, &mut runs)?;
        }
    }
    Ok(())
}

/// Replaces the term of `head` with the next one of its run, and pushes it, unless the run has ended.
fn push_next<R: Read>(
    heads: &mut BinaryHeap<Reverse<Head>>,
    mut head: Head,
    runs: &mut [RunReader<R>],
) -> io::Result<()> {
    let run = &mut runs[head.run];
    if run.next_term()? {
        head.term.clear();
        head.term.extend_from_slice(run.term());
        heads.push(Reverse(head));
    }
    Ok(())
}

/// The next term of a run.
#[derive(PartialEq, Eq)]
struct Head {
    term: Vec<u8>,
    run: usize,
}

impl Ord for Head {
    fn cmp(&self, other: &Self) -> Ordering {
        self.term.cmp(&other.term).then(self.run.cmp(&other.run))
    }
}

impl PartialOrd for Head {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// Merges the doclists of the runs that have the current term, `holders`.
fn merge_doclists<R: Read, S: SegmentSink<Error: From<io::Error>>>(
    runs: &mut [RunReader<R>],
    holders: &mut Vec<usize>,
    segment: &mut SegmentWriter<S>,
) -> Result<(), S::Error> {
    if let [only] = holders[..]
        && runs[only].left() <= COPIED_BYTES
    {
        return segment.doclist(runs[only].whole_doclist()?);
    }
    for &number in &*holders {
        runs[number].next_entry()?;
    }
    // The run with the smallest rowid comes last.
    holders.sort_unstable_by_key(|&number| Reverse(runs[number].rowid()));
    while let Some(number) = holders.pop() {
        let bound = holders.last().map(|&next| runs[next].rowid());
        let run = &mut runs[number];
        loop {
            if bound.is_some_and(|bound| run.rowid() >= bound) {
                let rowid = run.rowid();
                if bound == Some(rowid) {
                    let message = format!("the row {rowid} is in two runs");
                    return Err(io::Error::new(io::ErrorKind::InvalidData, message).into());
                }
                let place = holders.partition_point(|&other| runs[other].rowid() > rowid);
                holders.insert(place, number);
                break;
            }
            segment.entry(run.rowid(), run.list())?;
            if !run.next_entry()? {
                break;
            }
        }
    }
    segment.end_doclist()
}
