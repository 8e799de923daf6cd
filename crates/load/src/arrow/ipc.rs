//! Reads Arrow IPC. Messages are found by their headers; the worker that takes a piece reads and decodes its body.
//!
//! The footer of the file format has the positions of messages. In a stream, each header has the position of the next one. Both
//! are read by position. A large record batch becomes several pieces, and the first worker decodes it for all of them. So at most
//! as many batches are in memory as pieces are in use. Dictionaries are decoded in file order, for all workers.

use super::batches::origin;
use super::convert::{self, Arrays, Column};
use super::form::SemanticType;
use super::narrow::observe;
use super::texts::texts_as_bytes;
use super::{
    PIECE_BYTES, Positioned, all_columns, describe, geometry, plan_columns, wide_decimals, with_distinct_names,
};
use crate::guard::guard;
use crate::options::ReadOptions;
use crate::reader::{Batch, DecimalRange, FileColumn, Piece, ProjectedColumn, Reader};
use arrow_array::{Array, ArrayRef, RecordBatch};
use arrow_buffer::Buffer;
use arrow_ipc::convert::try_fb_to_schema;
use arrow_ipc::reader::{read_dictionary, read_footer_length, read_record_batch};
use arrow_ipc::{MessageHeader, root_as_footer, root_as_message};
use arrow_schema::{FieldRef, Schema, SchemaRef};
use litepress_rows::Result;
use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

const MAGIC: &[u8] = b"ARROW1";
const CONTINUATION: [u8; 4] = [0xff; 4];
/// Size of the trailer after the footer: its length, and the magic.
const TRAILER_BYTES: u64 = 10;
/// Maximum ratio of compression: a block of zeros takes 4 bytes in zstd for 128 KiB.
const MOST_PER_BYTE: u64 = 1 << 16;

/// A reader of an Arrow IPC file or stream.
pub(super) struct IpcReader {
    file: Positioned,
    options: ReadOptions,
    /// The schema with texts as byte strings: invalid UTF-8 is reported row by row.
    schema: SchemaRef,
    fields: Vec<FileColumn>,
    types: Vec<(FieldRef, SemanticType)>,
    columns: Vec<Column>,
    /// Positions of the requested columns in the schema.
    projection: Arc<Vec<usize>>,
    walk: Walk,
    dictionaries: Arc<HashMap<i64, ArrayRef>>,
    /// The record batch that is being cut into pieces, and the number of its rows handed out.
    current: Option<(Arc<SharedBatch>, u64)>,
    batches: u64,
    record: u64,
}

/// The positions of messages.
enum Walk {
    /// Position and header length of each message, from the footer. Dictionaries come first.
    File(std::vec::IntoIter<(u64, u64)>),
    /// Position of the next message, or of the end of the stream.
    Stream(u64),
}

/// A message without its body.
struct Message {
    /// The FlatBuffers header.
    header: Vec<u8>,
    body: std::ops::Range<u64>,
}

/// A record batch that is decoded at its first use.
struct SharedBatch {
    file: Positioned,
    message: Message,
    schema: SchemaRef,
    dictionaries: Arc<HashMap<i64, ArrayRef>>,
    projection: Arc<Vec<usize>>,
    /// Number of the batch in the file, counted from 1.
    number: u64,
    rows: u64,
    /// Number of rows of each piece, except the last.
    piece_rows: u64,
    bytes_read: Arc<AtomicU64>,
    decoded: OnceLock<Result<RecordBatch, String>>,
}

impl IpcReader {
    pub fn new(file: Positioned, options: &ReadOptions) -> Result<Self> {
        let is_file = file.len >= MAGIC.len() as u64 && file.read(0, MAGIC.len()).is_ok_and(|head| head == MAGIC);
        let opened = guard(|| if is_file { open_file(&file) } else { open_stream(&file) });
        let (schema, walk) = opened.map_err(|why| file.damaged(why))?;
        let named = with_distinct_names(schema.fields(), &file, options);
        let types: Vec<(FieldRef, SemanticType)> =
            named.into_iter().map(|field| (field.clone(), SemanticType::of_field(&field))).collect();
        let describe_field = |(field, meaning): &(FieldRef, SemanticType)| describe(field, *meaning, &origin(field));
        let fields: Vec<FileColumn> = types.iter().map(describe_field).collect();
        let projected = all_columns(&fields);
        let bytes: Vec<FieldRef> = schema.fields().iter().map(texts_as_bytes).collect();
        let schema = Arc::new(Schema::new(bytes));
        let (columns, projection) = (Vec::new(), Arc::new(Vec::new()));
        let (dictionaries, current) = (Arc::new(HashMap::new()), None);
        let options = options.clone();
        let (batches, record) = (0, 1);
        let mut reader = Self {
            file,
            options,
            schema,
            fields,
            types,
            columns,
            projection,
            walk,
            dictionaries,
            current,
            batches,
            record,
        };
        reader.project(&projected)?;
        Ok(reader)
    }

    /// Returns the next record batch that has rows, and decodes the dictionaries before it.
    fn next_batch(&mut self) -> Result<Option<Arc<SharedBatch>>, String> {
        loop {
            let message = match &mut self.walk {
                Walk::File(positions) => match positions.next() {
                    Some((at, header_len)) => Some(message_at(&self.file, at, Some(header_len))?),
                    None => None,
                },
                Walk::Stream(at) => next_of_stream(&self.file, at)?,
            };
            let Some(message) = message else { return Ok(None) };
            let header = root_as_message(&message.header).map_err(|error| error.to_string())?;
            match header.header_type() {
                MessageHeader::DictionaryBatch => self.take_dictionary(&message)?,
                MessageHeader::RecordBatch => {
                    let rows = header.header_as_record_batch().map_or(-1, |batch| batch.length());
                    let rows = u64::try_from(rows).map_err(|_| format!("it says that it has {rows} rows"))?;
                    self.batches += 1;
                    if rows > 0 {
                        return Ok(Some(Arc::new(self.share(message, rows))));
                    }
                }
                other => return Err(format!("a message of the unexpected kind {other:?}")),
            }
        }
    }

    fn next_or_damaged(&mut self) -> Result<Option<Arc<SharedBatch>>> {
        let next = guard(|| self.next_batch());
        let number = self.batches + 1;
        next.map_err(|why| {
            self.file
                .damaged(format!("the file breaks off or is damaged at record batch {number}: {why}"))
                .advise("copy or write it again")
        })
    }

    fn share(&self, message: Message, rows: u64) -> SharedBatch {
        let body_bytes = message.body.end - message.body.start;
        let piece_bytes = self.options.piece_bytes.unwrap_or(PIECE_BYTES) as u64;
        let pieces = body_bytes.div_ceil(piece_bytes).clamp(1, rows);
        SharedBatch {
            file: self.file.clone(),
            message,
            schema: self.schema.clone(),
            dictionaries: self.dictionaries.clone(),
            projection: self.projection.clone(),
            number: self.batches,
            rows,
            piece_rows: rows.div_ceil(pieces),
            bytes_read: self.options.bytes_read.clone(),
            decoded: OnceLock::new(),
        }
    }

    fn take_dictionary(&mut self, message: &Message) -> Result<(), String> {
        let body = read_body(&self.file, message)?;
        let header = root_as_message(&message.header).map_err(|error| error.to_string())?;
        let batch = header.header_as_dictionary_batch().ok_or("a dictionary without content")?;
        refuse_unlikely_lengths(batch.data(), &body)?;
        let dictionaries = Arc::make_mut(&mut self.dictionaries);
        read_dictionary(&body, batch, &self.schema, dictionaries, &header.version())
            .map_err(|error| format!("a dictionary cannot be decoded: {error}"))
    }
}

impl Reader for IpcReader {
    fn columns(&self) -> &[FileColumn] {
        &self.fields
    }

    fn project(&mut self, columns: &[ProjectedColumn]) -> Result<()> {
        let (projection, columns) = plan_columns(columns, &self.fields, &self.types, &self.options)?;
        (self.projection, self.columns) = (Arc::new(projection), columns);
        Ok(())
    }

    fn crs(&self, column: &str) -> Option<String> {
        geometry::of_field(self.types.iter().map(|(field, _)| field).find(|field| field.name() == column)?)
    }

    fn decimal_ranges(&self, go_on: &dyn Fn() -> Result<()>) -> Result<Vec<(usize, DecimalRange)>> {
        let mut ranges = wide_decimals(&self.types, |position| origin(&self.types[position].0));
        if ranges.is_empty() {
            return Ok(ranges);
        }
        // Another reader, because this one stands at its beginning, and reads other columns.
        let mut reader = Self::new(self.file.clone(), &self.options)?;
        reader.projection = Arc::new(ranges.iter().map(|(position, _)| *position).collect());
        while let Some(batch) = reader.next_or_damaged()? {
            go_on()?;
            let arrays = batch.rows(0, batch.rows)?;
            for ((_, range), array) in ranges.iter_mut().zip(&arrays.columns) {
                observe(range, array);
            }
        }
        Ok(ranges)
    }

    fn next_piece(&mut self) -> Result<Option<Box<dyn Piece>>> {
        if self.current.as_ref().is_none_or(|(batch, given)| *given == batch.rows) {
            self.current = None;
            self.current = self.next_or_damaged()?.map(|batch| (batch, 0));
        }
        let Some((batch, given)) = &mut self.current else { return Ok(None) };
        let rows = batch.piece_rows.min(batch.rows - *given);
        let piece = IpcPiece {
            columns: self.columns.clone(),
            batch: batch.clone(),
            next: *given,
            end: *given + rows,
            rows,
            first_record: self.record,
        };
        *given += rows;
        self.record += rows;
        Ok(Some(Box::new(piece)))
    }
}

fn io_error(error: std::io::Error) -> String {
    error.to_string()
}

/// Returns schema and positions of messages of a file that begins with the magic.
fn open_file(file: &Positioned) -> Result<(SchemaRef, Walk), String> {
    const TRUNCATED: &str = "the file begins as an Arrow file and does not end as one: it is truncated";
    let trailer_at = file.len.checked_sub(TRAILER_BYTES).ok_or(TRUNCATED)?;
    let trailer = file.read(trailer_at, 10).map_err(io_error)?;
    let trailer = trailer.try_into().map_err(|_| TRUNCATED)?;
    let footer_len = read_footer_length(trailer).map_err(|_| TRUNCATED)?;
    let footer_at = trailer_at.checked_sub(footer_len as u64).ok_or("the footer is longer than the file")?;
    let footer = file.read(footer_at, footer_len).map_err(io_error)?;
    let footer = root_as_footer(&footer).map_err(|error| format!("the footer cannot be read: {error}"))?;
    let schema = schema_of(footer.schema())?;
    let blocks = footer.dictionaries().into_iter().flatten().chain(footer.recordBatches().into_iter().flatten());
    let position = |block: &arrow_ipc::Block| {
        let at = u64::try_from(block.offset()).map_err(|_| "a block before the file begins")?;
        let header_len = u64::try_from(block.metaDataLength()).map_err(|_| "a block without header")?;
        Ok((at, header_len))
    };
    let positions: Result<Vec<_>, &str> = blocks.map(position).collect();
    Ok((schema, Walk::File(positions?.into_iter())))
}

/// Returns the schema of a stream, and the position of its next message.
fn open_stream(file: &Positioned) -> Result<(SchemaRef, Walk), String> {
    const NO_ARROW: &str = "this is neither an Arrow IPC file nor a stream: it does not begin with a schema";
    let mut at = 0;
    let message = next_of_stream(file, &mut at).map_err(|_| NO_ARROW)?.ok_or(NO_ARROW)?;
    let header = root_as_message(&message.header).map_err(|_| NO_ARROW)?;
    let schema = header.header_as_schema().ok_or(NO_ARROW)?;
    Ok((schema_of(Some(schema))?, Walk::Stream(at)))
}

fn schema_of(schema: Option<arrow_ipc::Schema<'_>>) -> Result<SchemaRef, String> {
    let schema = schema.ok_or("the file has no schema")?;
    if !schema.endianness().equals_to_target_endianness() {
        return Err("its numbers have another byte order than this machine's".to_owned());
    }
    let schema = try_fb_to_schema(schema).map_err(|error| format!("the schema cannot be read: {error}"))?;
    Ok(Arc::new(schema))
}

/// Reads the header of the message at `at`. `whole_len` is the size of prefix and header in bytes, if known.
fn message_at(file: &Positioned, at: u64, whole_len: Option<u64>) -> Result<Message, String> {
    let mut start = at + 4;
    let mut len = file.read(at, 4).map_err(io_error)?;
    if len == CONTINUATION {
        len = file.read(start, 4).map_err(io_error)?;
        start += 4;
    }
    let len: [u8; 4] = len.try_into().map_err(|_| "a message without length")?;
    #[expect(clippy::little_endian_bytes, reason = "the Arrow format's own")]
    let len = u32::from_le_bytes(len);
    let header = file.read(start, len as usize).map_err(io_error)?;
    let body_at = whole_len.map_or(start + u64::from(len), |whole_len| at + whole_len);
    let body_len = if header.is_empty() {
        0
    } else {
        let message = root_as_message(&header).map_err(|error| format!("the header cannot be read: {error}"))?;
        u64::try_from(message.bodyLength()).map_err(|_| "a body of negative length")?
    };
    let end = body_at.checked_add(body_len).filter(|end| *end <= file.len);
    let end = end.ok_or_else(|| format!("the file ends within a message of {body_len} bytes"))?;
    Ok(Message { header, body: body_at..end })
}

/// Returns the next message of a stream, or `None` at its end, which may lack the end marker.
fn next_of_stream(file: &Positioned, at: &mut u64) -> Result<Option<Message>, String> {
    if *at == file.len {
        return Ok(None);
    }
    let message = message_at(file, *at, None)?;
    *at = message.body.end;
    Ok(if message.header.is_empty() { None } else { Some(message) })
}

fn read_body(file: &Positioned, message: &Message) -> Result<Buffer, String> {
    let len =
        usize::try_from(message.body.end - message.body.start).map_err(|_| "a body beyond this machine's memory")?;
    Ok(Buffer::from_vec(file.read(message.body.start, len).map_err(io_error)?))
}

/// Fails if the lengths of compressed buffers are impossible: the decoder would allocate that much memory at once.
fn refuse_unlikely_lengths(batch: Option<arrow_ipc::RecordBatch<'_>>, body: &[u8]) -> Result<(), String> {
    let Some(batch) = batch.filter(|batch| batch.compression().is_some()) else { return Ok(()) };
    let mut total = 0_u64;
    for buffer in batch.buffers().into_iter().flatten() {
        let at = usize::try_from(buffer.offset()).unwrap_or(usize::MAX);
        let Some(prefix) = body.get(at..).and_then(|body| body.first_chunk::<8>()) else { continue };
        #[expect(clippy::little_endian_bytes, reason = "the Arrow format's own")]
        let becomes = u64::try_from(i64::from_le_bytes(*prefix)).unwrap_or(0);
        let most = u64::try_from(buffer.length()).unwrap_or(0).saturating_mul(MOST_PER_BYTE);
        if buffer.length() > 0 && becomes > most {
            return Err(format!("a buffer of {} bytes cannot become {becomes}", buffer.length()));
        }
        total = total.saturating_add(if buffer.length() > 0 { becomes } else { 0 });
    }
    let can_be_had = usize::try_from(total).is_ok_and(|total| Vec::<u8>::new().try_reserve_exact(total).is_ok());
    if can_be_had { Ok(()) } else { Err(format!("it would take {total} bytes of memory")) }
}

impl SharedBatch {
    fn decode(&self) -> Result<RecordBatch, String> {
        let body = read_body(&self.file, &self.message)?;
        let read = self.message.header.len() as u64 + body.len() as u64;
        self.bytes_read.fetch_add(read, Ordering::Relaxed);
        let header = root_as_message(&self.message.header).map_err(|error| error.to_string())?;
        let batch = header.header_as_record_batch().ok_or("no record batch")?;
        refuse_unlikely_lengths(Some(batch), &body)?;
        let schema = self.schema.clone();
        let decoded =
            read_record_batch(&body, batch, schema, &self.dictionaries, Some(&self.projection), &header.version())
                .map_err(|error| error.to_string())?;
        if decoded.num_rows() as u64 == self.rows { Ok(decoded) } else { Err("rows are missing".to_owned()) }
    }

    /// Returns rows `start` to `end` of the batch, decoding it if no worker has.
    fn rows(&self, start: u64, end: u64) -> Result<Arrays> {
        let decoded = self.decoded.get_or_init(|| guard(|| self.decode()));
        let decoded = decoded.as_ref().map_err(|why| {
            self.file
                .damaged(format!("record batch {} cannot be decoded: {why}", self.number))
                .advise("the file is damaged: copy or write it again")
        })?;
        let index = |row: u64| usize::try_from(row).expect("rows of a batch in memory");
        let (start, rows) = (index(start), index(end - start));
        let columns = decoded.columns().iter().map(|column| column.slice(start, rows)).collect::<Vec<_>>();
        let companions = vec![None; columns.len()];
        Ok(Arrays { rows, columns, companions })
    }
}

/// Consecutive rows of a record batch.
struct IpcPiece {
    columns: Vec<Column>,
    batch: Arc<SharedBatch>,
    /// The next row to return.
    next: u64,
    end: u64,
    rows: u64,
    first_record: u64,
}

impl Piece for IpcPiece {
    fn first_record(&self) -> u64 {
        self.first_record
    }

    fn records(&self) -> u64 {
        self.rows
    }

    fn read(&mut self, batch: &mut Batch) -> Result<()> {
        if self.next == self.end {
            batch.clear(self.columns.len());
            return Ok(());
        }
        let arrays = self.batch.rows(self.next, self.end)?;
        convert::fill_batch(&mut self.columns, &arrays, 0, batch);
        self.next += batch.rows as u64;
        Ok(())
    }
}
