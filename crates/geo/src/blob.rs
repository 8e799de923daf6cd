//! GeoPackageBinary (clause 2.1.3).
//!
//! ```text
//! | 'G' 'P' | version 0 | flags | srs_id, 4 bytes | min x, max x, min y, max y | ISO WKB |
//!                         |                         not of points and empty geometries
//!                         bit 0: little-endian; bits 1 to 3: 1 with an envelope; bit 4: empty
//! ```
#![expect(clippy::little_endian_bytes, reason = "well-known binary, which may have either order")]

use crate::wkb::{self, Geometry, kind};
use crate::{GeometryError, text};

const MAGIC: &[u8] = b"GP";
const LITTLE_ENDIAN: u8 = 1;
const ENVELOPE_XY: u8 = 1 << 1;
const EMPTY: u8 = 1 << 4;
/// Bytes of a header without envelope.
const HEADER_BYTES: usize = 8;
const ENVELOPE_BYTES: usize = 32;

/// A value that should be a geometry.
#[derive(Clone, Copy, Debug)]
pub enum Given<'v> {
    /// WKB, EWKB or GeoPackageBinary.
    Bytes(&'v [u8]),
    /// WKT, EWKT, GeoJSON, or hexadecimal digits of bytes.
    Text(&'v str),
    /// A position.
    Position(f64, f64),
}

/// A geometry that was stored.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stored {
    /// The geometry.
    pub geometry: Geometry,
    /// The SRID that the value itself named.
    pub srid: Option<i32>,
}

/// Appends the GeoPackageBinary of a value to `out`.
///
/// # Errors
/// If the value is no geometry.
pub fn append_blob(given: Given<'_>, srs_id: i32, out: &mut Vec<u8>) -> Result<Stored, GeometryError> {
    match given {
        Given::Position(x, y) => {
            let mut point = [0; 21];
            point[0] = LITTLE_ENDIAN;
            point[1..5].copy_from_slice(&kind::POINT.to_le_bytes());
            point[5..13].copy_from_slice(&x.to_le_bytes());
            point[13..].copy_from_slice(&y.to_le_bytes());
            append_wkb(&point, srs_id, out)
        }
        Given::Text(text) => {
            let mut bytes = Vec::new();
            let srid = text::append_wkb(text, &mut bytes)?;
            let stored = append_blob(Given::Bytes(&bytes), srs_id, out)?;
            Ok(Stored { srid: srid.or(stored.srid), ..stored })
        }
        Given::Bytes(bytes) if bytes.starts_with(MAGIC) => {
            let (srid, bytes) = split_blob(bytes)?;
            Ok(Stored { srid: Some(srid), ..append_wkb(bytes, srs_id, out)? })
        }
        Given::Bytes(bytes) => append_wkb(bytes, srs_id, out),
    }
}

/// Splits GeoPackageBinary. Returns its srs_id and the WKB.
///
/// # Errors
/// If the header is none, or the geometry is of an extension.
pub fn split_blob(bytes: &[u8]) -> Result<(i32, &[u8]), GeometryError> {
    let Some((&[_, _, version, flags, a, b, c, d], rest)) = bytes.split_first_chunk::<HEADER_BYTES>() else {
        return Err(GeometryError::new("its GeoPackage header ends in the middle"));
    };
    if version != 0 || flags & 1 << 5 != 0 {
        return Err(GeometryError::new("its GeoPackage header is of an extension"));
    }
    let envelope = match flags >> 1 & 7 {
        0 => 0,
        1 => ENVELOPE_BYTES,
        2 | 3 => 48,
        4 => 64,
        _ => return Err(GeometryError::new("its GeoPackage header has an unknown envelope")),
    };
    let srs_id = [a, b, c, d];
    let srs_id = if flags & LITTLE_ENDIAN == 0 { i32::from_be_bytes(srs_id) } else { i32::from_le_bytes(srs_id) };
    let wkb = rest.get(envelope..).ok_or_else(|| GeometryError::new("its GeoPackage header ends in the middle"))?;
    Ok((srs_id, wkb))
}

fn append_wkb(bytes: &[u8], srs_id: i32, out: &mut Vec<u8>) -> Result<Stored, GeometryError> {
    let start = out.len();
    out.resize(start + HEADER_BYTES + ENVELOPE_BYTES, 0);
    let geometry = wkb::append_iso(bytes, out).inspect_err(|_| out.truncate(start))?;
    let header = start..start + HEADER_BYTES;
    let flags = match geometry.envelope.filter(|_| geometry.kind != kind::POINT) {
        Some(envelope) => {
            let (numbers, _) = out[header.end..][..ENVELOPE_BYTES].as_chunks_mut();
            numbers.iter_mut().zip(envelope).for_each(|(bytes, number)| *bytes = number.to_le_bytes());
            LITTLE_ENDIAN | ENVELOPE_XY
        }
        None => {
            out.drain(header.end..header.end + ENVELOPE_BYTES);
            if geometry.envelope.is_none() { LITTLE_ENDIAN | EMPTY } else { LITTLE_ENDIAN }
        }
    };
    out[header.clone()][..4].copy_from_slice(&[MAGIC[0], MAGIC[1], 0, flags]);
    out[header][4..].copy_from_slice(&srs_id.to_le_bytes());
    Ok(Stored { geometry, srid: geometry.srid })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn blob(given: Given<'_>) -> Vec<u8> {
        let mut out = b"before".to_vec();
        append_blob(given, 4326, &mut out).unwrap();
        out.split_off(6)
    }

    #[test]
    fn points_have_no_envelope_and_others_have_one() {
        let point = blob(Given::Position(1.5, -2.0));
        assert_eq!(point[..8], [b'G', b'P', 0, 1, 0xe6, 0x10, 0, 0]);
        assert_eq!(point.len(), 8 + 21);
        let line = blob(Given::Text("LINESTRING (1 2, 5 -3)"));
        assert_eq!(line[3], 3);
        let numbers: Vec<f64> =
            line[8..40].chunks(8).map(|bytes| f64::from_le_bytes(bytes.try_into().unwrap())).collect();
        assert_eq!(numbers, [1.0, 5.0, -3.0, 2.0]);
        let empty = blob(Given::Text("POLYGON EMPTY"));
        assert_eq!((empty[3], empty.len()), (0x11, 8 + 9));
    }

    #[test]
    fn a_stored_blob_is_stored_again() {
        for text in ["LINESTRING Z (1 2 3, 5 -3 7)", "POINT (3 4)", "MULTIPOLYGON EMPTY"] {
            let first = blob(Given::Text(text));
            assert_eq!(blob(Given::Bytes(&first)), first, "{text}");
            // The hex() of a geometry was refused for its byte order.
            let digits: String = first.iter().map(|byte| format!("{byte:02X}")).collect();
            assert_eq!(blob(Given::Text(&digits)), first, "{text}");
            assert_eq!(split_blob(&first).unwrap().0, 4326);
        }
        for bytes in
            [&b"GP"[..], b"GP\x01\x01\0\0\0\0", b"GP\0\x21\0\0\0\0", b"GP\0\x0f\0\0\0\0", b"GP\0\x03\0\0\0\0abc"]
        {
            assert!(split_blob(bytes).is_err(), "{bytes:?}");
        }
        let mut out = b"kept".to_vec();
        assert!(append_blob(Given::Bytes(b"\x01\x01"), 0, &mut out).is_err());
        assert_eq!(out, b"kept");
    }
}
