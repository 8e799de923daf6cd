//! Tables that list other tables, and what follows from the lists: the layers of a map, the models of a framework, and the parts of a
//! series.

use super::{judge, judge_program, judge_program_rows};

/// The coordinate system 2001 was "GDA94 / UTM zone 33S", and layers were in tables that there were not, with other numbers of features.
#[test]
fn layers_are_the_tables_of_the_file() {
    judge_program(
        "geopackage",
        &[
            ("SELECT count(*) FROM gpkg_spatial_ref_sys", 30, 200),
            (
                "SELECT count(*) FROM gpkg_spatial_ref_sys WHERE (srs_id, srs_name) IN ((4326, 'WGS 84'), (3857, 'WGS 84 / Pseudo-Mercator'), (25832, 'ETRS89 / UTM zone 32N'), (27700, 'OSGB36 / British National Grid'))",
                4,
                4,
            ),
            (
                "SELECT count(*) FROM gpkg_spatial_ref_sys WHERE (definition LIKE 'PROJCS%') <> (description LIKE '%metres') OR (srs_name LIKE '% / %') <> (definition LIKE 'PROJCS%')",
                0,
                0,
            ),
            // Boxes in degrees were in systems of metres.
            ("SELECT count(*) FROM gpkg_contents WHERE srs_id <> 4326", 0, 0),
            (
                "SELECT count(*) FROM gpkg_contents WHERE (data_type = 'features') <> (table_name IN (SELECT name FROM sqlite_master))",
                0,
                0,
            ),
            (
                "SELECT count(*) FROM gpkg_contents WHERE (data_type = 'features') <> (table_name IN (SELECT table_name FROM gpkg_geometry_columns))",
                0,
                0,
            ),
            (
                "SELECT count(*) FROM gpkg_contents WHERE (data_type = 'tiles') <> (table_name IN (SELECT table_name FROM gpkg_tile_matrix))",
                0,
                0,
            ),
            (
                "SELECT count(*) FROM gpkg_geometry_columns WHERE geometry_type_name <> CASE table_name WHEN 'parcels' THEN 'POLYGON' ELSE 'LINESTRING' END",
                0,
                0,
            ),
            (
                "SELECT count(*) FROM gpkg_ogr_contents WHERE feature_count <> CASE table_name WHEN 'parcels' THEN (SELECT count(*) FROM parcels) WHEN 'roads' THEN (SELECT count(*) FROM roads) ELSE 0 END",
                0,
                0,
            ),
        ],
    );
}

/// People who were no staff changed sessions and rights, and models had no tables.
#[test]
fn staff_changes_models_that_there_are() {
    judge_program(
        "django",
        &[
            ("SELECT count(*) FROM django_admin_log JOIN auth_user u ON u.id = user_id WHERE NOT is_staff", 0, 0),
            ("SELECT count(*) FROM django_admin_log JOIN auth_user u ON u.id = user_id WHERE action_time < date_joined", 0, 0),
            ("SELECT count(*) FROM auth_user WHERE is_superuser > is_staff", 0, 0),
            ("SELECT count(*) FROM django_admin_log WHERE content_type_id = 1 AND object_repr LIKE '% %'", 0, 0),
            ("SELECT count(*) FROM auth_user WHERE is_staff", 1, 30),
            (
                "SELECT count(*) FROM django_admin_log JOIN django_content_type t ON t.id = content_type_id WHERE model NOT IN ('user', 'group', 'order')",
                0,
                0,
            ),
            (
                "SELECT count(*) FROM django_content_type WHERE app_label || '_' || model NOT IN (SELECT replace(name, 'django_', 'sessions_') FROM sqlite_master)
                AND model NOT IN ('logentry', 'permission', 'contenttype')",
                0,
                0,
            ),
            ("SELECT count(*) FROM django_migrations WHERE app NOT IN (SELECT app_label FROM django_content_type)", 0, 0),
            ("SELECT count(*) FROM django_admin_log WHERE content_type_id = 2 AND CAST(object_id AS INTEGER) NOT IN (SELECT id FROM auth_group)", 0, 0),
        ],
    );
    judge(
        "django_shop",
        &[
            (
                "SELECT count(*) FROM django_content_type WHERE (app_label, model) IN (('shop', 'orderitem'), ('shop', 'review'))",
                2,
                2,
            ),
            ("SELECT count(*) FROM django_content_type WHERE model = 'usergroups'", 0, 0),
        ],
    );
}

/// Accounts signed up years after they were there, no job waited, and jobs that had failed had not been tried; a lock had 5,000 rows.
#[test]
fn jobs_were_tried_before_they_failed() {
    judge_program_rows(
        "litestream_app",
        &[("job", 4000)],
        &[
            ("SELECT count(*) FROM audit WHERE what LIKE '%#%' OR what = 'sign_up'", 0, 0),
            ("SELECT count(*) FROM audit a JOIN account c ON c.id = account_id WHERE at < created_at", 0, 0),
            ("SELECT count(*) FROM job WHERE (state = 'queued') <> (attempts = 0)", 0, 0),
            ("SELECT count(*) FROM job WHERE state = 'failed' AND attempts < 2", 0, 0),
            ("SELECT count(*) FROM job WHERE state = 'queued'", 1, 40),
            ("SELECT count(*) FROM job WHERE state = 'queued' AND date(run_at, 'unixepoch') < '2025-12-29'", 0, 0),
            ("SELECT count(*) + (SELECT count(*) FROM _litestream_seq) FROM _litestream_lock", 2, 2),
        ],
    );
}

/// What people played was nothing that there was, a film had the genre "Drama" twice, and a series was broadcast at 09:19:38.
#[test]
fn plays_and_values_are_of_films() {
    judge_program(
        "jellyfin",
        &[
            (
                "SELECT count(*) FROM UserDatas WHERE key NOT IN (SELECT guid FROM TypedBaseItems WHERE type IN ('Movie', 'Episode'))",
                0,
                0,
            ),
            (
                "SELECT count(*) FROM UserDatas JOIN TypedBaseItems ON guid = key WHERE lastPlayedDate < DateCreated",
                0,
                0,
            ),
            (
                "SELECT count(*) - (SELECT count(*) FROM (SELECT DISTINCT ItemId, Type, Value FROM ItemValues)) FROM ItemValues",
                0,
                0,
            ),
            ("SELECT count(*) FROM TypedBaseItems WHERE type IN ('Folder', 'BoxSet', 'Season') AND Overview IS NOT NULL", 0, 0),
            // A folder had a genre and a studio, and the episodes of a comedy were horror.
            (
                "SELECT count(*) FROM ItemValues JOIN TypedBaseItems i ON guid = ItemId WHERE i.type NOT IN ('Movie', 'Episode')",
                0,
                0,
            ),
            (
                "SELECT count(*) FROM ItemValues v JOIN TypedBaseItems i ON i.guid = ItemId JOIN TypedBaseItems s ON s.guid = i.TopParentId
                WHERE v.Type = 2 AND s.type = 'Series' AND s.Genres NOT LIKE Value || '%'",
                0,
                0,
            ),
            (
                "SELECT count(*) FROM UserDatas JOIN TypedBaseItems ON guid = key WHERE playbackPositionTicks >= RunTimeTicks",
                0,
                0,
            ),
            ("SELECT count(*) FROM UserDatas WHERE playbackPositionTicks > 0", 20, 140),
            ("SELECT count(*) FROM TypedBaseItems WHERE ChannelId IS NOT NULL", 1, 60),
            (
                "SELECT count(*) FROM TypedBaseItems WHERE StartDate IS NOT NULL AND (type NOT IN ('Movie', 'Episode') OR StartDate NOT LIKE '%:_0:00' OR Path IS NOT NULL)",
                0,
                0,
            ),
            (
                "SELECT count(*) FROM TypedBaseItems WHERE abs((julianday(EndDate) - julianday(StartDate)) * 1440 - RunTimeTicks / 600000000) > 6",
                0,
                0,
            ),
        ],
    );
}

/// A card was shown once and came again after 165 days, rows of the dead were alive, and no note had most of the tags.
#[test]
fn intervals_grow_with_the_answers() {
    judge_program(
        "anki",
        &[
            ("SELECT count(*) FROM cards WHERE ivl > 3 * reps * reps", 0, 0),
            // A card whose interval was 88 days came again after four.
            (
                "SELECT count(*) FROM (SELECT ivl, (lead(id) OVER (PARTITION BY cid ORDER BY id) - id) / 86400000.0 days FROM revlog WHERE ivl > 1) WHERE abs(days - ivl) > 2",
                0,
                0,
            ),
            ("SELECT max(ivl) FROM cards", 30, 2000),
            (
                "SELECT count(*) FROM revlog JOIN cards c ON c.id = cid JOIN notes n ON n.id = nid WHERE revlog.id / 1000 < n.mod",
                0,
                0,
            ),
            ("SELECT count(*) FROM revlog WHERE date(id / 1000, 'unixepoch') > '2025-12-31'", 0, 0),
            (
                "SELECT count(*) FROM revlog a JOIN revlog b USING (cid) WHERE a.id < b.id AND a.ivl > b.ivl AND b.ivl > 0",
                0,
                0,
            ),
            ("SELECT count(*) FROM graves WHERE oid IN (SELECT id FROM cards) OR oid IN (SELECT id FROM notes)", 0, 0),
            (
                "SELECT count(*) FROM tags WHERE NOT EXISTS (SELECT 1 FROM notes WHERE instr(' ' || tags || ' ', ' ' || tag || ' '))",
                0,
                0,
            ),
            ("SELECT count(*) FROM col", 1, 1),
        ],
    );
}

/// The hallway had a humidity of 47.4 in its states, and of 33.5 in its statistics.
#[test]
fn statistics_are_those_of_the_states() {
    judge_program_rows(
        "home_assistant",
        &[("states_meta", 60), ("statistics_meta", 60)],
        &[
            // A panel was renamed by a lamp.
            ("SELECT count(*) FROM event_types WHERE event_type IN ('state_changed', 'call_service')", 2, 2),
            (
                "SELECT count(*) FROM states s JOIN states_meta m USING (metadata_id) JOIN statistics_meta n ON n.statistic_id = m.entity_id JOIN statistics t ON t.metadata_id = n.id
                WHERE abs(CAST(s.state AS REAL) - t.mean) > 0.1 * t.mean",
                0,
                0,
            ),
            ("SELECT count(*) FROM states_meta m JOIN statistics_meta n ON n.statistic_id = m.entity_id", 5, 60),
            ("SELECT count(DISTINCT round(mean)) FROM statistics", 12, 400),
        ],
    );
}

/// Somebody was in ten cities within four days, on mountains in Amsterdam, and quoted what had not come out.
#[test]
fn most_pictures_are_taken_at_home() {
    judge_program(
        "photos",
        &[
            ("SELECT count(DISTINCT ZTIMEZONENAME) FROM ZADDITIONALASSETATTRIBUTES WHERE Z_PK < 100", 1, 2),
            (
                "SELECT count(*) FROM Z_PRIMARYKEY WHERE (Z_ENT, Z_NAME, Z_MAX) IN ((3, 'Asset', 400), (4, 'AdditionalAssetAttributes', 400), (5, 'GenericAlbum', 400))",
                3,
                3,
            ),
            (
                "SELECT count(*) - (SELECT count(*) FROM Z_PRIMARYKEY) + (SELECT count(*) FROM Z_METADATA) FROM (SELECT DISTINCT Z_ENT FROM ZASSET UNION SELECT Z_ENT FROM ZGENERICALBUM UNION SELECT Z_ENT FROM ZADDITIONALASSETATTRIBUTES)",
                1,
                1,
            ),
        ],
    );
    judge_program(
        "digikam",
        &[
            ("SELECT count(*) FROM Albums WHERE relativePath LIKE '% Bristol'", 240, 330),
            (
                "SELECT count(*) FROM ImagePositions JOIN Images i ON i.id = imageid JOIN Albums a ON a.id = album WHERE (relativePath LIKE '% Madrid') <> (altitude > 600)",
                0,
                0,
            ),
            ("SELECT count(*) FROM AlbumRoots", 4, 4),
        ],
    );
    judge_program(
        "zotero",
        &[
            (
                "SELECT count(*) FROM itemData d JOIN items USING (itemID) JOIN itemDataValues USING (valueID) WHERE fieldID = 2 AND value > dateAdded",
                0,
                0,
            ),
            ("SELECT count(*) FROM items WHERE key GLOB '*[^2-9A-Z]*' OR length(key) <> 8", 0, 0),
            ("SELECT count(*) FROM itemTypes WHERE typeName IN ('note', 'attachment')", 0, 0),
            ("SELECT count(*) FROM version WHERE schema GLOB '*[0-9]*'", 0, 0),
        ],
    );
}
