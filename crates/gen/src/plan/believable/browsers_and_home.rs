//! Programs of one person without one annotation: browsers, a house, a file server, flash cards.

use super::{ROWS, judge_program, judge_program_rows, make, program};

/// Pages were at other hosts than their origin, hosts were not reversed, visits came after the last visit and in seconds, and
/// `visit_count` was a random number.
#[test]
fn the_places_of_a_browser_are_believable() {
    judge_program(
        "firefox_places",
        &[
            ("SELECT count(*) FROM moz_origins WHERE prefix NOT IN ('https://', 'http://')", 0, 0),
            ("SELECT count(*) FROM moz_origins WHERE prefix = 'http://'", 4, 60),
            (
                "SELECT count(*) FROM moz_places p JOIN moz_origins o ON o.id = origin_id
                WHERE url NOT LIKE prefix || host || '/%' OR length(rev_host) <> length(host) + 1",
                0,
                0,
            ),
            (
                "SELECT count(*) FROM moz_places WHERE url IS NULL OR rev_host IS NULL OR origin_id IS NULL OR guid IS NULL",
                0,
                0,
            ),
            ("SELECT count(*) FROM moz_places WHERE rev_host NOT LIKE 'elpmaxe.%.'", 0, 0),
            (
                "SELECT count(*) FROM moz_places WHERE substr(url, -3) <> lower(substr(title, -3)) AND title GLOB '*[a-z][a-z][a-z]'",
                0,
                12,
            ),
            (
                "SELECT count(*) FROM moz_places p WHERE visit_count <> (SELECT count(*) FROM moz_historyvisits WHERE place_id = p.id)",
                0,
                0,
            ),
            (
                "SELECT count(*) FROM moz_places p WHERE last_visit_date IS NOT (SELECT max(visit_date) FROM moz_historyvisits WHERE place_id = p.id)",
                0,
                0,
            ),
            (
                "SELECT count(*) FROM moz_places p WHERE foreign_count <> (SELECT count(*) FROM moz_bookmarks WHERE fk = p.id)",
                0,
                0,
            ),
            ("SELECT count(*) FROM moz_places WHERE description NOT LIKE title || '%'", 0, 0),
            ("SELECT count(DISTINCT visit_count) FROM moz_places", 4, 30),
            ("SELECT count(DISTINCT url_hash) FROM moz_places", 235, 240),
            ("SELECT count(*) FROM moz_places WHERE frecency < 0", 0, 0),
            (
                "SELECT count(*) FROM moz_historyvisits WHERE date(visit_date / 1000000, 'unixepoch') NOT BETWEEN '2021-01-01' AND '2026-01-01'",
                0,
                0,
            ),
            ("SELECT count(DISTINCT visit_date % 1000) FROM moz_historyvisits", 200, 400),
            (
                "SELECT count(*) FROM moz_historyvisits v JOIN moz_historyvisits b ON b.id = v.from_visit WHERE b.id >= v.id",
                0,
                0,
            ),
            ("SELECT count(*) FROM moz_historyvisits WHERE from_visit > 0 AND visit_type <> 1", 0, 0),
            ("SELECT count(*) FROM moz_historyvisits WHERE from_visit > 0", 200, 340),
            (
                "SELECT count(*) FROM moz_historyvisits WHERE from_visit NOT IN (SELECT id FROM moz_historyvisits) AND from_visit <> 0",
                0,
                0,
            ),
            ("SELECT count(*) FROM moz_historyvisits WHERE visit_type NOT BETWEEN 1 AND 9 OR place_id IS NULL", 0, 0),
            ("SELECT count(*) FROM moz_historyvisits WHERE visit_type = 1", 250, 340),
        ],
    );
}

/// A host had the weather, a shop and a page to sign in, and links led from anywhere to anywhere.
#[test]
fn pages_are_about_what_their_host_is_about() {
    judge_program(
        "firefox_places",
        &[
            (
                "SELECT count(*) FROM moz_places JOIN moz_origins o ON o.id = origin_id WHERE host LIKE '%-recipes%' AND title LIKE '%Weather%'",
                0,
                0,
            ),
            (
                "SELECT count(*) FROM moz_places a JOIN moz_places b ON b.id = a.id + 1 WHERE b.origin_id NOT IN (a.origin_id, a.origin_id + 1)",
                0,
                0,
            ),
            (
                "SELECT count(*) FROM moz_historyvisits v JOIN moz_historyvisits f ON f.id = v.from_visit JOIN moz_places p ON p.id = v.place_id JOIN moz_places o ON o.id = f.place_id WHERE o.origin_id = p.origin_id",
                60,
                240,
            ),
        ],
    );
}

/// Bookmarks had the page 899123 of 400, and kinds that stand for nothing.
#[test]
fn the_bookmarks_of_a_browser_are_believable() {
    judge_program(
        "firefox_places",
        &[
            ("SELECT count(*) FROM moz_bookmarks WHERE (type = 1) <> (fk IS NOT NULL) OR type NOT IN (1, 2)", 0, 0),
            ("SELECT max(foreign_count) FROM moz_places", 1, 1),
            ("SELECT count(*) FROM moz_bookmarks WHERE type = 2", 9, 14),
            ("SELECT count(*) FROM moz_bookmarks WHERE fk NOT IN (SELECT id FROM moz_places)", 0, 0),
            ("SELECT count(*) FROM moz_bookmarks WHERE lastModified < dateAdded OR dateAdded < 1000000000000000", 0, 0),
            (
                "SELECT count(*) FROM moz_bookmarks b WHERE position <> (SELECT count(*) FROM moz_bookmarks o WHERE o.parent = b.parent AND o.id < b.id)",
                0,
                0,
            ),
            ("SELECT count(*) FROM moz_inputhistory WHERE length(input) > 3 AND input NOT GLOB '*[g-z]*'", 0, 4),
        ],
    );
}

/// All bookmarks lay in the folder 0, which there was none, and people typed a page eleven times that they saw twice.
#[test]
fn bookmarks_lie_in_a_tree_of_folders() {
    judge_program(
        "firefox_places",
        &[
            ("SELECT count(*) FROM moz_bookmarks WHERE parent = 0 AND id > 1", 0, 0),
            (
                "SELECT count(*) FROM moz_bookmarks b LEFT JOIN moz_bookmarks f ON f.id = b.parent WHERE b.id > 1 AND f.type IS NOT 2",
                0,
                0,
            ),
            ("SELECT count(*) FROM moz_bookmarks WHERE title IN ('menu', 'toolbar', 'unfiled') AND parent = 1", 3, 3),
            ("SELECT count(DISTINCT parent) FROM moz_bookmarks", 7, 14),
            (
                "SELECT count(*) FROM moz_bookmarks WHERE length(guid) <> 12 OR (id = 2) <> (guid = 'menu________')",
                0,
                0,
            ),
            (
                "SELECT count(*) FROM moz_inputhistory i JOIN moz_places p ON p.id = place_id WHERE use_count > visit_count",
                0,
                0,
            ),
        ],
    );
}

/// A search for "cheap teapot" led to the weather in Bristol, and a bookmark had the title of another page.
#[test]
fn searches_and_bookmarks_have_the_titles_of_their_pages() {
    judge_program(
        "chrome_history",
        &[(
            "SELECT count(*) FROM keyword_search_terms JOIN urls u ON u.id = url_id WHERE lower(title) NOT LIKE lower(term) || '%'",
            0,
            0,
        )],
    );
    judge_program(
        "firefox_places",
        &[("SELECT count(*) FROM moz_bookmarks b JOIN moz_places p ON p.id = fk WHERE b.title <> p.title", 0, 0)],
    );
}

/// Times were seconds from 1970, visits came from a page that does not exist, a page was typed more often than it was visited, and
/// the slices of a download were of 400 downloads.
#[test]
fn the_history_of_another_browser_is_believable() {
    const DAY: &str = "date(visit_time / 1000000 - 11644473600, 'unixepoch')";
    judge_program(
        "chrome_history",
        &[
            (&format!("SELECT count(*) FROM visits WHERE {DAY} NOT BETWEEN '2021-01-01' AND '2026-01-01'"), 0, 0),
            (&format!("SELECT count(DISTINCT {DAY}) FROM visits"), 6, 8),
            // A page had all of its visits one after another, and most visits came from nowhere.
            ("SELECT count(*) FROM visits a JOIN visits b ON b.id = a.id + 1 WHERE b.url = a.url", 0, 60),
            (
                "SELECT count(*) FROM urls a JOIN urls b ON b.id = a.id + 1
                WHERE (SELECT min(id) FROM visits WHERE url = b.id) < (SELECT min(id) FROM visits WHERE url = a.id)",
                0,
                0,
            ),
            ("SELECT count(*) FROM urls WHERE visit_count = 0", 0, 0),
            (
                "SELECT count(*) FROM visits v JOIN visits f ON f.id = v.from_visit WHERE v.visit_time - f.visit_time > 900000000",
                0,
                0,
            ),
            ("SELECT count(DISTINCT keyword_id) FROM keyword_search_terms", 1, 1),
            (
                "SELECT count(*) FROM keyword_search_terms JOIN urls u ON u.id = url_id WHERE u.url NOT LIKE 'https://search.example/%'",
                0,
                0,
            ),
            ("SELECT count(*) FROM visits v JOIN urls u ON u.id = v.url WHERE visit_time > last_visit_time", 0, 0),
            (
                "SELECT count(*) FROM urls u WHERE visit_count > 0 AND last_visit_time <> (SELECT max(visit_time) FROM visits WHERE url = u.id)",
                0,
                0,
            ),
            ("SELECT count(*) FROM urls u WHERE visit_count <> (SELECT count(*) FROM visits WHERE url = u.id)", 0, 0),
            ("SELECT count(*) FROM urls WHERE typed_count > visit_count", 0, 0),
            ("SELECT count(*) FROM urls WHERE typed_count > 0", 5, 120),
            ("SELECT count(*) FROM urls WHERE url NOT GLOB 'https://*.example/?*'", 0, 0),
            ("SELECT count(*) FROM (SELECT url FROM urls GROUP BY url HAVING count(*) > 1)", 0, 4),
            ("SELECT count(*) FROM urls WHERE hidden", 0, 20),
            ("SELECT count(*) FROM visits WHERE from_visit >= id OR from_visit < 0", 0, 0),
            ("SELECT count(*) FROM visits WHERE from_visit > 0 AND transition & 0xFF NOT IN (0, 7)", 0, 0),
            ("SELECT count(*) FROM visits WHERE from_visit > 0", 120, 240),
            ("SELECT count(*) FROM visits WHERE visit_duration % 1000000 <> 0 OR visit_duration > 3600000000", 0, 0),
            ("SELECT count(*) FROM visits WHERE transition & 0xFF NOT BETWEEN 0 AND 10", 0, 0),
            ("SELECT count(*) FROM visits a JOIN visits b ON b.id = a.id + 1 WHERE b.visit_time < a.visit_time", 0, 0),
            ("SELECT count(*) FROM visit_source WHERE source NOT BETWEEN 0 AND 3", 0, 0),
            ("SELECT count(*) FROM keyword_search_terms WHERE normalized_term <> lower(term)", 0, 0),
            ("SELECT count(*) FROM keyword_search_terms WHERE instr(term, ' ') > 0", 15, 30),
            ("SELECT count(*) FROM keyword_search_terms WHERE url_id NOT IN (SELECT id FROM urls)", 0, 0),
            (
                "SELECT count(*) FROM segment_usage WHERE time_slot % 86400000000 <> 0 OR time_slot > 13411612800000000",
                0,
                0,
            ),
            ("SELECT count(*) FROM downloads_slices WHERE finished NOT IN (0, 1) OR received_bytes > 1048576", 0, 0),
            ("SELECT max(n) FROM (SELECT count(*) n FROM downloads_slices GROUP BY download_id)", 3, 3),
            ("SELECT count(*) FROM downloads_slices WHERE offset NOT IN (0, 1048576, 2097152)", 0, 0),
        ],
    );
}

/// A lamp was in the state "Amsterdam", a thing was called TADUQ94, four of ten states were of no thing, the mean of an hour was above
/// its maximum, and columns that are no longer used were full.
#[test]
fn a_house_is_believable() {
    judge_program(
        "home_assistant",
        &[
            ("SELECT count(*) FROM states_meta WHERE entity_id NOT GLOB '[a-z_]*.[a-z_]*'", 0, 0),
            ("SELECT count(DISTINCT substr(entity_id, 1, 4)) FROM states_meta", 6, 9),
            (
                "SELECT count(*) FROM states JOIN states_meta m USING (metadata_id)
                WHERE (m.entity_id LIKE 'light.%' OR m.entity_id LIKE 'switch.%' OR m.entity_id LIKE 'binary%') AND state NOT IN ('on', 'off')",
                0,
                0,
            ),
            (
                "SELECT count(*) FROM states JOIN states_meta m USING (metadata_id)
                WHERE m.entity_id LIKE 'sensor.%temperature%' AND state + 0 NOT BETWEEN 5 AND 35",
                0,
                0,
            ),
            (
                "SELECT count(*) FROM states JOIN states_meta m USING (metadata_id) WHERE m.entity_id LIKE 'cover.%' AND state NOT IN ('open', 'closed')",
                0,
                0,
            ),
            ("SELECT count(*) FROM states WHERE state IS NULL OR metadata_id IS NULL OR attributes_id IS NULL", 0, 0),
            ("SELECT count(*) FROM states WHERE entity_id IS NOT NULL OR attributes IS NOT NULL OR last_changed IS NOT NULL", 0, 0),
            ("SELECT count(*) FROM states WHERE last_updated_ts < last_changed_ts OR last_updated_ts > 1767225600", 0, 0),
            ("SELECT count(*) FROM states WHERE last_changed_ts = round(last_changed_ts)", 0, 6),
            ("SELECT count(*) FROM states s JOIN states o ON o.state_id = s.old_state_id WHERE o.metadata_id <> s.metadata_id", 0, 0),
            ("SELECT count(*) FROM states s JOIN states o ON o.state_id = s.old_state_id WHERE o.last_changed_ts > s.last_changed_ts", 0, 0),
            ("SELECT count(*) FROM states WHERE old_state_id IS NULL", 16, 16),
            // Two states followed the same one.
            ("SELECT count(old_state_id) - count(DISTINCT old_state_id) FROM states", 0, 0),
            ("SELECT count(DISTINCT metadata_id) FROM states", 16, 16),
            ("SELECT count(*) FROM events WHERE event_type IS NOT NULL OR event_data IS NOT NULL OR origin IS NOT NULL", 0, 0),
            ("SELECT count(*) FROM events WHERE length(context_id_bin) <> 16 OR event_type_id IS NULL", 0, 0),
            ("SELECT count(*) FROM event_types WHERE event_type NOT GLOB '*[a-z]_[a-z]*'", 0, 0),
            ("SELECT count(DISTINCT event_type) FROM event_types", 9, 9),
            ("SELECT count(*) FROM event_data WHERE NOT json_valid(shared_data) OR shared_data LIKE '%theme%'", 0, 0),
            ("SELECT count(*) FROM state_attributes WHERE NOT json_valid(shared_attrs)", 0, 0),
            ("SELECT count(*) FROM state_attributes WHERE hash > 4294967295 OR hash < 0", 0, 0),
            (
                "SELECT count(*) FROM statistics_meta WHERE (unit_of_measurement = 'kWh') <> has_sum OR has_sum = has_mean
                OR statistic_id LIKE '%temperature%' AND unit_of_measurement <> '°C'",
                0,
                0,
            ),
            ("SELECT count(*) FROM statistics WHERE mean NOT BETWEEN min AND max", 0, 0),
            ("SELECT count(*) FROM statistics s JOIN statistics_meta m ON m.id = s.metadata_id WHERE (sum IS NULL) <> has_mean OR (mean IS NULL) <> has_sum", 0, 0),
            ("SELECT count(*) FROM statistics WHERE start_ts % 3600 <> 0 OR created_ts < start_ts + 3600", 0, 0),
            ("SELECT count(*) FROM statistics WHERE unixepoch(created) <> created_ts", 0, 0),
            ("SELECT count(*) FROM statistics WHERE created_ts > 1767225600", 0, 0),
            (
                "SELECT count(*) FROM statistics a JOIN statistics b ON b.metadata_id = a.metadata_id AND b.start_ts = a.start_ts + 3600 WHERE b.sum <= a.sum",
                0,
                0,
            ),
            ("SELECT max(n) - min(n) FROM (SELECT count(*) n FROM statistics GROUP BY metadata_id)", 0, 1),
            // A lamp was on twice, and no state had a time.
            ("SELECT count(*) FROM states s JOIN states o ON o.state_id = s.old_state_id JOIN states_meta m ON m.metadata_id = s.metadata_id WHERE s.state = o.state AND m.entity_id LIKE 'light%'", 0, 0),
            ("SELECT count(*) FROM states WHERE last_updated_ts IS NULL", 0, 0),
            ("SELECT count(*) FROM states s JOIN states o ON o.state_id = s.old_state_id WHERE s.last_updated_ts <= o.last_updated_ts", 0, 0),
            // A lamp was switched on by a tag.
            ("SELECT count(*) FROM events e JOIN event_data d ON d.data_id = e.data_id WHERE (event_type_id = 1) <> (shared_data LIKE '%service%')", 0, 0),
            ("SELECT count(*) FROM events e JOIN event_data d ON d.data_id = e.data_id WHERE (event_type_id = 9) <> (shared_data LIKE '%tag_id%')", 0, 0),
        ],
    );
}

/// Files were in the storage 108018, had names such as "Southern Fire" beside the path `lantern-heart.zip`, users were called
/// 385f76a50b2ba1ba, and a link had no token.
#[test]
fn a_file_server_is_believable() {
    judge_program(
        "nextcloud",
        &[
            ("SELECT count(*) FROM oc_filecache WHERE storage NOT IN (SELECT numeric_id FROM oc_storages)", 0, 0),
            ("SELECT count(*) FROM oc_filecache WHERE mimetype NOT IN (SELECT id FROM oc_mimetypes)", 0, 0),
            ("SELECT count(*) FROM oc_filecache WHERE path NOT LIKE '%/' || name", 0, 0),
            ("SELECT count(*) FROM oc_filecache f JOIN oc_filecache d ON d.fileid = f.parent WHERE f.path <> d.path || '/' || f.name", 0, 0),
            ("SELECT count(*) FROM oc_filecache f JOIN oc_filecache d ON d.fileid = f.parent WHERE f.storage <> d.storage", 0, 0),
            ("SELECT count(*) FROM oc_filecache WHERE parent = 0", 20, 60),
            ("SELECT count(*) FROM oc_filecache WHERE parent <> 0 AND parent NOT IN (SELECT fileid FROM oc_filecache WHERE parent = 0)", 0, 0),
            (
                "SELECT count(*) FROM oc_filecache f JOIN oc_mimetypes m ON m.id = f.mimetype
                WHERE parent <> 0 AND m.mimetype LIKE '%/x-%' AND name NOT LIKE '%.' || substr(m.mimetype, instr(m.mimetype, '/x-') + 3)",
                0,
                0,
            ),
            (
                "SELECT count(*) FROM oc_filecache f JOIN oc_mimetypes m ON m.id = f.mimetype
                WHERE parent <> 0 AND (m.mimetype = 'image/png') <> (name LIKE '%.png')",
                0,
                0,
            ),
            ("SELECT count(*) FROM oc_filecache WHERE length(path_hash) <> 32 OR size <= 0", 0, 0),
            ("SELECT count(*) FROM oc_filecache WHERE encrypted NOT IN (0, 1)", 0, 0),
            // There are no more types in the list.
            ("SELECT count(DISTINCT mimetype) FROM oc_mimetypes", 14, 14),
            ("SELECT count(*) FROM oc_mimetypes", 14, 14),
            ("SELECT count(*) FROM oc_mimetypes WHERE mimetype NOT LIKE '%_/_%' OR mimetype LIKE '% %'", 0, 0),
            ("SELECT count(*) FROM oc_storages WHERE id IS NULL OR id NOT LIKE '%::%'", 0, 0),
            ("SELECT count(*) FROM oc_storages WHERE date(last_checked, 'unixepoch') NOT BETWEEN '2021-01-01' AND '2026-01-01'", 0, 0),
            ("SELECT count(*) FROM oc_users WHERE uid NOT LIKE lower(substr(displayname, 1, 3)) || '%' OR uid_lower <> lower(uid)", 0, 0),
            ("SELECT count(*) FROM oc_preferences WHERE userid NOT IN (SELECT uid FROM oc_users)", 0, 0),
            // Every program had Django's hashes of passwords.
            ("SELECT count(*) FROM oc_users WHERE password LIKE 'pbkdf2%' OR length(password) < 40", 0, 0),
            ("SELECT count(*) FROM oc_preferences WHERE configkey LIKE '%.enabled' AND configvalue NOT IN ('true', 'false')", 0, 0),
            ("SELECT max(n) FROM (SELECT count(*) n FROM oc_preferences GROUP BY userid)", 4, 200),
            ("SELECT count(*) FROM oc_share WHERE share_with NOT IN (SELECT uid FROM oc_users)", 0, 0),
            ("SELECT count(*) FROM oc_share WHERE (share_type = 3) <> (token IS NOT NULL) OR (share_type = 0) <> (share_with IS NOT NULL)", 0, 0),
            ("SELECT count(*) FROM oc_share WHERE share_type = 3", 80, 160),
            ("SELECT count(*) FROM oc_share WHERE file_source IS NULL OR file_source NOT IN (SELECT fileid FROM oc_filecache)", 0, 0),
            ("SELECT count(*) FROM oc_share WHERE expiration IS NOT NULL AND share_type <> 3", 0, 0),
            ("SELECT count(*) FROM oc_share WHERE permissions NOT IN (1, 3, 17, 19, 31)", 0, 0),
            ("SELECT count(*) FROM oc_activity WHERE type IN ('bug', 'feature', 'task') OR NOT json_valid(subjectparams)", 0, 0),
            ("SELECT count(*) FROM oc_activity WHERE user NOT IN (SELECT uid FROM oc_users)", 0, 0),
            ("SELECT count(*) FROM oc_migrations WHERE version NOT BETWEEN '2015' AND '2026' OR length(version) <> 14", 0, 0),
        ],
    );
}

/// Cards were of the note 99089 of 400, new ones had an interval of 236244 days, an answer had the ease 2500, and graves had
/// kinds up to 4796.
#[test]
fn flash_cards_are_believable() {
    judge_program_rows(
        "anki",
        &[("notetypes", 600), ("fields", 1200), ("cards", 600)],
        &[
            ("SELECT count(*) FROM cards WHERE nid NOT IN (SELECT id FROM notes)", 0, 0),
            ("SELECT count(*) FROM notes WHERE mid NOT IN (SELECT id FROM notetypes)", 0, 0),
            ("SELECT count(*) FROM fields WHERE ntid NOT IN (SELECT id FROM notetypes)", 0, 0),
            ("SELECT count(*) FROM revlog WHERE cid NOT IN (SELECT id FROM cards)", 0, 0),
            ("SELECT count(*) FROM cards c WHERE reps <> (SELECT count(*) FROM revlog WHERE cid = c.id)", 0, 0),
            ("SELECT count(*) FROM cards WHERE (type = 0) <> (reps = 0) OR type = 0 AND (ivl > 0 OR factor > 0)", 0, 0),
            ("SELECT count(*) FROM cards WHERE type NOT BETWEEN 0 AND 3 OR queue NOT IN (-1, 0, 1, 2)", 0, 0),
            ("SELECT count(*) FROM cards WHERE queue = -1", 2, 45),
            ("SELECT count(*) FROM cards WHERE ivl > 2000 OR ivl < 0 OR factor NOT BETWEEN 0 AND 3000", 0, 0),
            ("SELECT count(*) FROM cards WHERE odid = 0", 540, 598),
            ("SELECT count(*) FROM cards WHERE data <> ''", 0, 0),
            ("SELECT count(DISTINCT did) FROM cards", 20, 200),
            ("SELECT count(*) FROM (SELECT 1 FROM cards GROUP BY nid, ord HAVING count(*) > 1)", 0, 0),
            ("SELECT max(ord) FROM cards", 2, 9),
            ("SELECT count(*) FROM notes WHERE id NOT IN (SELECT nid FROM cards)", 0, 0),
            (
                "SELECT count(*) FROM notes WHERE tags = 'arithmetic'
                AND sfld * substr(sfld, instr(sfld, 'x') + 1) <> substr(flds, instr(flds, char(31)) + 1) + 0",
                0,
                0,
            ),
            ("SELECT count(*) FROM notes WHERE sfld = 'Berlin' AND flds <> 'Berlin' || char(31) || 'Germany'", 0, 0),
            ("SELECT count(DISTINCT sfld) FROM notes", 270, 400),
            (
                "SELECT count(*) FROM notes WHERE flds <> sfld || char(31) || substr(flds, length(sfld) + 2) OR flds LIKE '%' || char(31)",
                0,
                0,
            ),
            (
                "SELECT count(*) FROM notes WHERE typeof(sfld) = 'integer' OR flags <> 0 OR csum NOT BETWEEN 0 AND 4294967295",
                0,
                0,
            ),
            ("SELECT count(DISTINCT csum) FROM notes", 395, 400),
            ("SELECT count(*) FROM notes WHERE usn NOT BETWEEN -1 AND 900", 0, 0),
            ("SELECT count(*) FROM revlog WHERE ease NOT BETWEEN 1 AND 4 OR type NOT BETWEEN 0 AND 3", 0, 0),
            ("SELECT count(*) FROM revlog WHERE time NOT BETWEEN 500 AND 60000", 0, 0),
            ("SELECT count(*) FROM revlog WHERE (ease = 1) <> (ivl < 0)", 0, 0),
            (
                "SELECT count(*) FROM revlog WHERE date(id / 1000, 'unixepoch') NOT BETWEEN '2021-01-01' AND '2026-01-01'",
                0,
                0,
            ),
            ("SELECT count(*) FROM graves WHERE type NOT BETWEEN 0 AND 2", 0, 0),
            (
                "SELECT count(*) FROM col WHERE NOT json_valid(conf) OR NOT json_valid(models) OR scm < crt OR mod < crt",
                0,
                0,
            ),
            ("SELECT count(*) FROM fields WHERE ord = 1 AND name <> 'Front'", 0, 0),
            ("SELECT count(DISTINCT ord) FROM fields", 2, 12),
            ("SELECT count(*) FROM tags WHERE tag LIKE '% %'", 0, 0),
        ],
    );
}

/// A room had a humidity of 24, 44 and 38 percent within ten minutes, and a counter of energy went back.
#[test]
fn sensors_measure_about_what_they_measured_before() {
    const SENSORS: &str = "states s JOIN states_meta m USING (metadata_id) WHERE m.entity_id LIKE 'sensor.%'";
    judge_program_rows(
        "home_assistant",
        &[("states_meta", 60), ("statistics_meta", 60)],
        &[
            (
                &format!(
                    "SELECT count(*) FROM (SELECT 1 FROM {SENSORS} AND m.entity_id NOT LIKE '%energy%' GROUP BY metadata_id HAVING max(state + 0) > 1.15 * min(state + 0))"
                ),
                0,
                0,
            ),
            (
                &format!(
                    "SELECT count(*) FROM {SENSORS} AND m.entity_id LIKE '%energy%' AND state + 0 < (SELECT max(state + 0) FROM states b WHERE b.metadata_id = m.metadata_id AND b.state_id < s.state_id)"
                ),
                0,
                0,
            ),
            (
                "SELECT count(*) FROM (SELECT 1 FROM statistics WHERE mean IS NOT NULL GROUP BY metadata_id HAVING max(mean) > 1.15 * min(mean))",
                0,
                0,
            ),
        ],
    );
}

/// The last answer set an interval of 51 days, and the card had one of 36; a note on Chinese words said "22 x 20", and its type had
/// one field for its front and its back.
#[test]
fn cards_follow_from_their_answers_and_notes_from_their_types() {
    const LAST: &str = "FROM revlog WHERE cid = c.id ORDER BY id DESC LIMIT 1";
    judge_program(
        "anki",
        &[
            (&format!("SELECT count(*) FROM cards c WHERE type = 2 AND ivl <> (SELECT ivl {LAST})"), 0, 0),
            (&format!("SELECT count(*) FROM cards c WHERE type IN (1, 3) AND 1 <> (SELECT ease {LAST})"), 0, 0),
            (&format!("SELECT count(*) FROM cards c WHERE reps > 0 AND mod <> (SELECT id / 1000 {LAST})"), 0, 0),
            ("SELECT count(*) FROM cards WHERE type IN (1, 3)", 5, 60),
            ("SELECT count(*) FROM notetypes WHERE name LIKE '%Vocabulary%' OR name LIKE '%Facts%'", 0, 0),
            ("SELECT count(*) FROM notetypes t WHERE 2 <> (SELECT count(*) FROM fields WHERE ntid = t.id)", 0, 0),
        ],
    );
}

/// A table of the states of a country, with the time of the last change, would hold metrics.
#[test]
fn states_of_a_country_stay_what_they_are() {
    let sql = "CREATE TABLE states (id INTEGER PRIMARY KEY, state TEXT NOT NULL, updated_at TEXT);";
    let metrics = "SELECT count(*) FROM states WHERE state LIKE '%.%' OR state IN ('on', 'off')";
    assert_eq!(super::number(&make(sql, ROWS, &[]), metrics), 0);
}

/// A person tries a schema with one row, or two, first.
#[test]
fn programs_of_one_person_have_few_rows_too() {
    for name in ["firefox_places", "chrome_history", "home_assistant", "nextcloud", "anki"] {
        for rows in [1, 2, 10] {
            drop(make(&program(name), rows, &[]));
        }
    }
}
