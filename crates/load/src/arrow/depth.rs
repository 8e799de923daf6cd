//! Limits the nesting of a Parquet file's schema, before a decoder sees it, and reads the headers of pages.
//!
//! The decoder builds the schema's tree recursively, and all code that walks the tree recurses, too. A file of some kilobytes can
//! nest its schema some thousand levels deep, which would overflow the stack, and a stack overflow cannot be caught. So this
//! module scans the metadata first: Thrift in the compact protocol. For Arrow IPC, the check of FlatBuffers refuses such schemas.
//!
//! It also refuses lists of booleans, which no field of the metadata or of a header is. The decoder takes no byte for such an item as it skips a list,
//! so that a few bytes kept it busy for two thousand million items.

/// Maximum depth of groups in a Parquet schema, equal to that of Arrow schemas.
pub(super) const MAX_DEPTH: usize = 64;

const TOO_DEEP: &str = "its schema is nested deeper than 64 levels";
const NO_THRIFT: &str = "it is not Thrift as Parquet has it";

/// Type codes of the compact protocol.
mod kind {
    pub const STOP: u8 = 0;
    pub const I32: u8 = 5;
    pub const LIST: u8 = 9;
    pub const STRUCT: u8 = 12;
}

/// Field numbers of `FileMetaData` and `SchemaElement`.
const SCHEMA: i64 = 2;
const NUM_CHILDREN: i64 = 5;

/// Fails if the schema in a Parquet file's metadata (`FileMetaData`) is too deep.
pub(super) fn refuse_deep_schema(metadata: &[u8]) -> Result<(), &'static str> {
    let mut thrift = CompactReader { bytes: metadata };
    let mut id = 0;
    while let Some(kind) = thrift.field(&mut id)? {
        if id == SCHEMA && kind == kind::LIST {
            thrift.schema()?;
        } else {
            thrift.skip(kind, 0)?;
        }
    }
    Ok(())
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
        /// Field numbers of `PageHeader`, and of `DictionaryPageHeader`.
        const UNCOMPRESSED_SIZE: i64 = 2;
        const COMPRESSED_SIZE: i64 = 3;
        const DICTIONARY: i64 = 7;
        const NUM_VALUES: i64 = 1;
        let (mut thrift, mut id, mut header) = (CompactReader { bytes: page }, 0, Self::default());
        while let Some(kind) = thrift.field(&mut id)? {
            match (id, kind) {
                (UNCOMPRESSED_SIZE, kind::I32) => header.uncompressed_bytes = thrift.size()?,
                (COMPRESSED_SIZE, kind::I32) => header.bytes = thrift.size()?,
                (DICTIONARY, kind::STRUCT) => {
                    let mut id = 0;
                    while let Some(kind) = thrift.field(&mut id)? {
                        match (id, kind) {
                            (NUM_VALUES, kind::I32) => header.dictionary_values = thrift.size()?,
                            _ => thrift.skip(kind, 1)?,
                        }
                    }
                }
                _ => thrift.skip(kind, 0)?,
            }
        }
        header.header_bytes = page.len() - thrift.bytes.len();
        Ok(header)
    }
}

struct CompactReader<'a> {
    bytes: &'a [u8],
}

impl CompactReader<'_> {
    fn byte(&mut self) -> Result<u8, &'static str> {
        let (&first, rest) = self.bytes.split_first().ok_or(NO_THRIFT)?;
        self.bytes = rest;
        Ok(first)
    }

    fn pass(&mut self, bytes: u64) -> Result<(), &'static str> {
        let bytes = usize::try_from(bytes).map_err(|_| NO_THRIFT)?;
        self.bytes = self.bytes.get(bytes..).ok_or(NO_THRIFT)?;
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

    /// Returns a number that cannot be negative.
    fn size(&mut self) -> Result<u64, &'static str> {
        u64::try_from(self.signed()?).map_err(|_| NO_THRIFT)
    }

    /// Returns the type of the next field of a struct, and its number in `id`; `None` at the end.
    fn field(&mut self, id: &mut i64) -> Result<Option<u8>, &'static str> {
        let header = self.byte()?;
        let kind = header & 15;
        if kind == kind::STOP {
            return Ok(None);
        }
        *id = match header >> 4 {
            0 => self.signed()?,
            // Valid numbers have 16 bits. Wrapping keeps a damaged one from causing a panic.
            delta => id.wrapping_add(i64::from(delta)),
        };
        Ok(Some(kind))
    }

    /// Returns the type and number of a list's items.
    fn list(&mut self) -> Result<(u8, u64), &'static str> {
        let header = self.byte()?;
        let len = if header >> 4 == 15 { self.varint()? } else { u64::from(header >> 4) };
        Ok((header & 15, len))
    }

    fn skip(&mut self, kind: u8, depth: usize) -> Result<(), &'static str> {
        if depth > MAX_DEPTH {
            return Err(NO_THRIFT);
        }
        match kind {
            1 | 2 => Ok(()),
            3 => self.pass(1),
            4..=6 => self.varint().map(drop),
            7 => self.pass(8),
            8 => {
                let bytes = self.varint()?;
                self.pass(bytes)
            }
            kind::LIST | 10 => {
                let (item, len) = self.list()?;
                (0..len).try_for_each(|_| self.skip_item(item, depth + 1))
            }
            11 => {
                let len = self.varint()?;
                let kinds = if len > 0 { self.byte()? } else { 0 };
                (0..len).try_for_each(|_| {
                    self.skip_item(kinds >> 4, depth + 1)?;
                    self.skip_item(kinds & 15, depth + 1)
                })
            }
            kind::STRUCT => {
                let mut id = 0;
                while let Some(kind) = self.field(&mut id)? {
                    self.skip(kind, depth + 1)?;
                }
                Ok(())
            }
            _ => Err(NO_THRIFT),
        }
    }

    /// Skips an item of a list or map, which is no boolean.
    fn skip_item(&mut self, kind: u8, depth: usize) -> Result<(), &'static str> {
        if matches!(kind, 1 | 2) { Err(NO_THRIFT) } else { self.skip(kind, depth) }
    }

    /// Checks the list of a schema's elements, in which groups come before their children.
    fn schema(&mut self) -> Result<(), &'static str> {
        let (item, len) = self.list()?;
        if item != kind::STRUCT {
            return Err(NO_THRIFT);
        }
        // Number of missing children of each open group.
        let mut open: Vec<i64> = Vec::new();
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

    fn schema_element(&mut self) -> Result<i64, &'static str> {
        let (mut id, mut children) = (0, 0);
        while let Some(kind) = self.field(&mut id)? {
            match (id, kind) {
                (NUM_CHILDREN, kind::I32) => children = self.signed()?,
                (NUM_CHILDREN, _) => return Err(NO_THRIFT),
                _ => self.skip(kind, 0)?,
            }
        }
        Ok(children)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A file of 3 kB took 15 GB for a dictionary that said it had two thousand million values, and a list of booleans behind the other
    /// fields of a header kept the decoder busy.
    #[test]
    fn headers_of_pages_are_read() {
        let header = [0x15, 4, 0x15, 200, 1, 0x15, 100, 0x4C, 0x15, 14, 0x11, 0, 0];
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
}
