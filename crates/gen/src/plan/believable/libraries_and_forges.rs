//! Programs for books, films, references, code, dashboards and messages, whose rows had names of shops and random numbers.

use super::{judge_program, make, number, program};

/// Most books were "Unknown", came out after they were in the library, and had files in formats such as `582dfb683d129831`.
#[test]
fn books_of_a_library_are_believable() {
    judge_program(
        "calibre",
        &[
            (
                "SELECT count(*) FROM authors WHERE sort <> substr(name, instr(name, ' ') + 1) || ', ' || substr(name, 1, instr(name, ' ') - 1) OR sort IS NULL",
                0,
                0,
            ),
            ("SELECT count(*) FROM authors WHERE link <> '' AND link NOT LIKE 'https://%'", 0, 0),
            ("SELECT count(*) FROM books WHERE title = 'Unknown'", 0, 25),
            ("SELECT count(DISTINCT title) FROM books", 250, 400),
            ("SELECT count(*) FROM books WHERE title LIKE 'The %' AND sort <> substr(title, 5) || ', The'", 0, 0),
            ("SELECT count(*) FROM books WHERE title LIKE 'The %'", 50, 250),
            ("SELECT count(*) FROM books WHERE sort IS NULL OR uuid IS NULL OR length(uuid) <> 36", 0, 0),
            ("SELECT count(*) FROM books WHERE pubdate >= timestamp", 0, 0),
            ("SELECT count(*) FROM books WHERE pubdate < '1900'", 0, 2),
            ("SELECT count(*) FROM books WHERE last_modified < timestamp", 0, 0),
            ("SELECT count(*) FROM books WHERE last_modified > '2026-01-01'", 0, 0),
            (
                "SELECT count(*) FROM books WHERE series_index <> round(series_index) OR series_index NOT BETWEEN 1 AND 12",
                0,
                0,
            ),
            ("SELECT count(*) FROM books WHERE author_sort NOT LIKE '%, %'", 0, 0),
            ("SELECT count(*) FROM books WHERE path NOT LIKE '%/' || title || ' (' || id || ')'", 0, 0),
            ("SELECT count(*) FROM books WHERE has_cover", 320, 395),
            // The authors of a book were others than its `author_sort` said.
            (
                "SELECT count(*) FROM books_authors_link JOIN books b ON b.id = book JOIN authors a ON a.id = author WHERE a.sort <> author_sort",
                0,
                0,
            ),
            ("SELECT max(n) FROM (SELECT count(*) n FROM books_authors_link GROUP BY author)", 3, 30),
            // Every author had exactly two books.
            ("SELECT count(*) FROM (SELECT count(*) n FROM books_authors_link GROUP BY author) WHERE n = 2", 10, 120),
            ("SELECT count(*) FROM comments WHERE text IN ('I agree.', 'First!', 'Works for me.')", 0, 0),
            (
                "SELECT count(*) FROM data WHERE format NOT IN ('EPUB', 'PDF', 'AZW3', 'MOBI', 'TXT', 'DOCX', 'RTF', 'FB2')",
                0,
                0,
            ),
            ("SELECT count(*) FROM data WHERE format = 'EPUB'", 100, 300),
            ("SELECT count(*) FROM data d JOIN books b ON b.id = d.book WHERE d.name <> b.title", 0, 0),
            ("SELECT count(*) FROM data WHERE uncompressed_size NOT BETWEEN 30000 AND 90000000", 0, 0),
            ("SELECT count(*) FROM identifiers WHERE type = 'isbn' AND length(val) <> 13", 0, 0),
            ("SELECT count(*) FROM identifiers WHERE type = 'isbn'", 100, 300),
            ("SELECT count(*) FROM identifiers WHERE type = 'goodreads' AND val GLOB '*[^0-9]*'", 0, 0),
            ("SELECT count(*) FROM identifiers WHERE type = 'amazon' AND val NOT GLOB 'B0*'", 0, 0),
            ("SELECT count(*) FROM ratings WHERE rating NOT BETWEEN 0 AND 10", 0, 0),
            ("SELECT count(*) FROM ratings", 11, 11),
            ("SELECT count(*) FROM preferences WHERE key LIKE '%enabled' AND val NOT IN ('true', 'false')", 0, 0),
        ],
    );
}

/// A user was "rebecca kumar", half of the code was private, every issue was the first one, and sessions had ended years ago.
#[test]
fn code_and_issues_of_a_forge_are_believable() {
    judge_program(
        "gitea",
        &[
            ("SELECT count(*) FROM version v JOIN version o ON o.id = v.id - 1 WHERE v.version <= o.version", 0, 0),
            ("SELECT count(*) FROM user WHERE lower_name <> lower(name) OR instr(name, ' ') > 0", 0, 0),
            ("SELECT count(*) FROM user WHERE email NOT LIKE lower_name || '@%' OR email <> lower(email)", 0, 0),
            // Organisations had the names of persons.
            ("SELECT count(*) FROM user WHERE type > 0", 0, 0),
            ("SELECT count(*) FROM user WHERE is_active IS NULL", 0, 0),
            ("SELECT count(*) FROM user WHERE is_active", 340, 395),
            (
                "SELECT count(*) FROM user u WHERE num_repos <> (SELECT count(*) FROM repository r WHERE r.owner_id = u.id)",
                0,
                0,
            ),
            ("SELECT count(*) FROM user WHERE length(passwd) < 60", 0, 0),
            ("SELECT count(*) FROM repository WHERE lower_name <> lower(name) OR name GLOB '* *'", 0, 0),
            ("SELECT count(*) FROM repository WHERE is_private", 5, 80),
            ("SELECT count(*) FROM repository WHERE owner_id IS NULL OR size < 0", 0, 0),
            (
                "SELECT count(*) FROM repository r JOIN user u ON u.id = owner_id WHERE updated_unix < u.created_unix",
                0,
                0,
            ),
            ("SELECT max(n) FROM (SELECT count(*) n FROM repository GROUP BY owner_id)", 5, 80),
            ("SELECT count(*) FROM issue WHERE `index` = 1", 100, 300),
            ("SELECT max(`index`) FROM issue", 3, 30),
            (
                "SELECT count(*) FROM (SELECT max(`index`) <> count(*) wrong FROM issue GROUP BY repo_id) WHERE wrong",
                0,
                0,
            ),
            (
                "SELECT count(*) FROM issue i JOIN issue o USING (repo_id) WHERE i.`index` < o.`index` AND i.created_unix > o.created_unix",
                0,
                0,
            ),
            ("SELECT count(*) FROM issue WHERE deadline_unix IS NULL", 320, 390),
            ("SELECT count(*) FROM issue WHERE deadline_unix <= created_unix OR is_closed IS NULL", 0, 0),
            ("SELECT count(*) FROM issue WHERE content LIKE '%has sent the%'", 0, 0),
            (
                "SELECT count(*) FROM issue i JOIN user u ON u.id = poster_id WHERE i.created_unix < u.created_unix",
                0,
                0,
            ),
            (
                "SELECT count(*) FROM comment c JOIN issue i ON i.id = issue_id WHERE c.created_unix < i.created_unix",
                0,
                0,
            ),
            (
                "SELECT count(*) FROM comment c JOIN user u ON u.id = poster_id WHERE c.created_unix < u.created_unix",
                0,
                0,
            ),
            ("SELECT count(*) FROM action a JOIN user u ON u.id = user_id WHERE a.created_unix < u.created_unix", 0, 0),
            ("SELECT count(*) FROM action WHERE is_deleted", 1, 40),
            ("SELECT count(*) FROM action WHERE op_type IS NULL", 0, 0),
            ("SELECT count(*) FROM session WHERE key GLOB '*[^0-9a-f]*' OR length(key) < 32", 0, 0),
            (
                "SELECT count(*) FROM session WHERE expiry IS NULL OR date(expiry, 'unixepoch') NOT BETWEEN '2025-12-31' AND '2026-02-15'",
                0,
                0,
            ),
            (
                "SELECT count(*) FROM comment WHERE date(created_unix, 'unixepoch') NOT BETWEEN '2021-01-01' AND '2026-01-01'",
                0,
                0,
            ),
        ],
    );
}

/// Identifiers were numbers that led nowhere, messages took days, and a timer was a date.
#[test]
fn messages_of_a_messenger_are_believable() {
    judge_program(
        "signal",
        &[
            ("SELECT count(*) FROM conversations WHERE typeof(id) <> 'text' OR length(id) <> 36", 0, 0),
            ("SELECT count(*) FROM conversations WHERE type NOT IN ('private', 'group')", 0, 0),
            ("SELECT count(*) FROM conversations WHERE type = 'group'", 3, 13),
            ("SELECT count(*) FROM conversations WHERE (type = 'group') <> (members IS NOT NULL)", 0, 0),
            (
                "SELECT count(*) FROM conversations WHERE (type = 'group') <> (e164 IS NULL) OR e164 NOT GLOB '+1*55501[0-9][0-9]'",
                0,
                0,
            ),
            ("SELECT count(*) FROM conversations WHERE name <> profileName OR name IS NULL", 0, 0),
            (
                "SELECT count(*) FROM conversations WHERE json_extract(json, '$.id') <> id OR json_extract(json, '$.type') <> type",
                0,
                0,
            ),
            (
                "SELECT count(*) FROM messages WHERE json_extract(json, '$.id') <> id OR json_extract(json, '$.sent_at') <> sent_at",
                0,
                0,
            ),
            ("SELECT count(*) FROM messages WHERE conversationId NOT IN (SELECT id FROM conversations)", 0, 0),
            (
                "SELECT count(*) FROM messages WHERE date(sent_at / 1000, 'unixepoch') NOT BETWEEN '2021-01-01' AND '2026-01-01'",
                0,
                0,
            ),
            ("SELECT count(*) FROM messages WHERE received_at NOT BETWEEN sent_at AND sent_at + 90000000", 0, 0),
            ("SELECT count(*) FROM messages WHERE received_at > sent_at + 3600000", 0, 3),
            (
                "SELECT count(*) FROM conversations c WHERE active_at <> (SELECT max(sent_at) FROM messages WHERE conversationId = c.id)",
                0,
                0,
            ),
            ("SELECT count(*) FROM messages WHERE expireTimer NOT IN (0, 3600, 86400, 604800)", 0, 0),
            ("SELECT count(*) FROM messages WHERE expireTimer > 0", 1, 30),
            (
                "SELECT count(*) FROM messages WHERE (expireTimer > 0) <> (expires_at IS NOT NULL) OR expires_at <> sent_at + 1000 * expireTimer",
                0,
                0,
            ),
            ("SELECT count(*) FROM messages WHERE hasAttachments", 10, 90),
            ("SELECT count(*) FROM messages WHERE isErased", 1, 40),
            ("SELECT count(*) FROM messages WHERE isErased <> (body IS NULL)", 0, 0),
            ("SELECT count(*) FROM messages WHERE type NOT IN ('incoming', 'outgoing')", 0, 0),
            ("SELECT count(*) FROM messages WHERE storyId IS NULL", 320, 400),
            ("SELECT max(n) FROM (SELECT count(*) n FROM messages GROUP BY conversationId)", 8, 120),
        ],
    );
}

/// Reactions were of other conversations than their message, an emoji was 67333, and a sticker of 1080 x 480 was a PDF.
#[test]
fn reactions_and_stickers_belong_to_messages_and_packs() {
    judge_program(
        "signal",
        &[
            (
                "SELECT count(*) FROM reactions WHERE messageId NOT IN (SELECT id FROM messages) OR fromId NOT IN (SELECT id FROM conversations)",
                0,
                0,
            ),
            (
                "SELECT count(*) FROM reactions r JOIN messages m ON m.id = messageId WHERE r.conversationId <> m.conversationId OR targetTimestamp <> sent_at",
                0,
                0,
            ),
            ("SELECT count(*) FROM reactions WHERE unicode(emoji) < 8000", 0, 0),
            ("SELECT count(*) FROM reactions WHERE unread", 1, 25),
            ("SELECT count(*) FROM sessions WHERE conversationId NOT IN (SELECT id FROM conversations)", 0, 0),
            ("SELECT count(DISTINCT ourServiceId) FROM sessions", 1, 3),
            (
                "SELECT count(*) FROM edited_messages e JOIN messages m ON m.id = messageId WHERE e.sentAt < m.sent_at",
                0,
                0,
            ),
            ("SELECT count(*) FROM sticker_packs WHERE length(key) < 32 OR key GLOB '*[^0-9a-f]*'", 0, 0),
            ("SELECT count(*) FROM sticker_packs WHERE status NOT IN ('active', 'inactive', 'pending')", 0, 0),
            (
                "SELECT count(*) FROM sticker_packs p WHERE coverStickerId IS NOT NULL AND NOT EXISTS (SELECT 1 FROM stickers s WHERE s.packId = p.id AND s.id = coverStickerId)",
                0,
                0,
            ),
            ("SELECT count(*) FROM stickers WHERE width <> height OR path NOT GLOB '*.[jp][pn]g'", 0, 0),
            ("SELECT max(id) FROM stickers", 3, 30),
            ("SELECT count(*) FROM stickers s JOIN sticker_packs p ON p.id = packId WHERE lastUsed < createdAt", 0, 0),
        ],
    );
}

/// A kind of reference was "good first issue", a word was `2cdc3724fd3a954e`, and every creator had a mode of their own.
#[test]
fn references_are_believable() {
    judge_program(
        "zotero",
        &[
            ("SELECT count(*) FROM version WHERE schema GLOB '[0-9a-f][0-9a-f][0-9a-f][0-9a-f]*'", 0, 0),
            ("SELECT count(*) FROM settings WHERE setting LIKE '%.%' OR value IS NULL", 0, 0),
            ("SELECT count(*) FROM libraries WHERE type NOT IN ('user', 'group', 'feed')", 0, 0),
            ("SELECT count(*) FROM libraries WHERE editable NOT IN (0, 1) OR archived NOT IN (0, 1)", 0, 0),
            ("SELECT count(*) FROM libraries WHERE editable", 340, 395),
            ("SELECT count(*) FROM libraries WHERE archived", 1, 40),
            (
                "SELECT count(*) FROM itemTypes WHERE typeName GLOB '* *' OR typeName IN ('bug', 'duplicate', 'urgent')",
                0,
                0,
            ),
            ("SELECT count(*) FROM itemTypes WHERE typeName = 'book'", 1, 1),
            ("SELECT count(*) - count(DISTINCT typeName) FROM itemTypes", 0, 0),
            ("SELECT count(*) FROM itemTypes WHERE display NOT IN (0, 1)", 0, 0),
            ("SELECT count(*) FROM items WHERE dateModified < dateAdded", 0, 0),
            ("SELECT count(*) FROM items WHERE dateModified > '2026-01-01'", 0, 0),
            ("SELECT count(*) FROM items WHERE key LIKE '%.%' OR length(key) < 8", 0, 0),
            ("SELECT count(*) FROM items WHERE synced", 250, 380),
            ("SELECT count(*) FROM items WHERE version NOT BETWEEN 0 AND 20", 0, 0),
            ("SELECT count(*) FROM itemDataValues WHERE value LIKE '%Cotton%' OR value LIKE '%Router%'", 0, 0),
            ("SELECT count(*) FROM itemDataValues WHERE typeof(value) <> 'text'", 0, 0),
            // The date of a book was "Bridge and Garden".
            (
                "SELECT count(*) FROM itemData JOIN itemDataValues USING (valueID) WHERE fieldID = 1 AND value GLOB '[0-9]*'",
                0,
                0,
            ),
            (
                "SELECT count(*) FROM itemData JOIN itemDataValues USING (valueID) WHERE fieldID = 2 AND value NOT GLOB '[12][09][0-9][0-9]-[01][0-9]-[0-3][0-9]'",
                0,
                0,
            ),
            (
                "SELECT count(*) FROM itemData JOIN itemDataValues USING (valueID) WHERE fieldID = 3 AND value NOT GLOB 'https://*'",
                0,
                0,
            ),
            ("SELECT max(fieldID) FROM itemData", 3, 30),
            ("SELECT count(DISTINCT fieldID) FROM itemData", 3, 30),
            // A video had the pages 8450 to 8478.
            (
                "SELECT count(*) FROM itemDataValues WHERE value GLOB '[0-9]*-[0-9]*' AND value NOT GLOB '????-??-??*'",
                0,
                0,
            ),
            ("SELECT count(*) FROM creators WHERE fieldMode <> 0", 0, 0),
            ("SELECT count(*) FROM creators WHERE firstName GLOB '*[0-9]*' OR lastName GLOB '*[0-9]*'", 0, 0),
            ("SELECT count(DISTINCT lastName) FROM creators", 80, 160),
            ("SELECT count(*) FROM itemCreators WHERE creatorTypeID NOT BETWEEN 1 AND 9", 0, 0),
            ("SELECT max(orderIndex) FROM itemCreators", 3, 30),
            (
                "SELECT count(*) FROM (SELECT max(orderIndex) <> count(*) wrong FROM itemCreators GROUP BY itemID) WHERE wrong",
                0,
                0,
            ),
            ("SELECT count(*) FROM fulltextWords WHERE word GLOB '*[^a-z0-9]*'", 0, 0),
            ("SELECT max(n) FROM (SELECT count(*) n FROM fulltextItemWords GROUP BY itemID)", 3, 60),
        ],
    );
}

/// Every row was of another organization, a migration was "perfect meadow", all succeeded with an error, and a time was 132355.
#[test]
fn dashboards_are_believable() {
    judge_program(
        "grafana",
        &[
            ("SELECT count(*) FROM migration_log WHERE success NOT IN (0, 1) OR (success = 1) <> (error = '')", 0, 0),
            ("SELECT count(*) FROM migration_log WHERE success", 380, 400),
            ("SELECT count(DISTINCT migration_id) FROM migration_log", 400, 400),
            (
                "SELECT count(*) FROM migration_log WHERE sql NOT GLOB 'CREATE TABLE *' AND sql NOT GLOB 'ALTER TABLE *' AND sql NOT GLOB 'DROP TABLE *'",
                0,
                0,
            ),
            ("SELECT count(*) FROM migration_log WHERE lower(substr(sql, 1, 5)) <> substr(migration_id, 1, 5)", 0, 0),
            ("SELECT max(org_id) FROM user", 2, 9),
            ("SELECT count(*) FROM user WHERE org_id = 1", 260, 380),
            ("SELECT count(*) FROM user WHERE is_admin", 1, 40),
            ("SELECT count(*) FROM user WHERE email NOT LIKE lower(substr(name, 1, 3)) || '%'", 0, 8),
            ("SELECT count(*) FROM user WHERE login NOT LIKE lower(substr(name, 1, 3)) || '%'", 0, 8),
            ("SELECT count(*) FROM user WHERE version NOT BETWEEN 0 AND 20", 0, 0),
            ("SELECT count(*) FROM dashboard WHERE title LIKE 'How to%' OR title LIKE '%Interview%'", 0, 0),
            ("SELECT count(*) FROM dashboard WHERE slug NOT LIKE lower(substr(title, 1, 3)) || '%'", 0, 0),
            ("SELECT count(*) FROM dashboard WHERE json_array_length(data, '$.panels') NOT BETWEEN 1 AND 20", 0, 0),
            ("SELECT count(*) FROM dashboard WHERE data LIKE '%theme%'", 0, 0),
            ("SELECT count(*) FROM dashboard WHERE updated < created OR updated > '2026-01-01'", 0, 0),
            ("SELECT max(n) FROM (SELECT count(*) n FROM dashboard_tag GROUP BY dashboard_id)", 3, 40),
            ("SELECT count(*) FROM dashboard_tag WHERE term LIKE '% %' OR term IN ('recipes', 'parenting')", 0, 0),
            (
                "SELECT count(*) FROM annotation a JOIN dashboard d ON d.id = dashboard_id WHERE a.org_id <> d.org_id",
                0,
                0,
            ),
            (
                "SELECT count(*) FROM annotation WHERE date(epoch, 'unixepoch') NOT BETWEEN '2021-01-01' AND '2026-01-01'",
                0,
                0,
            ),
            (
                "SELECT count(*) FROM annotation a JOIN dashboard d ON d.id = dashboard_id WHERE epoch < unixepoch(d.created)",
                0,
                0,
            ),
            ("SELECT count(*) FROM annotation WHERE (type = 'alert') <> (alert_id IS NOT NULL)", 0, 0),
            (
                "SELECT count(*) FROM annotation WHERE type = 'deployment' AND text NOT LIKE 'Deployed%' AND text NOT LIKE 'Rolled back%'",
                0,
                0,
            ),
            ("SELECT count(*) FROM annotation WHERE panel_id NOT BETWEEN 1 AND 40 AND dashboard_id IS NOT NULL", 0, 0),
            ("SELECT count(*) FROM kv_store WHERE namespace LIKE '% %' OR org_id > 9", 0, 0),
            ("SELECT count(*) FROM kv_store WHERE key LIKE '%port' AND value GLOB '*[^0-9]*'", 0, 0),
        ],
    );
}

/// A film was a "Marlow Pro Mouse" in `/music/garden.png` of 72392 ticks.
#[test]
fn films_and_their_parts_are_believable() {
    judge_program(
        "jellyfin",
        &[
            ("SELECT count(*) FROM TypedBaseItems WHERE length(guid) <> 36", 0, 0),
            (
                "SELECT count(*) FROM TypedBaseItems WHERE type NOT IN ('Movie', 'Episode', 'Season', 'Series', 'BoxSet', 'Folder')",
                0,
                0,
            ),
            ("SELECT count(*) FROM TypedBaseItems WHERE IsMovie <> (type = 'Movie') OR IsMovie IS NULL", 0, 0),
            ("SELECT count(*) FROM TypedBaseItems WHERE IsMovie", 120, 240),
            (
                "SELECT count(*) FROM TypedBaseItems WHERE (MediaType IS NULL) <> (type IN ('Season', 'Series', 'BoxSet', 'Folder')) OR MediaType <> 'Video'",
                0,
                0,
            ),
            ("SELECT count(*) FROM TypedBaseItems WHERE RunTimeTicks / 600000000 NOT BETWEEN 20 AND 220", 0, 0),
            (
                "SELECT count(*) FROM TypedBaseItems WHERE (RunTimeTicks IS NULL) <> (type IN ('Season', 'Series', 'BoxSet', 'Folder'))",
                0,
                0,
            ),
            ("SELECT count(*) FROM TypedBaseItems WHERE ParentId NOT IN (SELECT guid FROM TypedBaseItems)", 0, 0),
            ("SELECT count(*) FROM TypedBaseItems WHERE TopParentId NOT IN (SELECT guid FROM TypedBaseItems)", 0, 0),
            (
                "SELECT count(*) FROM TypedBaseItems i LEFT JOIN TypedBaseItems p ON p.guid = i.ParentId
                WHERE i.Path NOT LIKE coalesce(p.Path, '/media') || '/' || i.Name || '%' AND (p.guid IS NULL OR p.Path IS NOT NULL)",
                0,
                0,
            ),
            // A season was part of a film, and an episode of no season.
            (
                "SELECT count(*) FROM TypedBaseItems i LEFT JOIN TypedBaseItems p ON p.guid = i.ParentId
                WHERE p.type IS NOT CASE i.type WHEN 'Episode' THEN 'Season' WHEN 'Season' THEN 'Series' WHEN 'Movie' THEN 'BoxSet' WHEN 'BoxSet' THEN 'Folder' END",
                0,
                0,
            ),
            ("SELECT count(*) FROM TypedBaseItems WHERE type = 'Episode'", 120, 220),
            (
                "SELECT count(*) FROM TypedBaseItems i JOIN TypedBaseItems p ON p.guid = i.ParentId WHERE i.TopParentId <> coalesce(p.ParentId, p.guid)",
                0,
                0,
            ),
            (
                "SELECT count(*) FROM TypedBaseItems WHERE StartDate IS NOT NULL AND ChannelId IS NULL OR EndDate <= StartDate",
                0,
                0,
            ),
            ("SELECT count(*) FROM TypedBaseItems WHERE ChannelId IS NULL", 320, 399),
            ("SELECT count(*) FROM TypedBaseItems WHERE CommunityRating NOT BETWEEN 1 AND 10", 0, 0),
            (
                "SELECT count(*) FROM TypedBaseItems WHERE Name LIKE 'The %' AND SortName <> substr(Name, 5) || ', The'",
                0,
                0,
            ),
            ("SELECT count(*) FROM TypedBaseItems WHERE Genres LIKE '%|%'", 80, 200),
            (
                "SELECT count(*) FROM TypedBaseItems WHERE Overview LIKE '%draft%' OR PresentationUniqueKey LIKE '%.%'",
                0,
                0,
            ),
            ("SELECT count(*) FROM AncestorIds WHERE AncestorIdText <> AncestorId OR ItemId = AncestorId", 0, 0),
            (
                "SELECT count(*) FROM AncestorIds WHERE ItemId NOT IN (SELECT guid FROM TypedBaseItems) OR AncestorId NOT IN (SELECT guid FROM TypedBaseItems)",
                0,
                0,
            ),
            ("SELECT count(*) FROM ItemValues WHERE CleanValue <> lower(Value)", 0, 0),
            ("SELECT count(*) FROM ItemValues WHERE Value = 'Drama'", 1, 60),
        ],
    );
}

/// Directors played someone, chapters began anywhere, and the sound of a film was in the codec "field".
#[test]
fn parts_of_films_suit_each_other() {
    judge_program(
        "jellyfin",
        &[
            ("SELECT count(*) FROM People WHERE PersonType NOT IN ('Actor', 'Director', 'Writer', 'Producer')", 0, 0),
            (
                "SELECT count(*) FROM People JOIN TypedBaseItems ON guid = ItemId WHERE (PersonType = 'Actor' AND coalesce(Genres, '') NOT LIKE '%Documentary%') <> (Role IS NOT NULL)",
                0,
                0,
            ),
            ("SELECT count(*) FROM People WHERE ListOrder NOT BETWEEN 0 AND 100", 0, 0),
            // An actor played in no film.
            ("SELECT count(*) FROM People WHERE ItemId IS NULL", 0, 0),
            (
                "SELECT count(*) FROM Chapters2 WHERE Name <> 'Chapter ' || ChapterIndex OR (StartPositionTicks = 0) <> (ChapterIndex = 1)",
                0,
                0,
            ),
            ("SELECT max(ChapterIndex) FROM Chapters2", 3, 30),
            ("SELECT count(*) FROM mediastreams WHERE StreamIndex = 1 AND StreamType <> 'Video'", 0, 0),
            (
                "SELECT count(*) FROM mediastreams WHERE StreamType = 'Video' AND Codec NOT IN ('h264', 'hevc', 'av1')",
                0,
                0,
            ),
            (
                "SELECT count(*) FROM mediastreams WHERE StreamType = 'Audio' AND (BitRate NOT BETWEEN 64000 AND 2000000 OR Codec = 'h264')",
                0,
                0,
            ),
            ("SELECT count(*) FROM mediastreams WHERE (StreamType = 'Video') <> (AverageFrameRate IS NOT NULL)", 0, 0),
            (
                "SELECT count(*) FROM UserDatas WHERE played <> (playCount > 0) OR (played OR playbackPositionTicks > 0) <> (lastPlayedDate IS NOT NULL)",
                0,
                0,
            ),
            ("SELECT count(DISTINCT userId) FROM UserDatas", 4, 40),
            ("SELECT count(*) FROM UserDatas WHERE rating IS NULL", 280, 390),
            ("SELECT count(*) FROM UserDatas WHERE playbackPositionTicks / 10000000 NOT BETWEEN 0 AND 14400", 0, 0),
        ],
    );
}

/// The ancestors of a series were other series, a series had chapters and a picture, the first season of a series was its fifth, and
/// a comedy had the genre "Western".
#[test]
fn films_have_ancestors_and_parts() {
    const PART: &str = "JOIN TypedBaseItems i ON i.guid = ItemId WHERE i.type NOT IN ('Movie', 'Episode')";
    judge_program(
        "jellyfin",
        &[
            ("SELECT count(*) FROM TypedBaseItems WHERE type = 'Series' AND Path LIKE '%.mkv'", 0, 0),
            ("SELECT count(*) FROM TypedBaseItems WHERE (type = 'Season') <> (Name LIKE 'Season _')", 0, 0),
            ("SELECT count(*) FROM AncestorIds a JOIN TypedBaseItems i ON i.guid = ItemId WHERE ParentId IS NOT AncestorId", 0, 0),
            ("SELECT count(*) FROM TypedBaseItems WHERE guid NOT IN (SELECT ItemId FROM AncestorIds)", 25, 25),
            (&format!("SELECT count(*) FROM Chapters2 {PART}"), 0, 0),
            (&format!("SELECT count(*) FROM mediastreams {PART}"), 0, 0),
            (
                "SELECT count(*) FROM TypedBaseItems s WHERE type = 'Series'
                AND (SELECT group_concat(Name, ' ') FROM TypedBaseItems WHERE ParentId = s.guid AND type = 'Season') <> 'Season 1 Season 2'",
                0,
                0,
            ),
            ("SELECT count(*) FROM ItemValues v JOIN TypedBaseItems ON guid = ItemId WHERE v.Type = 2 AND Genres NOT LIKE Value || '%'", 0, 0),
        ],
    );
}

/// Comments on issues were those on a blog: "First!", "nice photos".
#[test]
fn comments_on_issues_are_about_software() {
    const BLOG: &str =
        "SELECT count(*) FROM comment WHERE content LIKE '%photos%' OR content IN ('First!', 'Great article.')";
    judge_program("gitea", &[(BLOG, 0, 0)]);
}

/// A comment on the first of two issues came before it, as times of few rows are far apart.
#[test]
fn few_rows_of_programs_come_after_those_that_they_refer_to() {
    for name in ["calibre", "gitea", "signal", "zotero", "grafana", "jellyfin"] {
        for rows in [1, 2, 3, 10] {
            let sqlite = make(&program(name), rows, &[]);
            let early = match name {
                "gitea" => {
                    "SELECT count(*) FROM comment c JOIN issue i ON i.id = issue_id WHERE c.created_unix < i.created_unix"
                }
                "signal" => {
                    "SELECT count(*) FROM messages JOIN conversations c ON c.id = conversationId WHERE sent_at > active_at"
                }
                _ => continue,
            };
            assert_eq!(number(&sqlite, early), 0, "{name}, {rows} rows");
        }
    }
}
