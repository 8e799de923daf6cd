//! Well-known binary: ISO (types from 1000 on have Z or M) and extended (flags in the type, an SRID behind it).
//!
//! A geometry is walked once: it is checked, copied in ISO form, and its box is found. Curves are boxed by their control
//! points, as other writers of GeoPackages do.
#![expect(clippy::little_endian_bytes, reason = "well-known binary, which may have either order")]

use crate::GeometryError;

/// The deepest nesting of collections. A value of a megabyte could nest a hundred thousand.
pub(crate) const MOST_NESTED: usize = 32;

/// Flags of the extended form.
const EWKB_Z: u32 = 1 << 31;
const EWKB_M: u32 = 1 << 30;
const EWKB_SRID: u32 = 1 << 29;

/// Types of geometries, without Z and M.
pub mod kind {
    /// One position.
    pub const POINT: u32 = 1;
    /// Positions along a line.
    pub const LINE_STRING: u32 = 2;
    /// Rings of positions.
    pub const POLYGON: u32 = 3;
    /// Points.
    pub const MULTI_POINT: u32 = 4;
    /// Line strings.
    pub const MULTI_LINE_STRING: u32 = 5;
    /// Polygons.
    pub const MULTI_POLYGON: u32 = 6;
    /// Any geometries.
    pub const GEOMETRY_COLLECTION: u32 = 7;
    /// Arcs.
    pub const CIRCULAR_STRING: u32 = 8;
    /// Line strings and arcs, one behind the other.
    pub const COMPOUND_CURVE: u32 = 9;
    /// Rings of line strings and arcs.
    pub const CURVE_POLYGON: u32 = 10;
    /// Curves.
    pub const MULTI_CURVE: u32 = 11;
    /// Polygons, with or without arcs.
    pub const MULTI_SURFACE: u32 = 12;
    /// Polygons that share edges.
    pub const POLYHEDRAL_SURFACE: u32 = 15;
    /// Triangles that share edges.
    pub const TIN: u32 = 16;
    /// A ring of three positions.
    pub const TRIANGLE: u32 = 17;
    /// The highest type.
    pub const LAST: u32 = TRIANGLE;

    /// The names of all types; those between known ones are empty.
    const NAMES: [&str; LAST as usize + 1] = [
        "GEOMETRY",
        "POINT",
        "LINESTRING",
        "POLYGON",
        "MULTIPOINT",
        "MULTILINESTRING",
        "MULTIPOLYGON",
        "GEOMETRYCOLLECTION",
        "CIRCULARSTRING",
        "COMPOUNDCURVE",
        "CURVEPOLYGON",
        "MULTICURVE",
        "MULTISURFACE",
        "",
        "",
        "POLYHEDRALSURFACE",
        "TIN",
        "TRIANGLE",
    ];

    /// Returns the name of a type, in upper case.
    pub(crate) const fn name(kind: u32) -> &'static str {
        NAMES[kind as usize]
    }

    /// Returns the type of a name in upper case.
    pub(crate) fn of_name(name: &str) -> Option<u32> {
        (POINT..=LAST).find(|&kind| !name.is_empty() && NAMES[kind as usize] == name)
    }

    /// A set of types.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub struct Kinds(u32);

    impl Kinds {
        /// Adds a type.
        pub fn add(&mut self, kind: u32) {
            self.0 |= 1 << kind;
        }

        /// Adds all types of another set.
        pub fn join(&mut self, other: Self) {
            self.0 |= other.0;
        }

        /// Returns the name of a column of such geometries: that of the only type, or `GEOMETRY`.
        #[must_use]
        pub fn column_type(self) -> &'static str {
            if self.0.count_ones() == 1 { NAMES[self.0.trailing_zeros() as usize] } else { NAMES[0] }
        }

        /// Returns the names of types that are extensions of a GeoPackage: those behind collections.
        pub fn extensions(self) -> impl Iterator<Item = &'static str> {
            (CIRCULAR_STRING..=LAST).filter(move |kind| self.0 & 1 << kind != 0).map(|kind| NAMES[kind as usize])
        }
    }
}

/// A geometry that was walked.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Geometry {
    /// The type, without Z and M: one of [`kind`].
    pub kind: u32,
    /// Positions have a height.
    pub has_z: bool,
    /// Positions have a measure.
    pub has_m: bool,
    /// The SRID of the extended form.
    pub srid: Option<i32>,
    /// min x, max x, min y, max y; `None` if it has no position.
    pub envelope: Option<[f64; 4]>,
}

/// Appends the geometry at the front of `bytes` to `out` in ISO form. Byte orders stay as they are.
///
/// # Errors
/// If the bytes are no geometry, or others follow it.
pub fn append_iso(bytes: &[u8], out: &mut Vec<u8>) -> Result<Geometry, GeometryError> {
    let mut walk = Walk { rest: bytes, out, envelope: None };
    let Header { kind, has_z, has_m, srid, .. } = walk.geometry(0)?;
    if !walk.rest.is_empty() {
        return Err(GeometryError::new(format!("{} bytes follow the geometry", walk.rest.len())));
    }
    Ok(Geometry { kind, has_z, has_m, srid, envelope: walk.envelope })
}

struct Walk<'b, 'o> {
    rest: &'b [u8],
    out: &'o mut Vec<u8>,
    envelope: Option<[f64; 4]>,
}

#[derive(Clone, Copy)]
struct Header {
    is_little: bool,
    kind: u32,
    has_z: bool,
    has_m: bool,
    srid: Option<i32>,
}

impl<'b> Walk<'b, '_> {
    fn take<const BYTES: usize>(&mut self) -> Result<[u8; BYTES], GeometryError> {
        let Some((bytes, rest)) = self.rest.split_first_chunk() else {
            return Err(GeometryError::new("the geometry ends in the middle"));
        };
        self.rest = rest;
        Ok(*bytes)
    }

    /// Takes an integer and writes it as it is.
    fn count(&mut self, is_little: bool) -> Result<u32, GeometryError> {
        let bytes = self.take()?;
        self.out.extend_from_slice(&bytes);
        Ok(if is_little { u32::from_le_bytes(bytes) } else { u32::from_be_bytes(bytes) })
    }

    fn header(&mut self) -> Result<Header, GeometryError> {
        let [order] = self.take()?;
        if order > 1 {
            return Err(GeometryError::new(format!("it does not begin with a byte order: byte {order:#04x}")));
        }
        let is_little = order == 1;
        let integer = |bytes| if is_little { u32::from_le_bytes(bytes) } else { u32::from_be_bytes(bytes) };
        let code = integer(self.take()?);
        let (flags, base) = (code & (EWKB_Z | EWKB_M | EWKB_SRID), code & !(EWKB_Z | EWKB_M | EWKB_SRID));
        let srid = if flags & EWKB_SRID == 0 { None } else { Some(integer(self.take()?).cast_signed()) };
        let (kind, dimensions) = (base % 1000, base / 1000);
        if !(1..=kind::LAST).contains(&kind) || matches!(kind, 13 | 14) || dimensions > 3 {
            return Err(GeometryError::new(format!("it has the unknown type {base}")));
        }
        let has_z = flags & EWKB_Z != 0 || dimensions & 1 != 0;
        let has_m = flags & EWKB_M != 0 || dimensions & 2 != 0;
        let iso = kind + 1000 * u32::from(has_z) + 2000 * u32::from(has_m);
        self.out.push(order);
        self.out.extend_from_slice(&if is_little { iso.to_le_bytes() } else { iso.to_be_bytes() });
        Ok(Header { is_little, kind, has_z, has_m, srid })
    }

    fn geometry(&mut self, depth: usize) -> Result<Header, GeometryError> {
        if depth > MOST_NESTED {
            return Err(GeometryError::new(format!("collections are nested more than {MOST_NESTED} deep")));
        }
        let header = self.header()?;
        match header.kind {
            kind::POINT => self.positions(1, header)?,
            kind::LINE_STRING | kind::CIRCULAR_STRING => {
                let count = self.count(header.is_little)?;
                self.positions(count, header)?;
            }
            kind::POLYGON | kind::TRIANGLE => {
                for _ in 0..self.count(header.is_little)? {
                    let count = self.count(header.is_little)?;
                    self.positions(count, header)?;
                }
            }
            _ => {
                for _ in 0..self.count(header.is_little)? {
                    let part = self.geometry(depth + 1)?;
                    if (part.has_z, part.has_m) != (header.has_z, header.has_m) {
                        return Err(GeometryError::new("its parts have other dimensions than the whole"));
                    }
                }
            }
        }
        Ok(header)
    }

    /// Copies positions, and grows the envelope.
    fn positions(&mut self, count: u32, header: Header) -> Result<(), GeometryError> {
        let stride = 16 + 8 * usize::from(header.has_z) + 8 * usize::from(header.has_m);
        let len = (count as usize).saturating_mul(stride);
        let Some((positions, rest)) = self.rest.split_at_checked(len) else {
            return Err(GeometryError::new("the geometry ends in the middle"));
        };
        self.rest = rest;
        self.out.extend_from_slice(positions);
        for position in positions.chunks_exact(stride) {
            let (numbers, _) = position[..16].as_chunks();
            let [x, y] = [numbers[0], numbers[1]]
                .map(|bytes| if header.is_little { f64::from_le_bytes(bytes) } else { f64::from_be_bytes(bytes) });
            self.grow(x, y);
        }
        Ok(())
    }

    #[inline]
    fn grow(&mut self, x: f64, y: f64) {
        // An empty point has NaN for coordinates.
        if x.is_nan() || y.is_nan() {
            return;
        }
        let [min_x, max_x, min_y, max_y] = self.envelope.get_or_insert([x, x, y, y]);
        (*min_x, *max_x, *min_y, *max_y) = (min_x.min(x), max_x.max(x), min_y.min(y), max_y.max(y));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn point(order: u8, code: u32, srid: Option<i32>, numbers: &[f64]) -> Vec<u8> {
        let mut wkb = vec![order];
        let integer = |value: u32| if order == 1 { value.to_le_bytes() } else { value.to_be_bytes() };
        wkb.extend(integer(code));
        wkb.extend(srid.map(|srid| integer(srid.cast_unsigned())).into_iter().flatten());
        for number in numbers {
            wkb.extend(if order == 1 { number.to_le_bytes() } else { number.to_be_bytes() });
        }
        wkb
    }

    fn collection(parts: &[Vec<u8>]) -> Vec<u8> {
        let mut wkb = vec![1];
        wkb.extend(kind::GEOMETRY_COLLECTION.to_le_bytes());
        wkb.extend(u32::try_from(parts.len()).unwrap().to_le_bytes());
        wkb.extend(parts.concat());
        wkb
    }

    fn walked(wkb: &[u8]) -> Result<(Geometry, Vec<u8>), GeometryError> {
        let mut out = Vec::new();
        append_iso(wkb, &mut out).map(|geometry| (geometry, out))
    }

    #[test]
    fn the_extended_form_becomes_iso() {
        for order in [0, 1] {
            for (flags, iso, numbers) in [
                (0, 1, &[3.0, -4.0][..]),
                (EWKB_Z, 1001, &[3.0, -4.0, 9.0]),
                (EWKB_M, 2001, &[3.0, -4.0, 9.0]),
                (EWKB_Z | EWKB_M, 3001, &[3.0, -4.0, 9.0, 1.0]),
            ] {
                let expected = point(order, iso, None, numbers);
                let with_srid = point(order, 1 | flags | EWKB_SRID, Some(25_832), numbers);
                for (wkb, srid) in
                    [(&expected, None), (&point(order, 1 | flags, None, numbers), None), (&with_srid, Some(25_832))]
                {
                    let (geometry, out) = walked(wkb).unwrap();
                    assert_eq!(
                        (geometry.srid, geometry.envelope, &out),
                        (srid, Some([3.0, 3.0, -4.0, -4.0]), &expected)
                    );
                    assert_eq!((geometry.has_z, geometry.has_m), (iso / 1000 % 2 == 1, iso >= 2000));
                }
            }
        }
    }

    #[test]
    fn empty_geometries_have_no_envelope() {
        let (geometry, _) = walked(&point(1, 1, None, &[f64::NAN, f64::NAN])).unwrap();
        assert_eq!(geometry.envelope, None);
        let (geometry, _) = walked(&collection(&[])).unwrap();
        assert_eq!((geometry.kind, geometry.envelope), (kind::GEOMETRY_COLLECTION, None));
        let parts =
            [point(1, 1, None, &[f64::NAN, f64::NAN]), point(0, 1, None, &[1.0, 2.0]), point(1, 1, None, &[-1.0, 5.0])];
        assert_eq!(walked(&collection(&parts)).unwrap().0.envelope, Some([-1.0, 1.0, 2.0, 5.0]));
    }

    #[test]
    fn a_column_has_the_type_that_all_have() {
        let mut kinds = kind::Kinds::default();
        assert_eq!(kinds.column_type(), "GEOMETRY");
        kinds.add(kind::POLYGON);
        kinds.add(kind::POLYGON);
        assert_eq!((kinds.column_type(), kinds.extensions().count()), ("POLYGON", 0));
        kinds.add(10);
        kinds.add(kind::TRIANGLE);
        assert_eq!(kinds.column_type(), "GEOMETRY");
        assert_eq!(kinds.extensions().collect::<Vec<_>>(), ["CURVEPOLYGON", "TRIANGLE"]);
    }

    #[test]
    fn bytes_that_are_no_geometry_are_refused() {
        let good = point(1, 1, None, &[1.0, 2.0]);
        for (wkb, why) in [
            (good[..20].to_vec(), "ends in the middle"),
            ([&good[..], b"x"].concat(), "1 bytes follow"),
            (vec![], "ends in the middle"),
            (vec![7, 1, 0, 0, 0], "byte order: byte 0x07"),
            (vec![1, 99, 0, 0, 0], "unknown type 99"),
            (vec![1, 14, 0, 0, 0], "unknown type 14"),
            (vec![1, 2, 0, 0, 0, 255, 255, 255, 255], "ends in the middle"),
            (collection(&[point(1, 1001, None, &[1.0, 2.0, 3.0])]), "other dimensions"),
            ((0..40).fold(good, |inner, _| collection(&[inner])), "nested more than 32 deep"),
        ] {
            let error = walked(&wkb).unwrap_err().to_string();
            assert!(error.contains(why), "{error}");
        }
    }

    proptest! {
        #[test]
        fn any_bytes_are_walked_without_a_panic(bytes in proptest::collection::vec(prop_oneof![0_u8..8, any::<u8>()], 0..80)) {
            if let Ok((_, out)) = walked(&bytes) {
                let again = walked(&out).unwrap();
                prop_assert_eq!(again.1, out);
            }
        }
    }
}
