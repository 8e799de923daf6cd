//! Looks through what a Parquet file says of itself before its decoder does: the metadata, the headers of pages and the lists of pages, in
//! the compact protocol of Thrift.
//!
//! - The decoder builds the schema's tree recursively, and all code that walks the tree recurses, too. A file of some kilobytes can nest
//!   its schema some thousand levels deep, which would overflow the stack, and a stack overflow cannot be caught.
//! - It takes no byte for a boolean as it skips a list, so that a few bytes kept it busy for two thousand million items.
//! - It reads a field that it knows as the type that the field should have, whatever type the file states. Thrift leaves out a field of
//!   another type, as writers have that use numbers of their own.
//!
//! So it gets a copy of the metadata that has the fields which it knows, and no others. Headers and lists of pages, whose length counts, are
//! refused if they have what it misreads.

use crate::arrow::batches::MAX_DEPTH;

const TOO_DEEP: &str = "its schema is nested deeper than 64 levels";
const NO_THRIFT: &str = "it is not Thrift as Parquet has it";

/// The type of a field.
#[derive(Clone, Copy, Debug)]
enum Type {
    Bool,
    Byte,
    I16,
    I32,
    I64,
    Double,
    Binary,
    List(&'static Type),
    Struct(Fields),
    /// A struct with one field. The decoder names one that it does not know.
    Union(Fields),
}

/// The fields of a struct that the decoder knows, by their numbers. Numbers of `parquet.thrift`.
type Fields = &'static [(i16, Type)];

/// Type codes of the compact protocol.
mod code {
    pub const STOP: u8 = 0;
    pub const TRUE: u8 = 1;
    pub const FALSE: u8 = 2;
    pub const BYTE: u8 = 3;
    pub const I16: u8 = 4;
    pub const I32: u8 = 5;
    pub const I64: u8 = 6;
    pub const DOUBLE: u8 = 7;
    pub const BINARY: u8 = 8;
    pub const LIST: u8 = 9;
    pub const SET: u8 = 10;
    pub const MAP: u8 = 11;
    pub const STRUCT: u8 = 12;
    pub const UUID: u8 = 13;
}

/// The structs and unions of `parquet.thrift`. Enumerations are `I32`.
mod structs {
    use super::Fields;
    use super::Type::{Binary, Bool, Byte, Double, I16, I32, I64, List, Struct, Union};

    const EMPTY: Fields = &[];
    const TIME_UNIT: Fields = &[(1, Struct(EMPTY)), (2, Struct(EMPTY)), (3, Struct(EMPTY))];
    const TIME: Fields = &[(1, Bool), (2, Union(TIME_UNIT))];
    const LOGICAL_TYPE: Fields = &[
        (1, Struct(EMPTY)),
        (2, Struct(EMPTY)),
        (3, Struct(EMPTY)),
        (4, Struct(EMPTY)),
        (5, Struct(&[(1, I32), (2, I32)])),
        (6, Struct(EMPTY)),
        (7, Struct(TIME)),
        (8, Struct(TIME)),
        (10, Struct(&[(1, Byte), (2, Bool)])),
        (11, Struct(EMPTY)),
        (12, Struct(EMPTY)),
        (13, Struct(EMPTY)),
        (14, Struct(EMPTY)),
        (15, Struct(EMPTY)),
        (16, Struct(&[(1, Byte)])),
        (17, Struct(&[(1, Binary)])),
        (18, Struct(&[(1, Binary), (2, I32)])),
        (19, Struct(EMPTY)),
    ];
    pub const SCHEMA_ELEMENT: Fields = &[
        (1, I32),
        (2, I32),
        (3, I32),
        (4, Binary),
        (5, I32),
        (6, I32),
        (7, I32),
        (8, I32),
        (9, I32),
        (10, Union(LOGICAL_TYPE)),
    ];
    const STATISTICS: Fields =
        &[(1, Binary), (2, Binary), (3, I64), (4, I64), (5, Binary), (6, Binary), (7, Bool), (8, Bool), (9, I64)];
    const BOUNDING_BOX: Fields =
        &[(1, Double), (2, Double), (3, Double), (4, Double), (5, Double), (6, Double), (7, Double), (8, Double)];
    const KEY_VALUE: Fields = &[(1, Binary), (2, Binary)];
    const COLUMN_META_DATA: Fields = &[
        (1, I32),
        (2, List(&I32)),
        (3, List(&Binary)),
        (4, I32),
        (5, I64),
        (6, I64),
        (7, I64),
        (8, List(&Struct(KEY_VALUE))),
        (9, I64),
        (10, I64),
        (11, I64),
        (12, Struct(STATISTICS)),
        (13, List(&Struct(&[(1, I32), (2, I32), (3, I32)]))),
        (14, I64),
        (15, I32),
        (16, Struct(&[(1, I64), (2, List(&I64)), (3, List(&I64))])),
        (17, Struct(&[(1, Struct(BOUNDING_BOX)), (2, List(&I32))])),
    ];
    const COLUMN_CHUNK: Fields =
        &[(1, Binary), (2, I64), (3, Struct(COLUMN_META_DATA)), (4, I64), (5, I32), (6, I64), (7, I32)];
    const SORTING_COLUMN: Fields = &[(1, I32), (2, Bool), (3, Bool)];
    const ROW_GROUP: Fields = &[
        (1, List(&Struct(COLUMN_CHUNK))),
        (2, I64),
        (3, I64),
        (4, List(&Struct(SORTING_COLUMN))),
        (5, I64),
        (6, I64),
        (7, I16),
    ];
    pub const FILE_META_DATA: Fields = &[
        (1, I32),
        (2, List(&Struct(SCHEMA_ELEMENT))),
        (3, I64),
        (4, List(&Struct(ROW_GROUP))),
        (5, List(&Struct(KEY_VALUE))),
        (6, Binary),
        (7, List(&Union(&[(1, Struct(EMPTY)), (2, Struct(EMPTY)), (3, Struct(EMPTY))]))),
    ];
    pub const DICTIONARY_PAGE_HEADER: Fields = &[(1, I32), (2, I32), (3, Bool)];
    const DATA_PAGE_HEADER: Fields = &[(1, I32), (2, I32), (3, I32), (4, I32), (5, Struct(STATISTICS))];
    const DATA_PAGE_HEADER_V2: Fields =
        &[(1, I32), (2, I32), (3, I32), (4, I32), (5, I32), (6, I32), (7, Bool), (8, Struct(STATISTICS))];
    pub const PAGE_HEADER: Fields = &[
        (1, I32),
        (2, I32),
        (3, I32),
        (4, I32),
        (5, Struct(DATA_PAGE_HEADER)),
        (6, Struct(EMPTY)),
        (7, Struct(DICTIONARY_PAGE_HEADER)),
        (8, Struct(DATA_PAGE_HEADER_V2)),
    ];
    pub const OFFSET_INDEX: Fields = &[(1, List(&Struct(&[(1, I64), (2, I32), (3, I64)]))), (2, List(&I64))];
}

impl Type {
    fn has_code(self, code: u8) -> bool {
        match self {
            Self::Bool => matches!(code, code::TRUE | code::FALSE),
            Self::Byte => code == code::BYTE,
            Self::I16 => code == code::I16,
            Self::I32 => code == code::I32,
            Self::I64 => code == code::I64,
            Self::Double => code == code::DOUBLE,
            Self::Binary => code == code::BINARY,
            Self::List(_) => code == code::LIST,
            Self::Struct(_) | Self::Union(_) => code == code::STRUCT,
        }
    }
}

/// Returns the metadata of a file (`FileMetaData`) with the fields that the decoder knows, and no others.
///
/// # Errors
/// If it is not Thrift, or its schema is too deep.
pub(super) fn known_metadata(metadata: &[u8]) -> Result<Vec<u8>, &'static str> {
    const SCHEMA: i16 = 2;
    let mut thrift = CompactReader { bytes: metadata, copy: Some(Vec::with_capacity(metadata.len())) };
    let mut at = FieldIds::default();
    while let Some(of) = thrift.field(structs::FILE_META_DATA, &mut at)? {
        if at.id == SCHEMA {
            thrift.schema()?;
        } else {
            thrift.value(of)?;
        }
    }
    Ok(thrift.copy.unwrap_or_default())
}

/// Fails if a list of the pages of a column (`OffsetIndex`) is not as Parquet has it.
pub(super) fn refuse_offset_index(index: &[u8]) -> Result<(), &'static str> {
    CompactReader { bytes: index, copy: None }.value(Type::Struct(structs::OFFSET_INDEX))
}

/// What the header of a page (`PageHeader`) says.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct PageHeader {
    /// Bytes of the header itself.
    pub header_bytes: usize,
    /// Bytes of the page in the file.
    pub bytes: u64,
    /// Its bytes once they are unpacked.
    pub uncompressed_bytes: u64,
    /// Number of values, if it is a dictionary.
    pub dictionary_values: u64,
}

impl PageHeader {
    /// Reads the header at the beginning of a page.
    pub fn read(page: &[u8]) -> Result<Self, &'static str> {
        const UNCOMPRESSED_SIZE: i16 = 2;
        const COMPRESSED_SIZE: i16 = 3;
        const DICTIONARY: i16 = 7;
        const NUM_VALUES: i16 = 1;
        let (mut thrift, mut at, mut header) =
            (CompactReader { bytes: page, copy: None }, FieldIds::default(), Self::default());
        while let Some(of) = thrift.field(structs::PAGE_HEADER, &mut at)? {
            match at.id {
                UNCOMPRESSED_SIZE => header.uncompressed_bytes = thrift.size()?,
                COMPRESSED_SIZE => header.bytes = thrift.size()?,
                DICTIONARY => {
                    let mut at = FieldIds::default();
                    while let Some(of) = thrift.field(structs::DICTIONARY_PAGE_HEADER, &mut at)? {
                        match at.id {
                            NUM_VALUES => header.dictionary_values = thrift.size()?,
                            _ => thrift.value(of)?,
                        }
                    }
                }
                _ => thrift.value(of)?,
            }
        }
        header.header_bytes = page.len() - thrift.bytes.len();
        Ok(header)
    }
}

struct CompactReader<'a> {
    bytes: &'a [u8],
    /// A copy of the fields that the decoder knows. `None` if it gets these bytes, and no copy.
    copy: Option<Vec<u8>>,
}

/// Numbers of fields: each is written as the difference to the one before.
#[derive(Default)]
struct FieldIds {
    id: i16,
    /// That of the last field in the copy.
    copied: i16,
    is_union: bool,
}

impl CompactReader<'_> {
    fn byte(&mut self) -> Result<u8, &'static str> {
        let byte = *self.bytes.first().ok_or(NO_THRIFT)?;
        self.pass(1)?;
        Ok(byte)
    }

    fn pass(&mut self, bytes: u64) -> Result<(), &'static str> {
        let bytes = usize::try_from(bytes).map_err(|_| NO_THRIFT)?;
        let (passed, rest) = self.bytes.split_at_checked(bytes).ok_or(NO_THRIFT)?;
        if let Some(copy) = &mut self.copy {
            copy.extend_from_slice(passed);
        }
        self.bytes = rest;
        Ok(())
    }

    fn varint(&mut self) -> Result<u64, &'static str> {
        let mut value = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            value |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Ok(value);
            }
        }
        Err(NO_THRIFT)
    }

    fn signed(&mut self) -> Result<i64, &'static str> {
        let zigzag = self.varint()?;
        Ok((zigzag >> 1).cast_signed() ^ -((zigzag & 1).cast_signed()))
    }

    /// Returns a number of 32 bits. The decoder would leave the bits of a longer one out.
    fn number(&mut self) -> Result<i32, &'static str> {
        i32::try_from(self.signed()?).map_err(|_| NO_THRIFT)
    }

    /// Returns a number of 32 bits that cannot be negative.
    fn size(&mut self) -> Result<u64, &'static str> {
        u64::try_from(self.number()?).map_err(|_| NO_THRIFT)
    }

    /// Returns the type of the next field of a struct that the decoder knows; `None` at the end. Skips others.
    fn field(&mut self, fields: Fields, at: &mut FieldIds) -> Result<Option<Type>, &'static str> {
        loop {
            let code = self.uncopied(|thrift| thrift.next_field(&mut at.id))?;
            let Some(code) = code else {
                self.copy.iter_mut().for_each(|copy| copy.push(code::STOP));
                return Ok(None);
            };
            let known = fields.iter().find(|(id, _)| *id == at.id).map(|(_, of)| *of);
            if let Some(of) = known.filter(|of| of.has_code(code)) {
                self.copy.iter_mut().for_each(|copy| at.write(code, copy));
                return Ok(Some(of));
            }
            let is_copied = self.copy.is_some();
            if known.is_some() && !is_copied {
                return Err(NO_THRIFT);
            }
            self.uncopied(|thrift| thrift.skip(code, 0, is_copied))?;
            if let Some(copy) = self.copy.as_mut().filter(|_| at.is_union) {
                at.write(code::STRUCT, copy);
                copy.push(code::STOP);
            }
        }
    }

    /// Reads what does not go to the copy.
    fn uncopied<T>(&mut self, read: impl FnOnce(&mut Self) -> T) -> T {
        let copy = self.copy.take();
        let done = read(self);
        self.copy = copy;
        done
    }

    /// Returns the type code of the next field of a struct, and its number in `id`; `None` at the end.
    fn next_field(&mut self, id: &mut i16) -> Result<Option<u8>, &'static str> {
        let header = self.byte()?;
        let code = header & 15;
        if code == code::STOP {
            return Ok(None);
        }
        *id = match header >> 4 {
            0 => i16::try_from(self.signed()?).map_err(|_| NO_THRIFT)?,
            delta => id.checked_add(i16::from(delta)).ok_or(NO_THRIFT)?,
        };
        Ok(Some(code))
    }

    /// Passes a value of a type.
    fn value(&mut self, of: Type) -> Result<(), &'static str> {
        match of {
            Type::Bool => Ok(()),
            Type::Byte => self.pass(1),
            Type::I16 | Type::I32 | Type::I64 => self.varint().map(drop),
            Type::Double => self.pass(8),
            Type::Binary => self.binary(),
            Type::List(&item) => {
                let len = self.list(item)?;
                (0..len).try_for_each(|_| self.value(item))
            }
            Type::Struct(fields) | Type::Union(fields) => {
                let mut at = FieldIds { is_union: matches!(of, Type::Union(_)), ..FieldIds::default() };
                while let Some(of) = self.field(fields, &mut at)? {
                    self.value(of)?;
                }
                Ok(())
            }
        }
    }

    fn binary(&mut self) -> Result<(), &'static str> {
        let bytes = self.varint()?;
        self.pass(bytes)
    }

    /// Returns the number of items of a list, whose type is known.
    fn list(&mut self, item: Type) -> Result<u64, &'static str> {
        let (code, len) = self.list_header()?;
        if len == 0 || item.has_code(code) { Ok(len) } else { Err(NO_THRIFT) }
    }

    /// Returns the type code and number of a list's items.
    fn list_header(&mut self) -> Result<(u8, u64), &'static str> {
        let header = self.byte()?;
        let len = if header >> 4 == 15 { self.varint()? } else { u64::from(header >> 4) };
        Ok((header & 15, len))
    }

    /// Skips a value of a field that the decoder does not know. Booleans of lists take a byte; they are refused unless `takes_booleans`, for
    /// the decoder takes none.
    fn skip(&mut self, code: u8, depth: usize, takes_booleans: bool) -> Result<(), &'static str> {
        if depth > MAX_DEPTH {
            return Err(NO_THRIFT);
        }
        let item = |thrift: &mut Self, code| match code {
            code::TRUE | code::FALSE if takes_booleans => thrift.pass(1),
            code::TRUE | code::FALSE => Err(NO_THRIFT),
            _ => thrift.skip(code, depth + 1, takes_booleans),
        };
        match code {
            code::TRUE | code::FALSE => Ok(()),
            code::BYTE => self.pass(1),
            code::I16 | code::I32 | code::I64 => self.varint().map(drop),
            code::DOUBLE => self.pass(8),
            code::BINARY => self.binary(),
            code::UUID => self.pass(16),
            code::LIST | code::SET => {
                let (code, len) = self.list_header()?;
                (0..len).try_for_each(|_| item(self, code))
            }
            code::MAP => {
                let len = self.varint()?;
                let codes = if len > 0 { self.byte()? } else { 0 };
                (0..len).try_for_each(|_| item(self, codes >> 4).and_then(|()| item(self, codes & 15)))
            }
            code::STRUCT => {
                let mut id = 0;
                while let Some(code) = self.next_field(&mut id)? {
                    self.skip(code, depth + 1, takes_booleans)?;
                }
                Ok(())
            }
            _ => Err(NO_THRIFT),
        }
    }

    /// Checks the list of a schema's elements, in which groups come before their children.
    fn schema(&mut self) -> Result<(), &'static str> {
        let len = self.list(Type::Struct(structs::SCHEMA_ELEMENT))?;
        // Number of missing children of each open group.
        let mut open: Vec<i32> = Vec::new();
        for _ in 0..len {
            let children = self.schema_element()?;
            if let Some(missing) = open.last_mut() {
                *missing -= 1;
            }
            if children > 0 {
                open.push(children);
            }
            while open.last() == Some(&0) {
                open.pop();
            }
            // The root does not count as a level.
            if open.len() > MAX_DEPTH + 1 {
                return Err(TOO_DEEP);
            }
        }
        Ok(())
    }

    /// Passes an element of a schema, and returns the number of its children.
    fn schema_element(&mut self) -> Result<i32, &'static str> {
        const NUM_CHILDREN: i16 = 5;
        let (mut at, mut children) = (FieldIds::default(), 0);
        while let Some(of) = self.field(structs::SCHEMA_ELEMENT, &mut at)? {
            match at.id {
                NUM_CHILDREN => children = self.number()?,
                _ => self.value(of)?,
            }
        }
        Ok(children)
    }
}

impl FieldIds {
    /// Writes the type code and number of a field.
    fn write(&mut self, code: u8, copy: &mut Vec<u8>) {
        match self.id.checked_sub(self.copied) {
            Some(delta @ 1..=15) => copy.push(u8::try_from(delta).expect("at most 15") << 4 | code),
            _ => {
                copy.push(code);
                let mut zigzag = ((self.id << 1) ^ (self.id >> 15)).cast_unsigned();
                while zigzag >= 0x80 {
                    copy.push(u8::try_from(zigzag & 0x7f).expect("7 bits") | 0x80);
                    zigzag >>= 7;
                }
                copy.push(u8::try_from(zigzag).expect("7 bits"));
            }
        }
        self.copied = self.id;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A file of 3 kB took 15 GB for a dictionary that said it had two thousand million values, and a list of booleans behind the other
    /// fields of a header kept the decoder busy.
    #[test]
    fn headers_of_pages_are_read() {
        let header = [0x15, 4, 0x15, 200, 1, 0x15, 100, 0x4C, 0x15, 14, 0x15, 0, 0x11, 0, 0];
        let page = [&header[..], b"data"].concat();
        let read = PageHeader { header_bytes: header.len(), bytes: 50, uncompressed_bytes: 100, dictionary_values: 7 };
        assert_eq!(PageHeader::read(&page), Ok(read));
        for end in 0..header.len() {
            assert_eq!(PageHeader::read(&header[..end]), Err(NO_THRIFT));
        }
        assert_eq!(PageHeader::read(&[0x15, 4, 0x15, 3, 0]), Err(NO_THRIFT), "a size below zero");
        assert_eq!(
            PageHeader::read(&[0x15, 4, 0x89, 0xF1, 255, 255, 255, 255, 7, 0]),
            Err(NO_THRIFT),
            "a list of booleans"
        );
        assert!(PageHeader::read(&[0x15, 4, 0x89, 0x23, 1, 2, 0]).is_ok(), "a list of bytes");
    }

    /// The decoder reads field 4 as a name, whatever its type, and came to a list of two thousand million booleans behind it that was not
    /// seen. A writer that has numbers of its own was refused, where Thrift leaves such fields out.
    #[test]
    fn the_decoder_gets_what_it_knows() {
        let metadata = |element: &[u8]| [&[0x15, 2, 0x19, 0x1C], element, &[0, 0]].concat();
        let name = [0x48, 1, b'a'];
        let known = metadata(&name);
        assert_eq!(known_metadata(&known).as_ref(), Ok(&known));
        for others in [
            &[0x19, 0x23, 7, 8][..],
            &[0x19, 0x21, 1, 2],
            &[0x8B, 1, 0x31, 5, 1],
            &[0xFC, 0x15, 1, 0],
            &[0x0D, 0x80, 0x20, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16],
        ] {
            let element = [&name, others].concat();
            assert_eq!(known_metadata(&metadata(&element)).as_ref(), Ok(&known), "{others:x?}");
        }
        let union = metadata(&[&name, &[0x6C, 0x9C, 0, 0][..]].concat());
        let other = metadata(&[&name, &[0x6C, 0x98, 2, b'x', b'y', 0][..]].concat());
        assert_eq!(known_metadata(&other).as_ref(), Ok(&union), "a logical type that is known only by its number, 9");
        let version_behind =
            [0x15, 2, 0x19, 0x1C, 0x48, 1, b'a', 0x09, 0x90, 0x01, 0x18, 1, b'b', 0x08, 8, 1, b'c', 0, 0];
        let without = [0x15, 2, 0x19, 0x1C, 0x48, 1, b'a', 0x08, 8, 1, b'c', 0, 0];
        assert_eq!(known_metadata(&version_behind).as_deref(), Ok(&without[..]), "numbers that go back");
        for broken in [&[0x49, 0x13, 7][..], &[0x19, 0xF1, 255, 255, 255, 255, 7], &[8, 0x88, 0x80, 0x08, 0]] {
            let cut_off = [&[0x15, 2, 0x19, 0x1C][..], &name, broken].concat();
            assert_eq!(known_metadata(&cut_off), Err(NO_THRIFT), "{broken:x?}");
        }
    }

    /// The decoder takes 32 bits of longer numbers, so that groups had other children, and pages other sizes.
    #[test]
    fn numbers_have_32_bits() {
        let long = [0x15, 0x84, 0x80, 0x80, 0x80, 0x20];
        let element = [&[0x15, 2, 0x19, 0x1C, 0x48, 1, b'a'], &long[..], &[0, 0]].concat();
        assert_eq!(known_metadata(&element), Err(NO_THRIFT));
        assert_eq!(PageHeader::read(&[&[0x15, 4], &long[..], &[0]].concat()), Err(NO_THRIFT));
    }

    /// A list of pages that said it has two thousand million was room for as many, and a list of booleans behind it was skipped one by one.
    #[test]
    fn lists_of_pages_are_looked_through() {
        let page = [0x16, 8, 0x15, 100, 0x16, 0, 0];
        let index = |head: &[u8], behind: &[u8]| [head, &page, behind, &[0]].concat();
        assert_eq!(refuse_offset_index(&index(&[0x19, 0x1C], &[])), Ok(()));
        assert_eq!(refuse_offset_index(&index(&[0x19, 0x1C], &[0x19, 0x16, 10])), Ok(()));
        assert_eq!(refuse_offset_index(&index(&[0x19, 0xFC, 255, 255, 255, 255, 7], &[])), Err(NO_THRIFT));
        assert_eq!(refuse_offset_index(&index(&[0x19, 0x1C], &[0x29, 0xF1, 255, 255, 255, 255, 7])), Err(NO_THRIFT));
    }
}
