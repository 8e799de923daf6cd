//! Programs for photographs and maps, a repository and a benchmark, of which many columns have no type or no words in their names.

use super::judge_program;

/// A customer was called "patient stranger", an order of the day "lantern" had the status "tree", and lines were of the part 863661 of 400.
#[test]
fn rows_of_a_benchmark_are_believable() {
    judge_program(
        "tpch",
        &[
            ("SELECT count(*) FROM nation WHERE n_name GLOB '[a-z]*'", 0, 0),
            (
                "SELECT count(*) FROM customer WHERE c_name NOT GLOB '[A-Z]* [A-Z]*' OR c_acctbal NOT BETWEEN -500 AND 20000",
                0,
                0,
            ),
            ("SELECT count(*) FROM part WHERE p_size NOT BETWEEN 1 AND 50 OR p_mfgr GLOB '[a-z]*'", 0, 0),
            (
                "SELECT count(*) FROM orders WHERE o_orderstatus NOT IN ('completed', 'shipped', 'processing', 'pending', 'cancelled')",
                0,
                0,
            ),
            ("SELECT count(*) FROM orders WHERE o_orderdate NOT BETWEEN '2021-01-01' AND '2026-01-01'", 0, 0),
            ("SELECT count(*) FROM lineitem WHERE l_partkey NOT IN (SELECT p_partkey FROM part)", 0, 0),
            ("SELECT count(*) FROM lineitem WHERE l_suppkey NOT IN (SELECT s_suppkey FROM supplier)", 0, 0),
            (
                "SELECT count(*) FROM lineitem JOIN orders ON o_orderkey = l_orderkey WHERE l_shipdate < o_orderdate",
                0,
                0,
            ),
            (
                "SELECT count(*) FROM lineitem JOIN part ON p_partkey = l_partkey WHERE abs(l_extendedprice - l_quantity * p_retailprice) > 0.01",
                0,
                0,
            ),
        ],
    );
}

/// Columns without a type held random numbers: a file was called 706079, in the folder 764653, and a picture had 943715 bits.
#[test]
fn photographs_without_types_are_believable() {
    judge_program(
        "lightroom",
        &[
            ("SELECT count(*) FROM Adobe_images WHERE length(id_global) <> 36", 0, 0),
            ("SELECT count(*) FROM Adobe_images WHERE rootFile NOT IN (SELECT id_local FROM AgLibraryFile)", 0, 0),
            (
                "SELECT count(*) FROM Adobe_images JOIN AgLibraryFile f ON f.id_local = rootFile WHERE fileFormat <> CASE WHEN extension IN ('CR2', 'NEF') THEN 'RAW' ELSE extension END",
                0,
                0,
            ),
            (
                "SELECT count(*) FROM Adobe_images WHERE bitDepth NOT IN (8, 16) OR aspectRatioCache NOT BETWEEN 0.5 AND 2 OR pick NOT IN (0, 1, -1)",
                0,
                0,
            ),
            ("SELECT count(*) FROM Adobe_images WHERE rating IS NULL", 220, 330),
            ("SELECT count(*) FROM Adobe_images WHERE colorLabels NOT IN ('', 'Red', 'Yellow', 'Green', 'Blue')", 0, 0),
            ("SELECT count(*) FROM AgLibraryFile WHERE idx_filename <> baseName || '.' || extension", 0, 0),
            ("SELECT count(*) FROM AgLibraryFile WHERE lc_idx_filename <> lower(idx_filename)", 0, 0),
            ("SELECT count(*) FROM AgLibraryFile WHERE folder NOT IN (SELECT id_local FROM AgLibraryFolder)", 0, 0),
            (
                "SELECT count(*) FROM AgLibraryFolder WHERE rootFolder NOT IN (SELECT id_local FROM AgLibraryRootFolder)",
                0,
                0,
            ),
            ("SELECT count(*) FROM AgLibraryFolder WHERE pathFromRoot NOT GLOB '20[0-9][0-9]/*/'", 0, 0),
            ("SELECT count(*) FROM AgLibraryRootFolder WHERE absolutePath NOT LIKE '/home/%/' || name || '/'", 0, 0),
            (
                "SELECT count(*) FROM AgLibraryKeyword WHERE lc_name <> lower(name) OR genealogy NOT LIKE '%/' || id_local",
                0,
                0,
            ),
            ("SELECT count(*) FROM AgLibraryKeywordImage WHERE image NOT IN (SELECT id_local FROM Adobe_images)", 0, 0),
            (
                "SELECT count(*) FROM AgLibraryKeywordImage WHERE tag NOT IN (SELECT id_local FROM AgLibraryKeyword)",
                0,
                0,
            ),
        ],
    );
}

/// An album was a song, a picture had the format EPUB, the latitude "patient sail", and each tag was its own parent.
#[test]
fn photographs_in_albums_are_believable() {
    judge_program(
        "digikam",
        &[
            ("SELECT count(*) FROM AlbumRoots WHERE specificPath NOT LIKE '/home/%/' || label || '/'", 0, 0),
            ("SELECT count(*) FROM Albums WHERE relativePath NOT LIKE '/' || substr(date, 1, 4) || '/%'", 0, 0),
            ("SELECT count(*) FROM Albums WHERE icon NOT IN (SELECT id FROM Images)", 0, 0),
            (
                "SELECT count(*) FROM Images WHERE (category = 1) <> (name LIKE '%.jpg' OR name LIKE '%.png' OR name LIKE '%.nef')",
                0,
                0,
            ),
            ("SELECT count(*) FROM Images WHERE fileSize NOT BETWEEN 90000 AND 400000000", 0, 0),
            (
                "SELECT count(*) FROM ImageInformation JOIN Images ON id = imageid WHERE format <> upper(substr(name, -3))",
                0,
                0,
            ),
            ("SELECT count(*) FROM ImageInformation WHERE width < height", 20, 160),
            ("SELECT count(*) FROM ImageInformation WHERE width * height < 2000000 OR colorDepth NOT IN (8, 16)", 0, 0),
            (
                "SELECT count(*) FROM ImagePositions WHERE latitude <> abs(latitudeNumber) || CASE WHEN latitudeNumber < 0 THEN 'S' ELSE 'N' END",
                0,
                0,
            ),
            ("SELECT count(*) FROM Tags WHERE pid = id OR pid NOT IN (SELECT id FROM Tags)", 0, 0),
            ("SELECT count(*) FROM TagsTree WHERE pid NOT IN (SELECT id FROM Tags)", 0, 0),
            ("SELECT count(*) FROM Settings WHERE keyword LIKE '%.country' AND value GLOB '[0-9]*'", 0, 0),
        ],
    );
}

/// Names of Core Data said nothing: the width of a picture was 766131, its latitude 300, and its file "pearl and paper".
#[test]
fn photographs_in_core_data_are_believable() {
    judge_program(
        "photos",
        &[
            ("SELECT count(DISTINCT Z_ENT) FROM ZASSET", 1, 1),
            (
                "SELECT count(*) FROM ZASSET WHERE ZLATITUDE NOT BETWEEN -90 AND 90 OR ZWIDTH NOT BETWEEN 1000 AND 7000",
                0,
                0,
            ),
            (
                "SELECT count(*) FROM ZASSET WHERE ZFILENAME NOT LIKE ZUUID || '.%' OR ZDIRECTORY <> substr(ZFILENAME, 1, 1)",
                0,
                0,
            ),
            ("SELECT count(*) FROM ZASSET WHERE (ZKIND = 1) <> (ZFILENAME LIKE '%.mov')", 0, 0),
            (
                "SELECT count(*) FROM ZASSET a JOIN ZADDITIONALASSETATTRIBUTES b ON b.Z_PK = a.ZADDITIONALATTRIBUTES WHERE b.ZASSET <> a.Z_PK",
                0,
                0,
            ),
            (
                "SELECT count(*) FROM ZADDITIONALASSETATTRIBUTES WHERE ZTIMEZONENAME NOT LIKE '%/%' AND ZTIMEZONENAME <> 'UTC'",
                0,
                0,
            ),
            (
                "SELECT count(*) FROM ZGENERICALBUM a WHERE ZCACHEDCOUNT <> (SELECT count(*) FROM Z_30ASSETS WHERE Z_30ALBUMS = a.Z_PK)",
                0,
                0,
            ),
            ("SELECT count(*) FROM ZGENERICALBUM WHERE ZPARENTFOLDER NOT IN (SELECT Z_PK FROM ZGENERICALBUM)", 0, 0),
            ("SELECT count(*) FROM Z_30ASSETS WHERE Z_3ASSETS NOT IN (SELECT Z_PK FROM ZASSET)", 0, 0),
        ],
    );
}
