//! Judges of messengers and programs of the web: their chats, posts, visits and logs.

use super::*;

/// The text of a message was an object with settings, its sender was in another chat, and a chat ended with the message of another one.
#[test]
fn chats_have_messages_of_those_they_are_with() {
    judge_program(
        "whatsapp",
        &[
            ("SELECT count(*) FROM message WHERE text_data LIKE '{%'", 0, 0),
            ("SELECT count(*) FROM message WHERE text_data LIKE '%?'", 20, 300),
            ("SELECT count(*) FROM message WHERE from_me NOT IN (0, 1)", 0, 0),
            ("SELECT count(*) FROM message WHERE from_me", 120, 240),
            ("SELECT count(*) FROM message WHERE from_me <> (sender_jid_row_id IS NULL)", 0, 0),
            (
                "SELECT count(*) FROM message m JOIN chat c ON c._id = chat_row_id WHERE sender_jid_row_id <> jid_row_id",
                0,
                0,
            ),
            (
                "SELECT count(*) FROM message m JOIN chat c ON c._id = chat_row_id WHERE timestamp < created_timestamp",
                0,
                4,
            ),
            (
                "SELECT count(*) FROM message m JOIN message o ON o._id = m._id - 1 WHERE m.timestamp < o.timestamp",
                0,
                0,
            ),
            ("SELECT count(*) FROM message WHERE sort_id <> _id OR length(key_id) <> 32", 0, 0),
            (
                "SELECT count(*) FROM chat c WHERE last_message_row_id IS NOT (SELECT max(_id) FROM message WHERE chat_row_id = c._id)",
                0,
                0,
            ),
            (
                "SELECT count(*) FROM chat c JOIN message m ON m._id = last_message_row_id WHERE sort_timestamp <> timestamp",
                0,
                0,
            ),
            ("SELECT count(*) FROM chat WHERE subject IS NOT NULL", 0, 0),
            ("SELECT count(*) FROM chat WHERE subject LIKE '%order%' OR subject LIKE 'Re:%'", 0, 0),
            ("SELECT count(*) FROM jid WHERE raw_string <> user || '@' || server OR user GLOB '*[^0-9]*'", 0, 0),
            (
                "SELECT count(*) FROM receipt_user JOIN message m ON m._id = message_row_id WHERE receipt_timestamp - timestamp NOT BETWEEN 0 AND 700000",
                0,
                0,
            ),
        ],
    );
}

/// Pictures of 480 x 1080 were spreadsheets of no type, and places had the name "bell and sun" in the middle of an ocean.
#[test]
fn what_is_sent_in_a_chat_is_media_and_places() {
    judge_program(
        "whatsapp",
        &[
            (
                "SELECT count(*) FROM message_media m JOIN message o ON o._id = message_row_id WHERE m.chat_row_id <> o.chat_row_id",
                0,
                0,
            ),
            (
                "SELECT count(*) FROM message_location l JOIN message o ON o._id = message_row_id WHERE l.chat_row_id <> o.chat_row_id",
                0,
                0,
            ),
            ("SELECT count(*) FROM message_media WHERE mime_type NOT GLOB '[iav][mui][ade]*/*'", 0, 0),
            (
                "SELECT count(*) FROM message_media WHERE file_path LIKE '%.jpg' AND mime_type <> 'image/jpeg' OR length(media_key) <> 32",
                0,
                0,
            ),
            ("SELECT count(*) FROM message_media WHERE (mime_type LIKE 'audio%') <> (width IS NULL)", 0, 0),
            ("SELECT count(*) FROM message_media WHERE mime_type LIKE 'audio%'", 1, 20),
            (
                "SELECT count(*) FROM message_location WHERE place_name = 'Berlin' AND latitude NOT BETWEEN 52 AND 53",
                0,
                0,
            ),
            ("SELECT count(*) FROM message_location WHERE place_name GLOB '[a-z]*'", 0, 0),
            // Places had a longitude without a latitude.
            ("SELECT count(*) FROM message_location WHERE (latitude IS NULL) <> (longitude IS NULL)", 0, 0),
            ("SELECT count(*) FROM message_location WHERE latitude IS NULL", 0, 4),
        ],
    );
}

/// Answers came years after what they answer, and likes and pictures months after their status, which other tags had later.
#[test]
fn answers_likes_and_pictures_come_soon() {
    const DAY_MS: i64 = 86_400_000;
    let late = format!(
        "SELECT max(a.sent_at_ms - m.sent_at_ms) / {DAY_MS} FROM messages a JOIN messages m ON m.id = a.reply_to_id"
    );
    judge_rows("chat", &[("messages", 5000)], &[(&late, 1, 30)]);
    let days = |table: &str, by: &str| {
        format!(
            "SELECT max((unixepoch(a.created_at) - unixepoch(s.created_at)) / 86400) FROM {table} a JOIN statuses s ON s.id = a.{by}"
        )
    };
    let (answers, boosts) = (days("statuses", "in_reply_to_id"), days("statuses", "reblog_of_id"));
    judge_rows("mastodon", &[("statuses", 5000)], &[(&answers, 1, 30), (&boosts, 1, 30)]);
    judge(
        "mastodon",
        &[
            (&days("media_attachments", "status_id"), 0, 0),
            (&days("favourites", "status_id"), 0, 40),
            (
                "SELECT count(*) FROM statuses_tags JOIN tags t ON t.id = tag_id JOIN statuses s ON s.id = status_id WHERE s.created_at < t.created_at",
                0,
                0,
            ),
            ("SELECT count(*) FROM statuses WHERE language <> 'en' OR text LIKE '%customer%'", 0, 0),
            ("SELECT count(*) FROM media_attachments WHERE file_content_type NOT GLOB '[iav][mui][ade]*/*'", 0, 0),
            (
                "SELECT count(*) FROM media_attachments JOIN accounts a ON a.id = account_id WHERE (domain IS NULL) <> (remote_url = '') OR domain IS NOT NULL AND remote_url NOT LIKE '%/media/' || replace(file_file_name, ' ', '%20')",
                0,
                0,
            ),
            // A user signed in years after the last change of the row.
            ("SELECT count(*) FROM users WHERE updated_at < current_sign_in_at", 0, 0),
            ("SELECT count(*) FROM tags WHERE name GLOB '*[^a-z0-9]*'", 0, 0),
            ("SELECT count(*) FROM users WHERE locale = 'ja_JP' AND time_zone <> 'Asia/Tokyo'", 0, 0),
        ],
    );
}

/// Accounts of other servers had users and private keys here, and conversions of one site were on pages of others.
#[test]
fn accounts_and_pages_are_where_they_belong() {
    judge_rows(
        "mastodon",
        &[("users", 150)],
        &[
            ("SELECT count(*) FROM accounts WHERE domain IS NULL", 150, 150),
            ("SELECT count(*) FROM users u JOIN accounts a ON a.id = account_id WHERE domain IS NOT NULL", 0, 0),
            (
                "SELECT count(*) FROM users u JOIN accounts a ON a.id = account_id WHERE unixepoch(u.created_at) - unixepoch(a.created_at) NOT BETWEEN 0 AND 5",
                0,
                0,
            ),
            ("SELECT count(*) FROM accounts WHERE (private_key IS NULL) <> (domain IS NOT NULL)", 0, 0),
            ("SELECT count(*) FROM tags WHERE last_status_at < created_at", 0, 0),
        ],
    );
    judge(
        "matomo",
        &[
            ("SELECT count(*) FROM log_conversion JOIN site USING (idsite) WHERE instr(url, main_url) <> 1", 0, 0),
            ("SELECT count(*) FROM log_conversion c JOIN log_visit v USING (idvisit) WHERE c.idsite <> v.idsite", 0, 0),
        ],
    );
}

/// Who created a channel was no member, its owner joined a month later, and articles had comments after four years.
#[test]
fn channels_have_their_founder_and_articles_early_comments() {
    judge(
        "chat",
        &[
            (
                "SELECT count(*) FROM memberships m JOIN channels c ON c.id = channel_id WHERE (role = 'owner') <> (user_id = created_by)",
                0,
                0,
            ),
            (
                "SELECT count(*) FROM memberships m JOIN channels c ON c.id = channel_id WHERE role = 'owner' AND joined_ms <> created_ms",
                0,
                0,
            ),
            ("SELECT count(*) FROM memberships m JOIN users u ON u.id = user_id WHERE joined_ms < u.created_ms", 0, 4),
        ],
    );
    let days = "SELECT max(julianday(comment_date) - julianday(post_date)) > 100 FROM wp_comments JOIN wp_posts p ON p.ID = comment_post_ID";
    let rows = [("wp_posts", 5000), ("wp_comments", 5000)];
    let most = "SELECT max(comment_count) FROM wp_posts";
    judge_rows("wordpress", &rows, &[(days, 0, 0), (most, 8, 60)]);
    judge("wordpress", &[("SELECT count(*) FROM wp_comments WHERE comment_karma > 5", 0, 0)]);
}

/// Everybody reacted to the messages of private channels, and four to one in a channel with two members.
#[test]
fn members_react_to_messages() {
    let strangers = "SELECT count(*) FROM reactions r JOIN messages m ON m.id = message_id
        WHERE NOT EXISTS (SELECT 1 FROM memberships s WHERE s.channel_id = m.channel_id AND s.user_id = r.user_id)";
    let distinct = "SELECT count(*) FROM (SELECT 1 FROM reactions GROUP BY message_id, user_id)";
    judge_rows("chat", &[("channels", 40), ("memberships", 800)], &[(strangers, 0, 0), (distinct, 400, 400)]);
    judge("chat", &[(strangers, 0, 0), ("SELECT count(DISTINCT user_id) FROM reactions", 90, 400)]);
}

/// Edits of a message came years later, messages answered stories that nobody had, and a repository changed before its last issue.
#[test]
fn changes_come_when_something_happens() {
    judge_program(
        "signal",
        &[
            (
                "SELECT count(*) FROM edited_messages e JOIN messages m ON m.id = messageId WHERE sentAt - sent_at NOT BETWEEN 1 AND 14400000",
                0,
                0,
            ),
            ("SELECT count(*) FROM messages WHERE storyId IS NOT NULL", 0, 0),
        ],
    );
    judge_program("anki", &[("SELECT count(*) FROM cards WHERE mod < 1600000000", 0, 0)]);
    let early = |table: &str| {
        format!(
            "SELECT count(*) FROM repository r JOIN `{table}` c ON c.repo_id = r.id WHERE created_unix > updated_unix"
        )
    };
    judge_program("gitea", &[(&early("issue"), 0, 0), (&early("action"), 0, 0)]);
    let years_ago = "SELECT count(*) FROM oc_storages WHERE date(last_checked, 'unixepoch') < '2025-12-01'";
    let expired = "SELECT count(*) FROM oc_share WHERE expiration < '2025-12-31' OR expiration > '2026-02-01'";
    judge_program("nextcloud", &[(years_ago, 0, 0), (expired, 0, 0)]);
    judge_program("grafana", &[("SELECT count(*) FROM dashboard WHERE (version > 1) <> (updated > created)", 0, 0)]);
}

/// Every action was of another page, an article title had the prefix of an address, and direct visits came from a site.
#[test]
fn visitors_look_at_pages() {
    judge(
        "matomo",
        &[
            ("SELECT max(n) FROM (SELECT count(*) n FROM log_link_visit_action GROUP BY idaction)", 3, 80),
            ("SELECT count(*) FROM log_action WHERE (type = 4) <> (name NOT LIKE '%/%' AND type <> 8)", 0, 0),
            ("SELECT count(*) FROM log_action WHERE (type IN (1, 2, 3)) <> (url_prefix IS NOT NULL)", 0, 0),
            ("SELECT count(*) FROM log_visit WHERE (referer_type = 1) <> (referer_name IS NULL)", 0, 0),
            // An engine for searches was called strange-secret.example, and all first visits were of two sites.
            ("SELECT count(*) FROM log_visit WHERE referer_type = 2 AND referer_name LIKE '%.%'", 0, 0),
            ("SELECT count(DISTINCT idsite) FROM log_visit WHERE idvisit <= 20", 4, 8),
            ("SELECT count(*) FROM log_conversion WHERE items < 1 AND revenue > 0", 0, 0),
            ("SELECT count(*) FROM log_visit WHERE user_id IS NOT NULL", 20, 110),
            ("SELECT count(*) FROM log_visit WHERE length(idvisitor) <> 16", 0, 0),
            ("SELECT count(*) FROM log_conversion WHERE idgoal NOT BETWEEN 1 AND 4", 0, 0),
        ],
    );
}

/// Users of a blog had the setting "search.port", its posts were about customers and invoices, and terms were written like slugs.
#[test]
fn a_blog_has_what_blogs_have() {
    judge(
        "wordpress",
        &[
            ("SELECT count(*) FROM wp_usermeta WHERE meta_key LIKE '%.%' OR meta_key LIKE '%port'", 0, 0),
            ("SELECT count(*) FROM wp_postmeta WHERE meta_key LIKE '%.%'", 0, 0),
            (
                "SELECT count(*) FROM wp_posts WHERE guid <> 'https://blog.example/?p=' || ID AND post_type <> 'attachment'",
                0,
                0,
            ),
            (
                "SELECT count(*) FROM wp_posts WHERE post_content LIKE '%customer%' OR post_excerpt LIKE '%invoice%'",
                0,
                0,
            ),
            ("SELECT count(*) FROM wp_posts WHERE menu_order > 0 AND post_type <> 'page'", 0, 0),
            ("SELECT count(*) FROM wp_terms WHERE name LIKE '%-%' OR slug <> lower(replace(name, ' ', '-'))", 0, 0),
        ],
    );
}

/// A line about a disk had the address of a client, pages were deleted and put, and a share of a processor was 23.400000000000002.
#[test]
fn requests_and_logs_say_one_thing() {
    judge(
        "telemetry",
        &[
            (
                "SELECT count(*) FROM requests WHERE method IN ('PUT', 'DELETE', 'PATCH') AND path NOT LIKE '/api/%'",
                0,
                0,
            ),
            ("SELECT count(*) FROM requests WHERE method = 'GET' AND path LIKE '/blog/%'", 5, 100),
            (
                "SELECT count(*) FROM logs WHERE context IS NOT NULL AND (message LIKE 'Disk%') <> (context LIKE '%\"mount\"%')",
                0,
                0,
            ),
            ("SELECT count(*) FROM logs WHERE message LIKE 'User%' AND context NOT LIKE '%user_id%'", 0, 0),
            ("SELECT count(*) FROM readings WHERE metric = 'cpu.usage' AND length(value) > 4", 0, 0),
        ],
    );
}

/// Every status was a reply and a boost, likes came before what they like, and addresses had other hosts than their account.
#[test]
fn rows_of_a_social_network_fit_each_other() {
    judge_rows(
        "mastodon",
        &[("users", 150)],
        &[
            (
                "SELECT count(*) FROM favourites f JOIN statuses s ON s.id = status_id JOIN accounts a ON a.id = f.account_id WHERE f.created_at < s.created_at OR f.created_at < a.created_at",
                0,
                0,
            ),
            (
                "SELECT count(*) FROM follows f JOIN accounts a ON a.id = target_account_id WHERE f.created_at < a.created_at",
                0,
                0,
            ),
            ("SELECT count(*) FROM follows WHERE account_id = target_account_id", 0, 12),
            ("SELECT count(*) FROM statuses WHERE in_reply_to_id IS NOT NULL AND reblog_of_id IS NOT NULL", 0, 60),
            ("SELECT count(*) FROM statuses WHERE reply <> (in_reply_to_id IS NOT NULL)", 0, 0),
            ("SELECT count(*) FROM statuses WHERE edited_at IS NULL", 300, 380),
            ("SELECT count(*) FROM accounts WHERE url NOT LIKE 'https://' || domain || '/@' || username", 0, 0),
            ("SELECT count(*) FROM accounts WHERE (avatar_file_name IS NULL) <> (avatar_content_type IS NULL)", 0, 0),
            (
                "SELECT count(*) FROM accounts WHERE avatar_file_name LIKE '%.png' AND avatar_content_type <> 'image/png'",
                0,
                0,
            ),
            ("SELECT count(*) FROM users WHERE unconfirmed_email NOT LIKE '%@%'", 0, 0),
        ],
    );
}

/// Several users shared one account, boosts had a text of their own, and pictures were of other accounts than their status.
#[test]
fn statuses_and_pictures_belong_to_accounts() {
    judge_rows(
        "mastodon",
        &[("users", 150)],
        &[
            ("SELECT count(DISTINCT account_id) FROM users", 150, 150),
            (
                "SELECT count(*) FROM users u JOIN accounts a ON a.id = account_id WHERE instr(email, lower(substr(display_name, 1, instr(display_name, ' ') - 1))) = 0",
                0,
                8,
            ),
            ("SELECT count(*) FROM statuses WHERE reblog_of_id IS NOT NULL AND text <> ''", 0, 0),
            ("SELECT count(*) FROM statuses WHERE reblog_of_id IS NULL AND text = ''", 0, 0),
            ("SELECT count(*) FROM statuses WHERE reblog_of_id IS NOT NULL AND edited_at IS NOT NULL", 0, 0),
            (
                "SELECT count(*) FROM statuses s JOIN media_attachments m ON m.status_id = s.id WHERE reblog_of_id IS NOT NULL",
                0,
                0,
            ),
            (
                "SELECT count(*) FROM media_attachments m JOIN statuses s ON s.id = status_id WHERE m.account_id <> s.account_id",
                0,
                0,
            ),
            (
                "SELECT count(*) FROM statuses s JOIN accounts a ON a.id = account_id WHERE s.uri NOT LIKE 'https://' || domain || '/users/' || username || '/%'",
                0,
                0,
            ),
            (
                "SELECT count(*) FROM statuses s JOIN accounts a ON a.id = account_id WHERE s.url NOT LIKE 'https://' || domain || '/@' || username || '/%'",
                0,
                0,
            ),
        ],
    );
}

/// Comments by a user had the name and the address of somebody else.
#[test]
fn comments_have_the_name_of_their_author() {
    judge(
        "wordpress",
        &[
            (
                "SELECT count(*) FROM wp_comments c JOIN wp_users u ON u.ID = user_id WHERE comment_author <> display_name",
                0,
                0,
            ),
            (
                "SELECT count(*) FROM wp_comments c JOIN wp_users u ON u.ID = user_id WHERE comment_author_email <> user_email OR comment_author_url <> user_url",
                0,
                0,
            ),
        ],
    );
    judge("matomo", &[("SELECT count(*) FROM site JOIN user ON login = creator_login", 5, 8)]);
}

/// Pages were on other hosts than their sites, all visits were of one page, and a visitor searched a page.
#[test]
fn pages_are_on_the_host_of_their_site() {
    judge(
        "matomo",
        &[
            (
                "SELECT count(*) FROM log_link_visit_action JOIN log_action a USING (idaction) JOIN site s USING (idsite) WHERE a.type IN (1, 3) AND s.main_url <> 'https://www.' || substr(a.name, 1, instr(a.name, '/'))",
                0,
                0,
            ),
            (
                "SELECT count(*) FROM log_link_visit_action JOIN log_action a USING (idaction) WHERE a.type IN (1, 3)",
                250,
                400,
            ),
            ("SELECT count(*) FROM log_link_visit_action JOIN log_action a USING (idaction) WHERE a.type = 4", 0, 0),
            (
                "SELECT count(*) FROM log_link_visit_action JOIN log_action a USING (idaction) WHERE search_cat IS NOT NULL AND a.type <> 8",
                0,
                0,
            ),
            ("SELECT count(*) FROM log_visit WHERE visit_total_actions = 1", 10, 110),
            (
                "SELECT count(*) FROM log_link_visit_action a JOIN log_link_visit_action b USING (idvisit) WHERE b.idlink_va > a.idlink_va AND b.server_time < a.server_time",
                0,
                0,
            ),
            (
                "SELECT count(*) FROM log_visit v WHERE visit_total_time < (SELECT total(time_spent) FROM log_link_visit_action WHERE idvisit = v.idvisit)",
                0,
                0,
            ),
            ("SELECT count(DISTINCT name) FROM site", 8, 8),
        ],
    );
}

/// A post with three comments had a comment_count of 0.
#[test]
fn counters_are_the_numbers_of_rows() {
    judge(
        "wordpress",
        &[
            (
                "SELECT count(*) FROM wp_posts p WHERE comment_count <> (SELECT count(*) FROM wp_comments WHERE comment_post_ID = p.ID)",
                0,
                0,
            ),
            ("SELECT count(*) FROM wp_posts WHERE comment_count > 2", 10, 200),
        ],
    );
    judge(
        "rails_shop",
        &[(
            "SELECT count(*) FROM tags t WHERE taggings_count <> (SELECT count(*) FROM taggings WHERE tag_id = t.id)",
            0,
            0,
        )],
    );
    let sql = "CREATE TABLE users (id INTEGER PRIMARY KEY, followers_count INTEGER NOT NULL, following_count INTEGER NOT NULL);
        CREATE TABLE follows (id INTEGER PRIMARY KEY, user_id INTEGER NOT NULL REFERENCES users, target_user_id INTEGER NOT NULL REFERENCES users);
        CREATE TABLE posts (id INTEGER PRIMARY KEY, title TEXT NOT NULL, parent_post_id INTEGER REFERENCES posts, reply_to_id INTEGER REFERENCES posts,
            replies_count INTEGER NOT NULL DEFAULT 0);";
    let sqlite = make(sql, ROWS, &[]);
    for (query, least) in [
        (
            "SELECT count(*) FROM users u WHERE followers_count = (SELECT count(*) FROM follows WHERE target_user_id = u.id)",
            400,
        ),
        (
            "SELECT count(*) FROM users u WHERE following_count = (SELECT count(*) FROM follows WHERE user_id = u.id)",
            400,
        ),
        (
            "SELECT count(*) FROM posts p WHERE replies_count = (SELECT count(*) FROM posts WHERE reply_to_id = p.id)",
            400,
        ),
        ("SELECT count(*) FROM posts WHERE replies_count > 0", 40),
    ] {
        assert!(number(&sqlite, query) >= least, "{query}");
    }
}

/// Replies were in other channels than the messages that they answered, and their authors were no members.
#[test]
fn messages_of_a_channel_are_by_its_members() {
    let rows = [("channels", 40), ("memberships", 300), ("messages", 2000)];
    judge_rows(
        "chat",
        &rows,
        &[
            (
                "SELECT count(*) FROM messages m JOIN messages o ON o.id = m.reply_to_id WHERE m.channel_id <> o.channel_id OR m.sent_at_ms < o.sent_at_ms",
                0,
                0,
            ),
            ("SELECT count(*) FROM messages WHERE reply_to_id IS NOT NULL", 150, 600),
            (
                "SELECT count(*) FROM messages m JOIN messages o ON o.id = m.reply_to_id WHERE m.user_id <> o.user_id",
                120,
                600,
            ),
            (
                "SELECT count(*) FROM messages m WHERE NOT EXISTS (SELECT 1 FROM memberships s WHERE s.channel_id = m.channel_id AND s.user_id = m.user_id)",
                0,
                0,
            ),
            ("SELECT count(DISTINCT channel_id) FROM messages", 30, 40),
            (
                "SELECT count(*) FROM messages m JOIN channels c ON c.id = channel_id WHERE sent_at_ms < c.created_ms",
                0,
                0,
            ),
            ("SELECT max(n) FROM (SELECT count(*) n FROM messages GROUP BY channel_id)", 90, 700),
        ],
    );
    judge(
        "chat",
        &[(
            "SELECT count(*) FROM messages m WHERE NOT EXISTS (SELECT 1 FROM memberships s WHERE s.channel_id = m.channel_id AND s.user_id = m.user_id)",
            0,
            0,
        )],
    );
}

/// Members had joined in 1970, and messages were read months later.
#[test]
fn a_chat_is_believable() {
    judge(
        "chat",
        &[
            (
                "SELECT count(*) FROM memberships JOIN users u ON u.id = user_id JOIN channels c ON c.id = channel_id WHERE joined_ms < u.created_ms OR joined_ms < c.created_ms",
                0,
                0,
            ),
            ("SELECT count(*) FROM channels WHERE archived_ms < created_ms", 0, 0),
            (
                "SELECT count(*) FROM direct_messages WHERE read_at < sent_at OR read_at > datetime(sent_at, '+63 days')",
                0,
                0,
            ),
            ("SELECT count(*) FROM direct_messages WHERE read_at < datetime(sent_at, '+1 days')", 250, 400),
            (
                "SELECT count(*) FROM direct_messages JOIN users r ON r.id = receiver_id WHERE unixepoch(sent_at) * 1000 < r.created_ms",
                0,
                6,
            ),
            ("SELECT count(*) FROM devices WHERE name LIKE '%Printer%' OR name LIKE '%Thermostat%'", 0, 0),
            // A phone called "Anna's Phone" was Bob's.
            ("SELECT count(*) FROM devices WHERE name LIKE '%''s %'", 0, 0),
            ("SELECT count(*) FROM messages WHERE edited_at_ms IS NOT NULL", 20, 110),
        ],
    );
}

/// A visit of 70 seconds took weeks, and browsers were called "small pearl".
#[test]
fn statistics_of_visits_are_believable() {
    judge(
        "matomo",
        &[
            ("SELECT count(*) FROM log_visit WHERE visitor_returning <> (visitor_count_visits > 1)", 0, 0),
            (
                "SELECT count(*) FROM log_visit WHERE visit_total_time <> unixepoch(visit_last_action_time) - unixepoch(visit_first_action_time)",
                0,
                0,
            ),
            ("SELECT count(*) FROM log_visit WHERE visit_total_time > 7200", 0, 0),
            (
                "SELECT count(*) FROM log_visit WHERE config_browser_name NOT IN ('Chrome', 'Safari', 'Firefox', 'Edge', 'Opera', 'Samsung Internet')",
                0,
                0,
            ),
            ("SELECT count(*) FROM log_visit WHERE config_resolution NOT LIKE '%x%'", 0, 0),
            (
                "SELECT count(*) FROM log_visit WHERE config_browser_name = 'Safari' AND config_os NOT IN ('IOS', 'MAC')",
                0,
                0,
            ),
            (
                "SELECT count(*) FROM log_visit WHERE config_browser_name = 'Samsung Internet' AND config_os <> 'AND'",
                0,
                0,
            ),
            (
                "SELECT count(*) FROM log_visit WHERE (config_os IN ('IOS', 'AND')) <> (CAST(config_resolution AS INT) < 500)",
                0,
                0,
            ),
            (
                "SELECT count(*) FROM log_link_visit_action a JOIN log_visit v USING (idvisit) WHERE a.idsite <> v.idsite",
                0,
                0,
            ),
        ],
    );
    judge(
        "telemetry",
        &[
            ("SELECT CAST(max(recorded_ts) - min(recorded_ts) AS INT) / 3600 FROM readings", 10, 80),
            ("SELECT count(*) FROM hosts WHERE os IN ('iOS', 'Android')", 0, 0),
            ("SELECT count(*) FROM logs WHERE context LIKE '%theme%'", 0, 0),
            (
                "SELECT count(*) FROM logs JOIN hosts h ON h.id = host_id WHERE unixepoch(logged_at) > last_seen + 900",
                0,
                2,
            ),
            ("SELECT count(*) FROM readings WHERE metric = 'cpu.usage' AND value > 100", 0, 0),
            ("SELECT count(*) FROM readings WHERE metric LIKE 'db.%' AND value <> CAST(value AS INT)", 0, 0),
        ],
    );
}

#[test]
fn a_social_network_is_believable() {
    judge(
        "mastodon",
        &[
            ("SELECT count(*) FROM accounts WHERE suspended_at IS NOT NULL OR silenced_at IS NOT NULL", 2, 60),
            ("SELECT count(*) FROM statuses WHERE deleted_at IS NULL", 370, 399),
            ("SELECT count(*) FROM statuses WHERE in_reply_to_id >= id OR reblog_of_id >= id", 0, 0),
            ("SELECT count(*) FROM statuses WHERE in_reply_to_id IS NULL", 80, 250),
            ("SELECT count(*) FROM follows WHERE account_id = target_account_id", 0, 12),
            ("SELECT max(n) FROM (SELECT count(*) n FROM follows GROUP BY target_account_id)", 2, 40),
            ("SELECT count(*) FROM media_attachments WHERE file_content_type NOT LIKE '%/%'", 0, 0),
            ("SELECT count(*) FROM users WHERE sign_up_ip NOT GLOB '*.*.*.*'", 0, 0),
            ("SELECT count(*) FROM users WHERE time_zone NOT LIKE '%/%' AND time_zone <> 'UTC'", 0, 0),
        ],
    );
    judge(
        "chat",
        &[
            ("SELECT count(*) FROM direct_messages WHERE read_at < sent_at", 0, 0),
            ("SELECT count(*) FROM messages WHERE edited_at_ms < sent_at_ms OR deleted_at_ms < sent_at_ms", 0, 0),
            (
                "SELECT count(*) FROM messages WHERE date(sent_at_ms / 1000, 'unixepoch') NOT BETWEEN '2021-01-01' AND '2026-01-01'",
                0,
                0,
            ),
            ("SELECT count(DISTINCT emoji) FROM reactions", 4, 4),
            ("SELECT count(*) FROM memberships WHERE role = 'member'", 120, 395),
            ("SELECT count(*) FROM devices WHERE pni NOT LIKE 'PNI:%'", 0, 0),
        ],
    );
}
