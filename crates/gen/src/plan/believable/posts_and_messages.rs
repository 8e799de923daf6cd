//! Judges of what people send and post: pictures, places, files, and what a row has to do with the one that it belongs to.

use super::*;

/// Every message had a picture and a place, and a message that was a text had a film.
#[test]
fn few_messages_have_pictures_and_places() {
    judge_program(
        "whatsapp",
        &[
            ("SELECT count(*) FROM chat", 40, 40),
            ("SELECT count(*) FROM message_media", 60, 70),
            ("SELECT count(*) FROM message_location", 10, 10),
            ("SELECT max(_id) - min(_id) FROM message JOIN message_media ON message_row_id = _id", 300, 400),
            (
                "SELECT count(*) FROM message LEFT JOIN message_media ON message_row_id = _id
                WHERE message_type <> 5 AND message_type <> CASE substr(coalesce(mime_type, ''), 1, 5) WHEN 'image' THEN 1 WHEN 'audio' THEN 2 WHEN 'video' THEN 3 ELSE 0 END",
                0,
                0,
            ),
            (
                "SELECT count(*) FROM message WHERE (message_type = 5) <> (_id IN (SELECT message_row_id FROM message_location))",
                0,
                0,
            ),
            ("SELECT count(*) FROM message WHERE (message_type = 0) > (text_data IS NOT NULL)", 0, 0),
            ("SELECT count(*) FROM message_media WHERE file_size < 5000", 0, 0),
        ],
    );
    judge("mastodon", &[("SELECT count(*) FROM media_attachments WHERE file_file_size < 5000", 0, 0)]);
}

/// Channels had one member and one message each.
#[test]
fn channels_have_members_and_messages() {
    judge(
        "chat",
        &[
            ("SELECT count(*) FROM (SELECT 1 FROM memberships GROUP BY channel_id HAVING count(*) = 1)", 0, 6),
            ("SELECT count(*) FROM channels", 40, 40),
        ],
    );
}

/// Strangers reacted to messages of two persons, and each sticker had a pack of its own.
#[test]
fn people_react_to_messages_that_they_have() {
    judge_program(
        "signal",
        &[
            ("SELECT count(*) FROM reactions WHERE fromId <> conversationId", 0, 0),
            ("SELECT count(*) FROM reactions", 100, 100),
            ("SELECT count(*) FROM sticker_packs", 40, 40),
        ],
    );
}

/// Pictures in a blog had the text of an article and its title, and its readers wrote of backup jobs.
#[test]
fn files_in_a_blog_have_names_and_no_text() {
    judge(
        "wordpress",
        &[
            ("SELECT count(*) FROM wp_posts WHERE (post_type = 'attachment') <> (post_content = '')", 0, 0),
            ("SELECT count(*) FROM wp_posts WHERE (post_type = 'attachment') <> (post_mime_type <> '')", 0, 0),
            ("SELECT count(*) FROM wp_posts WHERE post_type = 'attachment' AND post_title LIKE '% % %'", 0, 0),
            ("SELECT count(*) FROM wp_posts WHERE post_type = 'attachment'", 20, 70),
            (
                "SELECT count(*) FROM wp_posts WHERE post_type = 'attachment' AND guid NOT LIKE '%/uploads/' || substr(post_date, 1, 4) || '/%.___'",
                0,
                0,
            ),
            (
                "SELECT count(*) FROM wp_comments WHERE comment_content LIKE '%fail%' OR comment_content LIKE '%fix%'",
                0,
                0,
            ),
        ],
    );
}

/// A folder was smaller than a file in it.
#[test]
fn folders_are_as_large_as_their_files() {
    let wrong = "SELECT count(*) FROM oc_filecache d WHERE parent = 0 AND fileid < 390
        AND size <> (SELECT sum(size) FROM oc_filecache WHERE parent = d.fileid)";
    judge_program("nextcloud", &[(wrong, 0, 0), ("SELECT count(DISTINCT size) FROM oc_filecache", 300, 400)]);
}

/// A folder was an archive, and a photograph a sound.
#[test]
fn folders_are_folders_and_photographs_pictures() {
    let type_of = |condition: &str| {
        format!("SELECT count(*) FROM oc_filecache f JOIN oc_mimetypes m ON m.id = f.mimetype WHERE {condition}")
    };
    judge_program(
        "nextcloud",
        &[
            (&type_of("(parent = 0) <> (m.mimetype = 'httpd/unix-directory')"), 0, 0),
            (&type_of("name LIKE 'IMG%' AND m.mimetype NOT LIKE 'image/%'"), 0, 0),
            (&type_of("m.mimetype LIKE 'audio/%' AND name NOT LIKE '% - %'"), 0, 0),
            ("SELECT count(DISTINCT mimetype) FROM oc_filecache", 10, 10),
            // A text was larger than a film, and each folder had one file of each type.
            (
                &type_of("m.mimetype LIKE 'text/%' AND size > 100000 OR m.mimetype LIKE 'video/%' AND size < 1000000"),
                0,
                0,
            ),
            (
                "SELECT count(*) FROM (SELECT count(DISTINCT mimetype) AS types FROM oc_filecache GROUP BY parent) WHERE types > 8",
                0,
                1,
            ),
        ],
    );
}

/// The settings of a browser were those of a server, and so were those of a blog.
#[test]
fn settings_suit_the_program() {
    judge_program("chrome_history", &[("SELECT count(*) FROM meta WHERE key NOT LIKE '%.%'", 4, 4)]);
    judge(
        "wordpress",
        &[
            ("SELECT count(*) FROM wp_options WHERE option_name LIKE '%.%' OR option_name LIKE '%secret'", 0, 0),
            ("SELECT count(*) FROM wp_postmeta WHERE meta_key IS NULL", 0, 0),
            // A person had two languages.
            ("SELECT count(*) - count(DISTINCT user_id || meta_key) FROM wp_usermeta", 0, 0),
            ("SELECT count(*) - count(DISTINCT post_id || meta_key) FROM wp_postmeta", 0, 0),
            (
                "SELECT count(*) FROM wp_postmeta JOIN wp_posts p ON p.ID = post_id WHERE meta_key = 'seo_title' AND meta_value <> post_title",
                0,
                0,
            ),
            // The summary of a post was of another post.
            ("SELECT count(*) FROM wp_posts WHERE instr(post_content, post_excerpt) = 0", 0, 0),
            ("SELECT count(*) FROM wp_posts WHERE post_excerpt <> ''", 120, 300),
            ("SELECT count(*) FROM wp_posts WHERE (post_type = 'attachment') <> (post_status = 'inherit')", 0, 0),
        ],
    );
    // Each setting of a user of a cloud was one of its own, of an app that the cloud does not have, and files were deleted by no user.
    judge_program(
        "nextcloud",
        &[
            ("SELECT count(DISTINCT configkey) FROM oc_preferences", 3, 10),
            (
                "SELECT count(*) FROM oc_preferences WHERE (configkey = 'quota') <> (appid = 'files' AND configvalue LIKE '%GB' OR configvalue = 'none')",
                0,
                0,
            ),
            ("SELECT count(*) FROM oc_migrations WHERE app IN ('admin', 'blog', 'contenttypes', 'shop')", 0, 0),
            ("SELECT count(*) FROM oc_activity WHERE user IS NULL", 0, 0),
        ],
    );
    judge_program("whatsapp", &[("SELECT count(*) FROM message_location WHERE latitude IS NULL", 0, 0)]);
}

/// Somebody received a message who was not in the chat, and an issue was closed with a question about its log.
#[test]
fn receipts_are_of_those_in_the_chat_and_notes_have_no_text() {
    judge_program(
        "whatsapp",
        &[
            (
                "SELECT count(*) FROM receipt_user r JOIN message m ON m._id = message_row_id JOIN chat c ON c._id = m.chat_row_id
                WHERE receipt_user_jid_row_id <> c.jid_row_id",
                0,
                0,
            ),
            ("SELECT count(*) FROM receipt_user", 200, 200),
        ],
    );
    judge_program(
        "gitea",
        &[
            ("SELECT count(*) FROM comment WHERE (type = 0) <> (coalesce(content, '') <> '')", 0, 0),
            ("SELECT count(*) FROM comment JOIN issue i ON i.id = issue_id WHERE type <> 0 AND NOT is_closed", 0, 0),
            ("SELECT count(*) FROM comment WHERE type = 2", 15, 90),
            ("SELECT count(*) FROM action WHERE op_type = 0", 0, 0),
        ],
    );
}

/// Requests of pages came to port 22, and a line of one host named another one.
#[test]
fn requests_and_lines_are_of_their_host() {
    judge(
        "telemetry",
        &[
            ("SELECT count(*) FROM hosts WHERE port NOT IN (80, 443, 8080)", 0, 0),
            ("SELECT count(*) FROM logs WHERE context LIKE '%\"host\"%' OR context LIKE '%.example%'", 0, 0),
        ],
    );
}

/// Pages without visits had a last visit, people found them by other words, and a strange host had the title "Wikipedia".
#[test]
fn pages_have_visits_and_words_of_their_title() {
    judge_program(
        "chrome_history",
        &[
            ("SELECT count(*) FROM urls WHERE visit_count = 0", 0, 0),
            ("SELECT count(*) FROM urls WHERE title LIKE '%Wikipedia%'", 0, 0),
        ],
    );
    judge_program(
        "firefox_places",
        &[(
            "SELECT count(*) FROM moz_inputhistory JOIN moz_places p ON p.id = place_id WHERE instr(lower(title), trim(substr(input, 1, 3))) <> 1",
            0,
            0,
        )],
    );
}

/// People wished each other a happy Friday on Thursdays.
#[test]
fn posts_do_not_name_other_days() {
    let days = "SELECT count(*) FROM statuses WHERE text LIKE '%Happy %day%' OR text LIKE 'Good morning%'";
    judge("mastodon", &[(days, 0, 0)]);
}

/// A dashboard of errors showed the free space of disks.
#[test]
fn dashboards_show_what_their_titles_say() {
    judge_program(
        "grafana",
        &[
            ("SELECT count(*) FROM dashboard WHERE title LIKE '%Errors' AND data LIKE '%disk%'", 0, 0),
            (
                "SELECT count(*) FROM dashboard WHERE title LIKE 'Database%' AND data NOT LIKE '%db.%' AND data NOT LIKE '%disk.free%'",
                0,
                0,
            ),
            ("SELECT count(*) FROM dashboard WHERE data LIKE '%disk.read%'", 10, 300),
        ],
    );
}

/// Every visit ended with a purchase, and messages thanked somebody who was not there.
#[test]
fn few_visits_end_with_a_purchase() {
    // All pages of a visit were looked at for the same time.
    let same = "SELECT count(*) FROM (SELECT idvisit FROM log_link_visit_action WHERE time_spent > 9 GROUP BY idvisit HAVING count(*) > 3 AND min(time_spent) = max(time_spent))";
    judge("matomo", &[("SELECT count(DISTINCT idvisit) FROM log_conversion", 14, 14), (same, 0, 2)]);
    judge("chat", &[("SELECT count(*) FROM direct_messages WHERE body LIKE 'Thanks, %'", 0, 0)]);
}

/// A program had four hundred languages and versions, and a visit came from a page that somebody saw the day before.
#[test]
fn a_program_has_one_version_and_visits_follow_at_once() {
    judge_program("whatsapp", &[("SELECT count(*) FROM android_metadata", 1, 1)]);
    judge_program("gitea", &[("SELECT count(*) FROM version", 1, 1)]);
    let late = "SELECT count(*) FROM moz_historyvisits v JOIN moz_historyvisits b ON b.id = v.from_visit
        WHERE v.visit_date - b.visit_date NOT BETWEEN 0 AND 900000000";
    judge_program("firefox_places", &[(late, 0, 0)]);
}

/// Somebody received a message that came from somebody else, a group had one person, and a message changed after it was gone.
#[test]
fn only_own_messages_are_received_and_none_changes_after_its_end() {
    judge_program(
        "whatsapp",
        &[
            ("SELECT count(*) FROM receipt_user JOIN message m ON m._id = message_row_id WHERE NOT from_me", 0, 0),
            ("SELECT count(*) FROM message WHERE NOT from_me", 130, 240),
            ("SELECT count(*) FROM chat WHERE subject IS NOT NULL", 0, 0),
        ],
    );
    judge_program(
        "signal",
        &[
            ("SELECT count(*) FROM reactions JOIN conversations c ON c.id = fromId WHERE c.type = 'group'", 0, 0),
            ("SELECT count(*) FROM conversations WHERE type = 'group'", 3, 20),
            (
                "SELECT count(*) FROM edited_messages JOIN messages m ON m.id = messageId WHERE sentAt > expires_at",
                0,
                0,
            ),
            ("SELECT count(*) - count(DISTINCT messageId) FROM edited_messages", 0, 0),
        ],
    );
}

/// A migration changed a table that there was not, a note was on a panel that the dashboard does not have, and a download had a gap.
#[test]
fn programs_refer_to_what_there_is() {
    const MADE: &str = "'create table ' || substr(a.migration_id, 13, instr(a.migration_id, ' add') - 13)";
    let orphans = format!(
        "SELECT count(*) FROM migration_log a WHERE migration_id LIKE 'alter%' AND NOT EXISTS (SELECT 1 FROM migration_log c WHERE c.id < a.id AND c.migration_id = {MADE})"
    );
    judge_program(
        "grafana",
        &[
            (&orphans, 0, 0),
            ("SELECT count(*) - count(DISTINCT migration_id) FROM migration_log", 0, 0),
            (
                "SELECT count(*) FROM annotation JOIN dashboard d ON d.id = dashboard_id WHERE data NOT LIKE '%\"id\":' || panel_id || ',%'",
                0,
                0,
            ),
        ],
    );
    judge_program(
        "chrome_history",
        &[
            ("SELECT count(*) FROM downloads_slices WHERE offset < 2097152 AND received_bytes < 1048576", 0, 0),
            ("SELECT count(*) FROM segment_usage WHERE visit_count = 0", 0, 0),
            // A search had the address of a page about a desk lamp.
            (
                "SELECT count(*) FROM keyword_search_terms JOIN urls u ON u.id = url_id WHERE url NOT LIKE '%/search?q=' || replace(term, ' ', '+')",
                0,
                0,
            ),
            ("SELECT count(*) FROM keyword_search_terms", 30, 30),
            ("SELECT count(*) FROM urls WHERE (title LIKE '% - Search') <> (url LIKE '%/search?q=%')", 0, 0),
        ],
    );
}

/// Ninety dashboards had one name, a page was typed more often than visits say, a folder was older than its files, and a user signed in
/// without being confirmed.
#[test]
fn one_table_says_what_another_one_says() {
    judge_program(
        "grafana",
        &[
            ("SELECT count(*) - count(DISTINCT slug) FROM dashboard", 0, 0),
            ("SELECT count(*) FROM kv_store WHERE key GLOB '*.*' AND key NOT GLOB namespace || '.*'", 0, 0),
            (
                "SELECT count(*) FROM migration_log WHERE error LIKE 'Test failed%' OR error LIKE 'Could not resolve%'",
                0,
                0,
            ),
        ],
    );
    judge(
        "mastodon",
        &[("SELECT count(*) FROM users WHERE confirmed_at IS NULL OR reset_password_sent_at > updated_at", 0, 0)],
    );
    let typed = "SELECT count(*) FROM moz_places p WHERE typed <> EXISTS (SELECT 1 FROM moz_historyvisits WHERE place_id = p.id AND visit_type = 2)";
    judge_program("firefox_places", &[(typed, 0, 0)]);
    let typed = "SELECT count(*) FROM urls u WHERE typed_count <> (SELECT count(*) FROM visits WHERE url = u.id AND transition = 805306369)";
    judge_program("chrome_history", &[(typed, 0, 0)]);
    judge_program(
        "nextcloud",
        &[
            (
                "SELECT count(*) FROM oc_filecache f JOIN oc_filecache d ON d.fileid = f.parent WHERE f.mtime > d.mtime",
                0,
                0,
            ),
            ("SELECT count(*) FROM oc_share WHERE share_type = 3 AND permissions & 14", 0, 0),
            ("SELECT count(*) FROM oc_storages WHERE numeric_id NOT IN (SELECT storage FROM oc_filecache)", 0, 8),
        ],
    );
    judge_program(
        "fossil",
        &[("SELECT count(*) FROM tagxref JOIN tag USING (tagid) WHERE tagname NOT LIKE 'sym-%'", 0, 0)],
    );
    judge("wordpress", &[("SELECT count(*) FROM wp_comments WHERE comment_type <> 'comment' AND user_id > 0", 0, 0)]);
    judge_program(
        "whatsapp",
        &[
            ("SELECT count(*) FROM jid WHERE substr(user, 5, 1) IN ('0', '1')", 0, 0),
            (
                "SELECT count(*) FROM message JOIN receipt_user r ON r.message_row_id = message._id WHERE status < 5",
                0,
                0,
            ),
            ("SELECT CAST(avg(received_timestamp - timestamp) AS INTEGER) FROM message WHERE from_me", 0, 60),
        ],
    );
    judge("matomo", &[("SELECT count(*) FROM log_conversion WHERE items > 1 AND coalesce(revenue, 0) < 20", 0, 0)]);
    judge_program("signal", &[("SELECT count(e164) - count(DISTINCT e164) FROM conversations", 0, 0)]);
    judge_program(
        "gitea",
        &[("SELECT count(*) FROM action WHERE user_id IS NULL OR repo_id IS NULL OR op_type = 1", 0, 0)],
    );
}
