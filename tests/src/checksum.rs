//! A checksum of a database file, for pins.

/// The bytes of the file header that name the SQLite library that was bundled when the file was written.
const LIBRARY_VERSION: std::ops::Range<usize> = 96..100;

/// Returns the 64-bit FNV-1a hash of a database file, with zeros for the library version.
#[must_use]
pub fn of_database(bytes: &[u8]) -> u64 {
    let step = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
    let masked = |(at, &byte): (usize, &u8)| if LIBRARY_VERSION.contains(&at) { 0 } else { byte };
    bytes.iter().enumerate().map(masked).fold(0xcbf2_9ce4_8422_2325, step)
}

#[test]
fn the_hash_is_fnv_1a_and_the_version_does_not_count() {
    assert_eq!(of_database(b""), 0xcbf2_9ce4_8422_2325);
    assert_eq!(of_database(b"foobar"), 0x8594_4171_f739_67e8);
    let (mut one, mut other) = ([7; 200], [7; 200]);
    one[96] = 1;
    assert_eq!(of_database(&one), of_database(&other));
    other[100] = 1;
    assert_ne!(of_database(&one), of_database(&other));
}
