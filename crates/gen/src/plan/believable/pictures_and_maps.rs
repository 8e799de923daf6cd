//! Programs for photographs and maps, a repository and a benchmark, of which many columns have no type or no words in their names.

use super::{judge_program, make, program};

/// A customer was called "patient stranger", an order of the day "lantern" had the status "tree", and lines were of the part 863661 of 400.
#[test]
fn rows_of_a_benchmark_are_believable() {
    judge_program(
        "tpch",
        &[
            ("SELECT count(*) - count(DISTINCT n_name) FROM nation", 0, 0),
            // A nation had the comment "First!".
            ("SELECT count(*) FROM nation WHERE n_comment NOT LIKE '%20%'", 0, 0),
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
            ("SELECT count(*) - count(DISTINCT rootFile) FROM Adobe_images", 0, 0),
            (
                "SELECT count(*) FROM Adobe_images JOIN AgLibraryFile f ON f.id_local = rootFile WHERE captureTime > externalModTime",
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
            (
                "SELECT count(*) FROM AgLibraryFolder WHERE pathFromRoot NOT GLOB '20[0-9][0-9]/*/' AND parentId > 0",
                0,
                0,
            ),
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
            (
                "SELECT count(*) FROM ImageInformation JOIN Images ON id = imageid WHERE creationDate > modificationDate",
                0,
                0,
            ),
            ("SELECT count(*) FROM ImageInformation WHERE digitizationDate <> creationDate", 0, 0),
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

/// A tile was 4,484 tiles above the lowest of four, a map had a secret and a currency, and pictures were of other tiles than those of the map.
#[test]
fn tiles_of_a_map_are_believable() {
    judge_program(
        "mbtiles",
        &[
            ("SELECT count(*) FROM map WHERE tile_column NOT BETWEEN 0 AND (1 << zoom_level) - 1", 0, 0),
            ("SELECT count(*) FROM map WHERE tile_row NOT BETWEEN 0 AND (1 << zoom_level) - 1", 0, 0),
            ("SELECT count(*) FROM map WHERE zoom_level = 3", 64, 64),
            ("SELECT count(*) FROM map WHERE tile_id NOT IN (SELECT tile_id FROM images)", 0, 0),
            ("SELECT count(*) FROM metadata WHERE name IN ('format', 'bounds', 'minzoom', 'maxzoom')", 4, 4),
            ("SELECT count(*) FROM metadata WHERE name = 'format' AND value <> 'png'", 0, 0),
        ],
    );
}

/// A layer was called "Amber Snow", ended 333 degrees east, and had its shapes in the column "silent evening".
#[test]
fn layers_of_a_map_are_believable() {
    judge_program(
        "geopackage",
        &[
            (
                "SELECT count(*) FROM gpkg_spatial_ref_sys WHERE srs_id <> organization_coordsys_id OR organization <> 'EPSG'",
                0,
                0,
            ),
            (
                "SELECT count(*) FROM gpkg_spatial_ref_sys WHERE instr(definition, srs_name) = 0 OR instr(definition, srs_id) = 0",
                0,
                0,
            ),
            ("SELECT count(*) FROM gpkg_contents WHERE identifier <> replace(table_name, '_', ' ')", 0, 0),
            (
                "SELECT count(*) FROM gpkg_contents WHERE min_x >= max_x OR min_y >= max_y OR min_x < -180 OR max_x > 180 OR min_y < -90 OR max_y > 90",
                0,
                0,
            ),
            (
                "SELECT count(*) FROM gpkg_geometry_columns g JOIN gpkg_contents c USING (table_name) WHERE g.srs_id <> c.srs_id OR column_name <> 'geom'",
                0,
                0,
            ),
            (
                "SELECT count(*) FROM gpkg_geometry_columns WHERE table_name LIKE '%roads%' AND geometry_type_name <> 'LINESTRING' OR table_name LIKE '%trees%' AND geometry_type_name <> 'POINT'",
                0,
                0,
            ),
            (
                "SELECT count(*) FROM gpkg_tile_matrix WHERE table_name NOT IN (SELECT table_name FROM gpkg_contents)",
                0,
                0,
            ),
            ("SELECT count(*) FROM gpkg_tile_matrix WHERE matrix_width <> 1 << zoom_level", 0, 0),
            ("SELECT count(*) FROM parcels WHERE typeof(geom) <> 'blob' OR name NOT GLOB '[1-9]* *'", 0, 0),
            ("SELECT count(*) FROM roads WHERE lanes NOT BETWEEN 1 AND 4", 0, 0),
        ],
    );
}

/// A version was of the file 588290 of 400, a file was called "Deep Hill", and the author of a change was "journey".
#[test]
fn versions_in_a_repository_are_believable() {
    judge_program(
        "fossil",
        &[
            ("SELECT count(*) FROM mlink WHERE pfnid NOT IN (SELECT fnid FROM filename)", 0, 0),
            (
                "SELECT count(*) FROM mlink WHERE mid NOT IN (SELECT rid FROM blob) OR pid NOT IN (SELECT rid FROM blob)",
                0,
                0,
            ),
            ("SELECT count(*) FROM mlink WHERE mperm NOT BETWEEN 0 AND 2", 0, 0),
            ("SELECT count(*) FROM filename WHERE name NOT GLOB 'src/*/*.*'", 0, 0),
            ("SELECT count(*) FROM event JOIN user u USING (uid) WHERE user <> login", 0, 0),
            ("SELECT count(*) FROM event WHERE euser IS NULL", 85, 99),
            ("SELECT count(*) FROM event WHERE type NOT IN ('ci', 't', 'w', 'g', 'e')", 0, 0),
            ("SELECT count(*) FROM tag WHERE tagname NOT GLOB '[a-z]*-*'", 0, 0),
            (
                "SELECT count(*) FROM tagxref WHERE tagtype NOT BETWEEN 0 AND 2 OR rid NOT IN (SELECT rid FROM blob)",
                0,
                0,
            ),
            ("SELECT count(*) FROM user WHERE pw GLOB '* *'", 0, 0),
            ("SELECT count(*) FROM config WHERE name LIKE '%.enabled' AND value NOT IN ('true', 'false')", 0, 0),
        ],
    );
}

/// A check-in came before the one that it follows, all artifacts were deltas, and a commit closed a ticket that was a file.
#[test]
fn check_ins_follow_one_another() {
    judge_program(
        "fossil",
        &[
            ("SELECT count(*) FROM plink WHERE pid >= cid", 0, 0),
            ("SELECT count(*) FROM plink", 79, 79),
            (
                "SELECT count(*) FROM plink JOIN event e ON e.objid = cid WHERE e.type = 'ci' AND e.mtime = plink.mtime",
                79,
                79,
            ),
            ("SELECT count(*) FROM plink WHERE pid NOT IN (SELECT objid FROM event WHERE type = 'ci')", 0, 0),
            ("SELECT count(*) FROM tagxref WHERE rid NOT IN (SELECT objid FROM event WHERE type = 'ci')", 0, 0),
            ("SELECT count(*) FROM mlink WHERE mid NOT IN (SELECT objid FROM event WHERE type = 'ci')", 0, 0),
            ("SELECT count(*) FROM mlink WHERE fid IN (SELECT objid FROM event) OR pid >= fid OR pmid >= mid", 0, 0),
            ("SELECT count(*) FROM mlink m JOIN mlink b ON b.fid = m.pid WHERE b.fnid <> m.fnid", 0, 0),
            ("SELECT count(*) FROM mlink WHERE pid IS NOT NULL", 150, 290),
            ("SELECT count(*) FROM delta WHERE rid IN (SELECT objid FROM event) OR srcid <= rid", 0, 0),
            ("SELECT count(*) FROM delta", 150, 290),
            ("SELECT count(*) FROM event WHERE (type = 't') <> (comment LIKE '%ticket [%')", 0, 0),
            ("SELECT count(*) FROM config WHERE name GLOB 'auth.auth.*'", 0, 0),
        ],
    );
}

/// Pictures of 2025 lay in the folder of 2022, those in the folder of Lisbon were taken in the Indian Ocean, and a file had the error
/// "Test failed: homepage".
#[test]
fn folders_say_when_and_where_pictures_were_taken() {
    const ALBUMS: &str = "Images i JOIN Albums a ON a.id = album";
    const IN_ROME: &str = "latitudeNumber BETWEEN 41.7 AND 42.1 AND longitudeNumber BETWEEN 12.3 AND 12.7";
    judge_program(
        "digikam",
        &[
            (
                &format!(
                    "SELECT count(*) FROM {ALBUMS} JOIN ImageInformation n ON n.imageid = i.id WHERE substr(relativePath, 2, 4) <> substr(creationDate, 1, 4)"
                ),
                0,
                12,
            ),
            (
                &format!(
                    "SELECT count(*) FROM {ALBUMS} JOIN ImagePositions p ON p.imageid = i.id WHERE (relativePath LIKE '% Rome') <> ({IN_ROME})"
                ),
                0,
                0,
            ),
            ("SELECT count(*) FROM ImagePositions WHERE (latitudeNumber IS NULL) <> (longitudeNumber IS NULL)", 0, 0),
            (
                "SELECT count(*) FROM Albums WHERE caption NOT LIKE '%' || substr(relativePath, instr(relativePath, ' '))",
                0,
                0,
            ),
        ],
    );
    judge_program(
        "lightroom",
        &[
            (
                "SELECT count(*) FROM AgLibraryFile JOIN AgLibraryFolder f ON f.id_local = folder WHERE substr(pathFromRoot, 1, 4) <> substr(externalModTime, 1, 4)",
                0,
                0,
            ),
            ("SELECT count(*) FROM AgLibraryFile WHERE errorMessage IS NOT NULL", 0, 0),
        ],
    );
}

/// A picture was taken at noon of Johannesburg in the Pacific, an album of Dublin in 2017 had pictures of 2024, and the railways of
/// Boston were in the Atlantic.
#[test]
fn positions_are_where_the_row_says() {
    judge_program(
        "photos",
        &[
            (
                "SELECT count(*) FROM ZASSET a JOIN ZADDITIONALASSETATTRIBUTES b ON b.ZASSET = a.Z_PK
                WHERE (ZTIMEZONENAME = 'Europe/Rome') <> (ZLATITUDE BETWEEN 36 AND 47 AND ZLONGITUDE BETWEEN 7.5 AND 18.5)",
                0,
                0,
            ),
            ("SELECT count(*) FROM ZADDITIONALASSETATTRIBUTES WHERE ZTIMEZONENAME IS NULL", 0, 0),
            ("SELECT count(*) FROM ZGENERICALBUM WHERE ZTITLE GLOB '*20[0-9][0-9]*'", 0, 0),
        ],
    );
    judge_program(
        "geopackage",
        &[(
            "SELECT count(*) FROM gpkg_contents WHERE (description LIKE '% of Rome') <> (12.5 BETWEEN min_x AND max_x AND 41.9 BETWEEN min_y AND max_y)",
            0,
            0,
        )],
    );
    judge_program(
        "mbtiles",
        &[("SELECT value - (SELECT max(zoom_level) FROM map) FROM metadata WHERE name = 'maxzoom'", 0, 0)],
    );
}

/// A film had 4032 times 3024 pixels, a JPEG 16 bits a colour, and the cover of an album was a picture of another one.
#[test]
fn pictures_are_of_their_kind_and_album() {
    judge_program(
        "digikam",
        &[
            ("SELECT count(*) FROM ImageInformation WHERE format = 'MP4' AND width NOT IN (1920, 3840)", 0, 0),
            ("SELECT count(*) FROM ImageInformation WHERE (format = 'NEF') <> (colorDepth = 16)", 0, 0),
            ("SELECT count(*) FROM Albums a JOIN Images i ON i.id = icon WHERE album <> a.id", 0, 0),
            ("SELECT count(*) FROM Albums WHERE icon IS NULL AND id IN (SELECT album FROM Images)", 0, 0),
            // A picture had the keyword "science-55".
            ("SELECT count(*) FROM Tags WHERE name GLOB '*[0-9]*' OR name GLOB '[a-z]*'", 0, 0),
        ],
    );
    judge_program("photos", &[("SELECT count(*) FROM ZASSET WHERE ZKIND = 1 AND ZWIDTH NOT IN (1920, 3840)", 0, 0)]);
    // No tile had a name in the table of names.
    judge_program("mbtiles", &[("SELECT count(*) FROM map WHERE grid_id NOT IN (SELECT grid_id FROM grid_key)", 0, 0)]);
}

/// A folder "2007/2 Melbourne" lay in "2006/1 Rome" on another disk, the path of a keyword left out the one in the middle, and the
/// ancestors of a tag were any tags.
#[test]
fn trees_of_folders_and_keywords_agree() {
    judge_program(
        "lightroom",
        &[
            (
                "SELECT count(*) FROM AgLibraryFolder f JOIN AgLibraryFolder p ON p.id_local = f.parentId
                WHERE f.pathFromRoot NOT LIKE p.pathFromRoot || '_%' OR f.rootFolder <> p.rootFolder",
                0,
                0,
            ),
            ("SELECT count(*) FROM AgLibraryFolder WHERE parentId IS NULL", 20, 20),
            (
                "SELECT count(*) FROM AgLibraryKeyword k JOIN AgLibraryKeyword p ON p.id_local = k.parent WHERE k.genealogy <> p.genealogy || '/' || k.id_local",
                0,
                0,
            ),
        ],
    );
    judge_program(
        "digikam",
        &[
            ("SELECT count(*) FROM TagsTree x JOIN Tags t ON t.id = x.id WHERE x.pid IS NOT t.pid", 0, 0),
            ("SELECT count(*) FROM TagsTree", 380, 380),
        ],
    );
}

/// A person tries a schema with one row, or two, first.
#[test]
fn pictures_and_maps_have_few_rows_too() {
    for name in ["lightroom", "digikam", "photos", "mbtiles", "geopackage", "fossil", "tpch"] {
        for rows in [1, 2, 10] {
            drop(make(&program(name), rows, &[]));
        }
    }
}
