//! Inference by the name of a column, where no other column of its row matters.

use super::names::is_like;
use super::subjects::Kind;
use super::{ColumnTraits, TypeClass};

/// A rule from names to generators; an empty text stands for none.
struct Rule {
    /// Patterns of names.
    names: &'static str,
    text: &'static str,
    int: &'static str,
    real: &'static str,
}

const fn text(names: &'static str, text: &'static str) -> Rule {
    Rule { names, text, int: "", real: "" }
}

const fn number(names: &'static str, int: &'static str, real: &'static str) -> Rule {
    Rule { names, text: "", int, real }
}

const fn any(names: &'static str, text: &'static str, int: &'static str, real: &'static str) -> Rule {
    Rule { names, text, int, real }
}

/// Sizes of files and numbers of bytes.
const BYTES: &str = "lognormal(10.5, 2.2, min=40, max=4000000000, decimals=0)";
/// Small counts, most of them near 0.
const COUNT: &str = "exponential(0.08, max=5000, decimals=0)";
/// Milliseconds of a request or a job.
const MILLISECONDS: &str = "lognormal(6, 1.3, min=1, max=3600000, decimals=0)";
pub(super) const FRAME_RATE: &str = "choice(23.976: 50, 24: 15, 25: 20, 29.97: 10, 59.94: 5)";
const SECONDS: &str = "lognormal(5, 1.1, min=1, max=86400, decimals=0)";
/// The hash of a password as bcrypt makes it.
const PASSWORD: &str = "'$2b$12$' || regex('[./A-Za-z0-9]{53}')";
const MIME: &str = "choice('image/jpeg': 30, 'image/png': 20, 'application/pdf': 18, 'text/plain': 8, 'text/html': 6, 'video/mp4': 6, 'application/json': 4, 'image/gif': 3, 'audio/mpeg': 3, 'application/zip': 2)";
const HTTP_STATUS: &str =
    "choice(200: 82, 201: 3, 204: 2, 301: 2, 302: 3, 304: 3, 400: 1, 401: 1, 403: 1, 404: 4, 500: 1, 503: 1)";

static RULES: &[Rule] = &[
    // Identifiers and secrets.
    text(
        "private_key *_private_key",
        "'-----BEGIN PRIVATE KEY-----MC4CAQAwBQYDK2VwBCIEI' || regex('[A-P][A-Za-z0-9+/]{42}') || '-----END PRIVATE KEY-----'",
    ),
    text(
        "public_key ssh_key *_public_key",
        "'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI' || regex('[A-P][A-Za-z0-9+/]{42}')",
    ),
    text(
        "transaction_id external_id remote_id charge_id payment_id *_transaction_id gateway_id",
        "regex('(ch|tx|py)_[0-9A-Za-z]{16}')",
    ),
    text("uuid guid *_uuid *_guid *_id_bin", "uuid"),
    text(
        "password passwd pw user_pass password_hash *_password encrypted_password password_digest pass_hash",
        PASSWORD,
    ),
    text("md5 *_md5 etag key_id", "hex(32)"),
    text("sha256 *_sha256 checksum digest content_hash file_hash", "hex(64)"),
    text("sha512 *_sha512", "hex(128)"),
    text("sha1 *_sha1 sha commit_sha commit_hash *_hash hash object_hash revision", "hex(40)"),
    text(
        "*token* api_key *_api_key secret *_secret session_key session_id auth_key access_key nonce salt cookie activation_key *_digest fingerprint",
        "hex(40)",
    ),
    text("iban", "iban"),
    text("isin isin_code", "isin"),
    text("ticker ticker_symbol stock_symbol", "regex('[A-Z]{3,4}')"),
    text("account_number account_no acct_no bank_account", "digits(8)"),
    text("serial_number serial_no serial serialnumber", "regex('[A-HJ-NP-Z]{2}[0-9]{2}[A-HJ-NP-Z][0-9]{6}')"),
    text("passport passport_number passport_no", "regex('[A-Z][0-9]{8}')"),
    text("bic swift swift_code", "regex('[A-Z]{4}(DE|FR|GB|US|NL|ES)[A-Z0-9]{2}')"),
    text("credit_card* card_number cc_number", "card_number"),
    text("last4 card_last4 last_4 last_four", "digits(4)"),
    text("card_type card_brand", "choice('visa': 5, 'mastercard': 3, 'amex': 1)"),
    text("isbn isbn13 isbn_13", "isbn"),
    text("ean ean13 gtin barcode upc", "ean"),
    text("sku *_sku product_code item_code article_number part_number", "phrase('{sku}')"),
    text("vin", "regex('[A-HJ-NPR-Z0-9]{17}')"),
    text("ssn social_security_number", "regex('9[0-9]{2}-[1-9][0-9]-[0-9]{4}')"),
    text("vat vat_number vat_id tax_id tax_number", "regex('(DE[0-9]{9}|FR[0-9]{11}|GB[0-9]{9})')"),
    text("license_plate plate plate_number registration_number", "phrase('{license_plate}')"),
    text("tracking tracking_number tracking_code", "phrase('{tracking}')"),
    text("coupon coupon_code voucher voucher_code promo_code discount_code", "phrase('{coupon}')"),
    text(
        "invoice_number order_number receipt_number reference reference_number order_no invoice_no number",
        "regex('[A-Z]{2}-20[0-9]{2}-[0-9]{5}')",
    ),
    // Networks.
    text("ip *_ip ip_address *_ip_address ipaddr ip_addr remote_addr ipv4 client_ip author_ip *_addr ip_*", "ipv4"),
    text("ipv6", "ipv6"),
    text("namespace *_namespace", "phrase('{module}')"),
    text("sql sql_text sql_query ddl", "phrase('{sql}')"),
    text("emoji *_emoji", "phrase('{emoji}')"),
    text("e164 msisdn", "'+1' || choice('206', '212', '312', '415', '617') || '55501' || digits(2)"),
    text("mac mac_address", "mac"),
    text("user_agent useragent *_user_agent *_agent agent", "user_agent"),
    text("domain hostname host *_domain fqdn", "phrase('{domain}')"),
    text("server node worker", "phrase('{host}')"),
    text("runner runner_name", "phrase('{runner}')"),
    text("referrer referer *_referrer *_referer http_referer referer_url", "phrase('{referrer}')"),
    text("avatar_url *_avatar_url", "phrase('{avatar_url}')"),
    text(
        "image_url *_image_url photo_url picture_url thumbnail_url cover_url logo_url icon_url *_thumbnail_url favicon_url",
        "phrase('{image_url}')",
    ),
    text(
        "url *_url website homepage link uri *_uri web_site home_page *_link website_url guid_url canonical source_url",
        "phrase('{web_url}')",
    ),
    text("rev_host", "phrase('{domain}')"),
    any(
        "port *_port",
        "choice('80', '443', '8080')",
        "choice(443: 8, 80: 5, 8080: 3, 22: 2, 3306: 1, 5432: 2, 6379: 1)",
        "",
    ),
    any(
        "http_status http_status_code status_code response_code response_status http_code",
        "choice('200': 9, '404')",
        HTTP_STATUS,
        HTTP_STATUS,
    ),
    any(
        "http_method request_method verb method",
        "choice('GET': 70, 'POST': 20, 'PUT': 5, 'DELETE': 3, 'PATCH': 2)",
        "",
        "",
    ),
    text("protocol scheme", "choice('https': 9, 'http')"),
    number("hash *_hash csum checksum *_checksum crc crc32 *_crc", "int(0, 4_294_967_295)", ""),
    text("mime_type mimetype mime content_type file_type media_type *_content_type *_mime_type post_mime_type", MIME),
    text("encoding charset", "choice('UTF-8': 9, 'ISO-8859-1')"),
    text("browser browser_name *_browser_name *_browser", "phrase('{browser}')"),
    text("os operating_system os_name platform *_os", "phrase('{os}')"),
    text(
        "resolution *_resolution screen_size",
        "choice('1920x1080': 8, '1366x768': 4, '390x844': 6, '2560x1440': 3, '1536x864': 2)",
    ),
    text("referer_name referrer_name", "phrase('{domain}')"),
    text("*_login", "phrase('{handle}')"),
    text("device device_type device_name", "choice('desktop': 50, 'mobile': 42, 'tablet': 8)"),
    // Files.
    text(
        "file_name filename *_filename *_file_name original_name original_filename fname basename",
        "phrase('{file}')",
    ),
    text(
        "image picture photo avatar thumbnail cover icon logo *_image *_photo *_picture *_avatar *_thumbnail *_logo cover_image",
        "phrase('{image_path}')",
    ),
    text(
        "*image_path *photo_path *picture_path *avatar_path *logo_path *thumbnail_path *cover_path poster_path backdrop_path",
        "phrase('{image_path}')",
    ),
    text(
        "path *_path filepath file_path directory dir folder location_path relative_path relativepath",
        "phrase('{path}')",
    ),
    text("extension ext file_extension suffix_ext", "phrase('{ext}')"),
    number(
        "file_size filesize size_bytes *_size *_bytes bytes size byte_size content_length received_bytes",
        BYTES,
        BYTES,
    ),
    text("version *_version semver app_version", "regex('[0-9][.]([0-9]|[1-9][0-9])[.][0-9]')"),
    number(
        "version *_version lock_version schema_version ver revision",
        "choice(1: 6, 2: 3, 3: 2, 4)",
        "real(1, 5, 1)",
    ),
    // Words of code.
    text("locale", "choice('en_US': 5, 'en_GB': 2, 'de_DE': 2, 'fr_FR', 'es_ES', 'it_IT', 'pt_BR', 'ja_JP')"),
    text(
        "language_code lang_code language lang *_language *_lang iso_language",
        "choice('en': 10, 'de': 3, 'fr': 3, 'es': 3, 'it': 2, 'pt': 2, 'ja', 'nl', 'pl')",
    ),
    text(
        "currency currency_code *_currency iso_currency",
        "choice('USD': 10, 'EUR': 8, 'GBP': 3, 'CHF', 'CAD', 'SEK')",
    ),
    text("timezone time_zone tz tz_name timezone_name", "phrase('{timezone}')"),
    any("slug *_slug permalink post_name", "phrase('{slug}')", "", ""),
    text("shortcode short_code", "phrase('{handle}')"),
    text("key setting_key option_name meta_key config_key setting configkey *_key", "phrase('{setting_key}')"),
    text("color colour *_color *_colour bgcolor", "colour"),
    text("codename", "phrase('{permission_code}')"),
    text("app_label app appid app_id application app_name", "phrase('{app_label}')"),
    text("model model_name *_type_name", "phrase('{model}')"),
    text("job_class handler class_name klass", "phrase('{job_class}')"),
    text("queue queue_name", "choice('default': 6, 'mailers': 2, 'low', 'critical')"),
    text("default_branch main_branch", "choice('main': 80, 'master': 15, 'develop': 5)"),
    text("branch ref branch_name git_ref head_branch *_branch", "phrase('{git_branch}')"),
    text("stage stage_name step", "phrase('{ci_stage}')"),
    text("workflow workflow_name", "phrase('{workflow}')"),
    text("repo repository repo_name", "phrase('{repository}')"),
    text("commit_message", "phrase('{commit}')"),
    text("metric metric_name", "phrase('{metric}')"),
    text("event event_name event_type action *_action event_category", "phrase('{event_name}')"),
    text("entity_id", "phrase('{entity_id}')"),
    text("search search_term query *_query keywords normalized_term term search_query q", "phrase('{search_term}')"),
    text(
        "*session_data session *_data data payload metadata meta settings config configuration options preferences attributes properties extra params parameters args arguments context details attrs props json conf subjectparams *_attrs *_json *_settings *_config *_options *_preferences *_attributes *_meta *_payload other_metadata change_message_json",
        JSON,
    ),
    // Kinds and states.
    text("gender sex", "choice('female': 49, 'male': 49, 'other': 2)"),
    text(
        "salutation title_of_courtesy courtesy honorific name_prefix",
        "choice('Mr.': 5, 'Ms.': 4, 'Mrs.': 1, 'Dr.': 1)",
    ),
    text("suffix name_suffix", "choice('Jr.', 'Sr.', 'II', 'III', 'PhD')"),
    text("marital_status", "choice('single': 4, 'married': 5, 'divorced', 'widowed')"),
    text(
        "blood_type blood_group",
        "choice('O+': 37, 'A+': 36, 'B+': 9, 'AB+': 3, 'O-': 6, 'A-': 6, 'B-': 2, 'AB-': 1)",
    ),
    text(
        "payment_method payment_type pay_method tender",
        "choice('card': 55, 'paypal': 25, 'invoice': 12, 'transfer': 8)",
    ),
    text("carrier courier ship_via shipping_method shipping_carrier delivery_method", "phrase('{carrier}')"),
    text("priority severity urgency importance", "choice('low': 3, 'normal': 5, 'high': 2, 'urgent': 1)"),
    number("priority severity urgency importance", "choice(1: 2, 2: 5, 3: 3)", "choice(1: 2, 2: 5, 3: 3)"),
    text("level log_level loglevel", "choice('info': 70, 'debug': 15, 'warning': 10, 'error': 5)"),
    number("permissions *_permissions", "choice(31: 5, 19: 3, 17: 2, 1: 3)", ""),
    number("usn", "if(bool(0.1), -1, int(0, 900))", ""),
    number("source", "choice(0: 90, 1: 7, 2: 2, 3: 1)", ""),
    number("*_idx", "choice(0: 92, 1: 8)", ""),
    number("reorder_level reorder_point min_stock", "choice(0: 2, 5: 3, 10: 5, 15: 2, 20: 2, 25: 1, 30: 1)", ""),
    number("level *_level", "choice(1: 5, 2: 3, 3: 2)", "real(0, 10, 1)"),
    number("visibility privacy", "choice(0: 80, 1: 8, 2: 12)", ""),
    number("items", "choice(1: 50, 2: 25, 3: 12, 4: 6, 5: 3, 8: 1)", ""),
    // Kinds of actions in a forge: 5 a push, 10 a comment, 6 a new issue, 12 a closed one, 11 a merge.
    number("op_type", "choice(5: 60, 10: 18, 6: 11, 12: 6, 11: 5)", ""),
    number("idgoal goal_id", "choice(1: 60, 2: 25, 3: 10, 4: 5)", ""),
    text("visibility privacy", "choice('public': 75, 'private': 15, 'unlisted': 10)"),
    text("environment env", "choice('production': 6, 'staging': 3, 'development': 1)"),
    text("role user_role *_role", "choice('user': 85, 'editor': 8, 'moderator': 4, 'admin': 3)"),
    text("plan tier plan_name subscription_plan", "phrase('{plan}')"),
    text("department dept *_department", "phrase('{department}')"),
    text("brand *_brand make manufacturer_name", "phrase('{brand}')"),
    text("genre *_genre", "phrase('{genre}')"),
    text("category *_category categories *_cat", "phrase('{category}')"),
    text("size clothing_size", "choice('S': 2, 'M': 4, 'L': 4, 'XL': 2)"),
    text("unit units unit_of_measure uom quantity_per_unit unit_type", "phrase('{unit}')"),
    text("unit_of_measurement", "choice('°C': 5, '%': 3, 'W': 2, 'lx': 1)"),
    text("condition", "choice('new': 7, 'used': 3)"),
    text(
        "source medium utm_source utm_medium channel origin *_source",
        "choice('web': 60, 'app': 25, 'email': 10, 'import': 5)",
    ),
    text("campaign utm_campaign", "phrase('{promotion}')"),
    text("actor_type", "choice('Person': 96, 'Service': 4)"),
    text("reason *_reason", "choice('customer request': 5, 'duplicate': 2, 'out of stock': 2, 'other': 1)"),
    text("mood sentiment", "choice('happy': 5, 'neutral': 4, 'sad': 2)"),
    text("format file_format book_format", "choice('EPUB': 5, 'PDF': 3, 'MOBI': 1)"),
    text("os_version platform_version", "regex('1[0-7][.][0-9]')"),
    // Names of things in other tables.
    text(
        "company *company_name organization organisation employer *_company company_* corporation",
        "phrase('{company}')",
    ),
    text("manufacturer mfgr supplier vendor publisher *supplier_name *vendor_name", "phrase('{company}')"),
    text("product_name *_product_name item_name article_name product item *_item_name", "phrase('{product}')"),
    text("category_name", "phrase('{category}')"),
    text("contact_title", "phrase('{contact_job}')"),
    text("job job_title occupation profession position job_position *_job", "phrase('{job}')"),
    text("composer", "phrase('{composers}')"),
    text(
        "author *_author artist editor narrator director created_by updated_by modified_by owner *_by *_contact emergency_contact assignee reporter contact sender_name recipient_name billing_name shipping_name ship_name full_name contact_name customer_name *_full_name *_contact_name account_owner cardholder card_holder holder reviewer signature_name poc",
        "phrase('{person}')",
    ),
    text("author_sort name_sort", "phrase('{last}, {first}')"),
    text("album album_title album_name", "phrase('{album}')"),
    text("track song track_name song_title", "phrase('{song}')"),
    text("series", "phrase('{series}')"),
    text("team team_name", "phrase('{team}')"),
    text("project project_name", "phrase('{project}')"),
    text("group_name", "phrase('{group}')"),
    text("tag tags label labels *_tags keyword topic *_tag hashtag", "phrase('{topic}')"),
    text("room room_number room_no", "int(101, 499) || ''"),
    text("room_name", "phrase('{room}')"),
    text("area", "phrase('{region}')"),
    text("region territory *_region zone", "phrase('{region}')"),
    text("language_name", "phrase('{language_name}')"),
    text("middle_name middlename middle_initial mi", "phrase('{first}')"),
    text("initials", "regex('[A-Z]{2}')"),
    text("maiden_name", "phrase('{last}')"),
    // Addresses.
    text(
        "address2 address_2 address_line2 address_line_2 street2 street_2 addr2 line2 line_2 apt suite *_address2 *_address_2 *_address_line_2 *_line2 unit_number",
        "phrase('{street_2}')",
    ),
    text(
        "street *_street street_address address address1 address_1 address_line1 address_line_1 *_address addr line1 line_1 *_address1 *_address_1 *_line1 street_name",
        "phrase('{street}')",
    ),
    text("district county borough suburb neighborhood neighbourhood", "phrase('{region}')"),
    text("house_number house_no building", "int(1, 180) || ''"),
    // Rows of tables that are elsewhere.
    number(
        "org_id organization_id organisation_id tenant_id site_id workspace_id realm_id instance_id",
        "choice(1: 80, 2: 12, 3: 5, 4: 3)",
        "",
    ),
    number("type_id *_type_id *_kind_id *_status_id", "choice(1: 60, 2: 16, 3: 10, 4: 8, 5: 6)", ""),
    number("panel_id", "int(1, 40)", ""),
    text("our_*", "choice('5b1f0f5e-8a3c-4c1e-9d0b-2f6a7c3e1d44': 9, 'c0a8d2b7-17e4-4f5a-b6c3-91d2e8f70a65')"),
    number("user_id userid", "1 + exponential(0.3, max=40, decimals=0)", ""),
    number("*_id", "1 + exponential(0.02, max=5000, decimals=0)", ""),
    text("*_id idvisitor", "uuid()"),
    // Texts.
    text("subject email_subject mail_subject", "phrase('{email_subject}')"),
    text("title headline *_title", "phrase('{article_title}')"),
    text("caption alt alt_text", "phrase('{Adjective} {noun} in {city_name}')"),
    text("excerpt *_excerpt teaser summary abstract synopsis snippet tagline *_summary", "phrase('{sentence}')"),
    text("bio biography about profile about_me", "phrase('{bio}')"),
    text("status_text status_message custom_status", "phrase('{status_text}')"),
    text("spoiler_text spoiler content_warning", "phrase('{content_warning}')"),
    text("error error_message last_error exception *_error failure_reason", "phrase('{error_message}')"),
    text("message *_message msg", "phrase('{message}')"),
    text("comment comments *_comment *_comments feedback remark remarks", "phrase('{comment}')"),
    text("*instructions* delivery_note customer_note", "phrase('{delivery_wish}')"),
    text("note notes *_note *_notes annotation memo internal_note", "phrase('{note}')"),
    text("question", "phrase('{question}')"),
    text("answer", "phrase('{answer}')"),
    text("body content text *_body *_content *_text html markdown message_body post_content", "phrase('{paragraph}')"),
    text("description desc *_description *_desc info information overview", "phrase('{sentence}')"),
    text("hobby hobbies interests", "phrase('{hobby}')"),
    text("word", "word"),
    text("nickname nick alias", "phrase('{handle}')"),
    // Numbers.
    number("age", "normal(41, 14, min=18, max=95, decimals=0)", "normal(41, 14, min=18, max=95, decimals=0)"),
    any(
        "year *_year release_year model_year year_published",
        "int(1985, 2025) || ''",
        "int(1985, 2025)",
        "int(1985, 2025)",
    ),
    any(
        "month exp_month expiry_month",
        "choice('01','02','03','04','05','06','07','08','09','10','11','12')",
        "int(1, 12)",
        "int(1, 12)",
    ),
    number("day day_of_month", "int(1, 28)", "int(1, 28)"),
    any("weekday day_of_week dow", "phrase('{weekday}')", "int(0, 6)", ""),
    number("hour", "int(0, 23)", "int(0, 23)"),
    number("minute second", "int(0, 59)", "int(0, 59)"),
    number("week week_number", "int(1, 52)", "int(1, 52)"),
    number("quarter", "int(1, 4)", "int(1, 4)"),
    number("avail_qty available_qty available_quantity", "exponential(0.004, max=9999, decimals=0)", ""),
    number(
        "quantity qty *_quantity *_qty pieces",
        "choice(1: 62, 2: 20, 3: 8, 4: 4, 5: 3, 6: 1, 10: 2)",
        "choice(1: 62, 2: 20, 3: 8, 4: 4, 5: 3)",
    ),
    number(
        "stock *_stock on_hand inventory units_in_stock stock_quantity available in_stock *_in_stock",
        "exponential(0.02, max=900, decimals=0)",
        "exponential(0.02, max=900, decimals=0)",
    ),
    number("units_on_order on_order", "choice(0: 80, 10: 8, 20: 6, 50: 4, 100: 2)", "choice(0: 80, 10: 8, 20: 6)"),
    number(
        "position sort_order sort ord display_order menu_order rank seq sequence order_index idx index ordinal order sortorder",
        "int(1, 20)",
        "int(1, 20)",
    ),
    number("url_prefix", "choice(2: 8, 0, 1, 3: 2)", ""),
    number("depth", "int(0, 4)", "int(1, 40)"),
    number("percent percentage *_percent pct *_pct *_percentage", "int(0, 100)", "beta(2, 3, 0, 100, 1)"),
    number(
        "discount *_discount discount_rate discount_percent",
        "choice(0: 80, 5: 6, 10: 8, 15: 3, 20: 3)",
        "choice(0: 80, 0.05: 6, 0.1: 8, 0.15: 3, 0.2: 3)",
    ),
    number("tax_rate vat_rate *_tax_rate", "choice(19: 6, 7: 3, 20: 2, 0)", "choice(0.19: 6, 0.07: 3, 0.2: 2, 0)"),
    number("replacement_cost", "round(price(9, 30))", "price(9, 30)"),
    number("rental_rate", "", "choice(0.99: 4, 2.99: 3, 4.99: 3)"),
    number("exchange_rate rate *_rate", "int(1, 100)", "lognormal(0, 0.5, min=0.01, max=10, decimals=4)"),
    number(
        "rating stars *_rating average_rating",
        "choice(5: 46, 4: 28, 3: 12, 2: 6, 1: 8)",
        "normal(4.1, 0.6, min=1, max=5, decimals=1)",
    ),
    text("rating", "choice('G': 18, 'PG': 22, 'PG-13': 28, 'R': 22, 'NC-17': 10)"),
    number(
        "score points *_score karma reputation",
        "exponential(0.02, max=5000, decimals=0)",
        "beta(4, 2, decimals=3)",
    ),
    number("confidence probability likelihood *_probability", "int(0, 100)", "beta(4, 2, decimals=3)"),
    number(
        "salary annual_salary base_salary wage income",
        "1000 * normal(62, 20, min=24, max=240, decimals=0)",
        "1000 * normal(62, 20, min=24, max=240, decimals=0)",
    ),
    number("*_cents *_in_cents price_minor", "round(price(2, 400) * 100)", "round(price(2, 400) * 100)"),
    number(
        "budget budget_amount credit_limit",
        "1000 * exponential(0.02, min=5, max=900, decimals=0)",
        "1000 * exponential(0.02, min=5, max=900, decimals=0)",
    ),
    number(
        "balance *_balance acct_bal",
        "normal(900, 1200, min=-500, max=20000, decimals=0)",
        "normal(900, 1200, min=-500, max=20000, decimals=2)",
    ),
    number(
        "shipping shipping_cost shipping_fee freight delivery_fee shipping_amount postage",
        "choice(0: 40, 5: 40, 10: 20)",
        "choice(0: 40, 4.95: 38, 9.9: 15, 19.9: 7)",
    ),
    number("fee *_fee", "choice(0: 50, 5: 30, 10: 20)", "choice(0: 30, 1.5: 30, 2.9: 25, 4.9: 15)"),
    // Names of persons have a field for the first one, and a field for the last one.
    number("field_mode", "constant(0)", "constant(0)"),
    number("tip gratuity", "int(0, 12)", "choice(0: 30, 1: 20, 2: 20, 3: 15, 5: 15)"),
    number(
        "price amount total cost *_price *_amount *_total *_cost price_* total_price total_amount total_cost total_paid amount_* subtotal sub_total revenue value_amount grand_total msrp turnover",
        "price(2, 400)",
        "price(2, 400)",
    ),
    any("latitude lat *_lat *_latitude latitude_number latitudenumber", "", "int(-40, 65)", "real(-38, 62, 6)"),
    any(
        "longitude lon lng long *_lon *_lng *_longitude longitude_number longitudenumber",
        "",
        "int(-180, 180)",
        "real(-125, 150, 6)",
    ),
    number(
        "altitude elevation ele",
        "exponential(0.004, max=4000, decimals=0)",
        "exponential(0.004, max=4000, decimals=1)",
    ),
    number("heading bearing direction", "int(0, 359)", "real(0, 360, 1)"),
    number("speed", "int(0, 130)", "normal(48, 22, min=0, max=180, decimals=1)"),
    number(
        "temperature temp *_temperature *_temp temp_min temp_low temp_avg temp_mean",
        "normal(19, 5, min=-20, max=42, decimals=0)",
        "normal(19, 5, min=-20, max=42, decimals=1)",
    ),
    number(
        "humidity *_humidity",
        "normal(52, 12, min=10, max=100, decimals=0)",
        "normal(52, 12, min=10, max=100, decimals=1)",
    ),
    number(
        "pressure",
        "normal(1013, 8, min=960, max=1050, decimals=0)",
        "normal(1013, 8, min=960, max=1050, decimals=1)",
    ),
    number("voltage", "normal(230, 3, min=210, max=250, decimals=0)", "normal(230, 3, min=210, max=250, decimals=1)"),
    number(
        "image_width width_px pixel_width screen_width",
        "choice(640: 2, 1024: 3, 1280: 4, 1920: 6, 2560: 2, 4032: 4)",
        "",
    ),
    number(
        "image_height height_px pixel_height screen_height",
        "choice(480: 2, 768: 3, 720: 4, 1080: 6, 1440: 2, 3024: 4)",
        "",
    ),
    number("orientation", "choice(1: 80, 6: 12, 8: 6, 3: 2)", "choice(0: 80, 90: 20)"),
    number(
        "weight *_weight weight_kg",
        "lognormal(0.7, 1, min=1, max=200, decimals=0)",
        "lognormal(0.2, 1, min=0.05, max=120, decimals=2)",
    ),
    number(
        "weight_g weight_grams grams",
        "lognormal(6, 1.1, min=5, max=90000, decimals=0)",
        "lognormal(6, 1.1, min=5, max=90000, decimals=0)",
    ),
    number(
        "series_index volume_number",
        "choice(1: 60, 2: 14, 3: 9, 4: 6, 5: 4, 6: 3, 7: 2, 8: 2)",
        "choice(1: 60, 2: 14, 3: 9, 4: 6, 5: 4, 6: 3, 7: 2, 8: 2)",
    ),
    number("list_order", "int(0, 20)", ""),
    number(
        "bit_rate bitrate *_bitrate *_bit_rate",
        "choice(128: 3, 192: 3, 256: 2, 320: 4) * 1000",
        "choice(128: 3, 192: 3, 256: 2, 320: 4) * 1000",
    ),
    number("frame_rate framerate fps *_frame_rate *_framerate", FRAME_RATE, FRAME_RATE),
    number("*ticks", "10_000_000 * normal(2700, 900, min=60, max=12000, decimals=0)", ""),
    number("*timer *_ttl ttl", "choice(0: 80, 3600: 5, 86400: 8, 604800: 7)", ""),
    number("height width length", "choice(1080: 3, 720: 3, 480: 2, 600: 1, 800: 2)", "real(1, 200, 1)"),
    number("pages page_count num_pages number_of_pages", "normal(310, 110, min=24, max=1200, decimals=0)", ""),
    number("runtime duration_minutes length_minutes", "normal(105, 22, min=40, max=240, decimals=0)", ""),
    number(
        "milliseconds duration_ms *_duration_ms elapsed_ms latency_ms response_time_ms *_ms elapsed latency *_latency",
        MILLISECONDS,
        MILLISECONDS,
    ),
    number("rental_duration", "choice(3: 3, 4: 2, 5: 2, 6: 2, 7: 2)", ""),
    number(
        "duration *_duration total_time typing_time scrolling_time time_spent seconds *_seconds elapsed_time visit_total_time time_taken length_seconds response_time",
        SECONDS,
        SECONDS,
    ),
    number("population", "lognormal(11, 1.6, min=800, max=30000000, decimals=0)", ""),
    number("followers* *_followers following* friends_count", "exponential(0.006, max=90000, decimals=0)", ""),
    number(
        "views *_views hits view_count *_view_count play_count downloads *_downloads download_count impressions",
        "exponential(0.004, max=90000, decimals=0)",
        "",
    ),
    number("likes *_likes upvotes reactions", "exponential(0.05, max=9000, decimals=0)", ""),
    number("failed_attempts attempts *_attempts retries retry_count failures", "choice(0: 90, 1: 6, 2: 3, 3: 1)", ""),
    number("use_count times_used", "1 + exponential(0.2, max=900, decimals=0)", ""),
    number(
        "count *_count items num_* number_of_* n_* *_number_of total_count counter visit_* *_visits visits",
        COUNT,
        COUNT,
    ),
    number("frecency", "exponential(0.004, max=9000, decimals=0)", ""),
    number("ease ease_factor factor", "choice(2500: 7, 2350: 2, 2650: 1)", "real(1.3, 3, 2)"),
    number("exit_code return_code", "choice(0: 90, 1: 7, 2: 2, 137: 1)", ""),
    number("line lineno line_number", "int(1, 900)", ""),
    number("row *_row col column *_column", "int(1, 40)", ""),
];

const JSON: &str = "object(theme: choice('light', 'dark'), language: choice('en', 'de', 'fr'), notifications: bool(0.8), page_size: choice(10, 25, 50))";

/// The texts of `status`, `state` and `type`, by what the table is about.
static STATES: &[(&str, Option<Kind>, &str)] = &[
    (
        "status state *_status order_status",
        Some(Kind::Order),
        "choice('completed': 70, 'shipped': 12, 'processing': 8, 'pending': 6, 'cancelled': 4)",
    ),
    (
        "status state *_status payment_status",
        Some(Kind::Payment),
        "choice('succeeded': 88, 'failed': 6, 'pending': 3, 'refunded': 3)",
    ),
    (
        "status state *_status conclusion result",
        Some(Kind::Run),
        "choice('success': 80, 'failed': 13, 'cancelled': 4, 'running': 3)",
    ),
    ("status state *_status", Some(Kind::Task), "choice('done': 55, 'open': 28, 'in_progress': 14, 'blocked': 3)"),
    (
        "status state *_status post_status comment_status ping_status",
        Some(Kind::Text),
        "choice('published': 80, 'draft': 12, 'archived': 8)",
    ),
    ("method", Some(Kind::Payment), "choice('card': 55, 'paypal': 25, 'invoice': 12, 'transfer': 8)"),
    (
        "status state *_status *_state",
        Some(Kind::Event),
        "choice('completed': 72, 'scheduled': 16, 'cancelled': 8, 'no_show': 4)",
    ),
    (
        "status state *_status *_state",
        Some(Kind::Stay),
        "choice('completed': 80, 'confirmed': 11, 'cancelled': 7, 'no_show': 2)",
    ),
    ("payment_state", None, "choice('paid': 88, 'balance_due': 8, 'failed': 4)"),
    ("shipment_state *_state", None, "choice('shipped': 80, 'ready': 12, 'pending': 8)"),
    ("payment_status", None, "choice('paid': 88, 'pending': 7, 'failed': 3, 'refunded': 2)"),
    ("status state *_status", None, "choice('active': 85, 'inactive': 10, 'pending': 5)"),
    ("type *_type kind", Some(Kind::Payment), "choice('payment': 90, 'refund': 8, 'chargeback': 2)"),
    ("type *_type kind", Some(Kind::Text), "choice('text': 85, 'image': 10, 'link': 5)"),
    ("type *_type kind", Some(Kind::Order), "choice('standard': 85, 'express': 15)"),
    ("type *_type kind", Some(Kind::Log), "phrase('{event_name}')"),
    ("type *_type kind", Some(Kind::Person), "choice('standard': 90, 'premium': 10)"),
    ("type *_type kind", Some(Kind::Task), "choice('bug': 5, 'feature': 3, 'task': 4)"),
    ("type *_type kind", None, "choice('standard': 70, 'special': 20, 'other': 10)"),
];

/// Names that end like those of states, and have rules of their own.
const NO_STATES: &str = "actor_type *content_type *mime_type *media_type *file_type *blood_type *card_type *payment_type *event_type *device_type *unit_type http_status *status_code state_code *marital_status estate";

/// Returns the annotation of a name for a column of this class, with the name of the rule.
pub(super) fn rule(name: &str, traits: &ColumnTraits<'_>, kind: Option<Kind>) -> Option<(&'static str, &'static str)> {
    if matches!(traits.class, TypeClass::Text | TypeClass::Any)
        && !is_like(name, NO_STATES)
        && let Some((names, _, text)) =
            STATES.iter().find(|(names, of, _)| is_like(name, names) && (of.is_none() || *of == kind))
    {
        return Some((text, first(names)));
    }
    let given = |text: &'static str| Some(text).filter(|text| !text.is_empty());
    let found = RULES.iter().filter(|rule| is_like(name, rule.names)).find_map(|rule| {
        let annotation = match traits.class {
            TypeClass::Text => given(rule.text),
            TypeClass::Int => given(rule.int),
            TypeClass::Real => given(rule.real).or(given(rule.int)),
            TypeClass::Numeric => given(rule.real).or(given(rule.int)).or(given(rule.text)),
            TypeClass::Any => given(rule.text).or(given(rule.int)).or(given(rule.real)),
            TypeClass::Blob if is_like(name, "*_key *_hash *_digest") => Some("blob(32, 32)"),
            TypeClass::Blob if rule.text == "ipv4" => Some("blob(4, 4)"),
            TypeClass::Blob => Some("blob(16, 16)").filter(|_| ["uuid", "uuid()"].contains(&rule.text)),
        };
        Some((annotation?, first(rule.names)))
    });
    if let (None, TypeClass::Int | TypeClass::Numeric) = (found, traits.class) {
        let is_state = is_like(name, "status state *_status *_state");
        let is_type = is_like(name, "type *_type kind mode category *_mode *_kind transition");
        return is_state
            .then_some(("choice(1: 80, 2: 12, 0: 8)", "status"))
            .or((is_type && kind == Some(Kind::Person)).then_some(("constant(0)", "type")))
            .or(is_type.then_some(("choice(0: 60, 1: 25, 2: 15)", "type")));
    }
    found
}

fn first(names: &'static str) -> &'static str {
    names.split(' ').next().unwrap_or(names)
}

/// The share of rows in which a flag of this name is set.
static FLAGS: &[(&str, f64)] = &[
    ("*superuser* *is_root*", 0.01),
    ("approved is_approved usable is_usable", 0.995),
    ("disabled is_disabled suspended is_suspended", 0.005),
    ("*admin* *is_staff* *staff* *moderator*", 0.03),
    (
        "*deleted* *removed* *banned* *blocked* *suspended* *locked* *archived* *cancelled* *canceled* *spam* *disabled* *reported* *flagged* *discontinued* *expired* *hidden* *muted* *silenced* *bot* *obsolete* *invalid* *damaged* *lost* *fraud* *sensitive* *trashed* encrypted recalc_* *erased*",
        0.03,
    ),
    (
        "is_active active *enabled* visible *is_visible* is_valid valid *available* *in_stock* *activated* *published* is_public public *allowed* *approved* *supported* autoload editable display readable writable has_cover",
        0.93,
    ),
    (
        "*verified* *confirmed* *is_paid* paid *completed* *processed* *delivered* *synced* *subscribed* *is_read read seen *seen* is_billing* is_shipping* can_* *success* *finished* *is_open*",
        0.8,
    ),
    ("from_me is_outgoing outgoing", 0.45),
    (
        "unread has_attachment* is_private private *featured* *pinned* *sticky* *favorite* *favourite* *starred* *is_primary* *is_default* default primary *important* *urgent* *gift* *draft* *test* *beta* *internal* *virtual* *is_new* *recurring* *premium* *vip* *adult* *unlisted*",
        0.08,
    ),
];

/// Returns the share of rows in which a flag is set, by its name.
pub(super) fn flag_share(name: &str) -> Option<f64> {
    FLAGS.iter().find(|(names, _)| is_like(name, names)).map(|(_, share)| *share)
}

/// Returns whether the name is that of a flag.
pub(super) fn is_flag(name: &str) -> bool {
    const NAMES: &str = "is_* has_* can_* was_* should_* include_on_* allow_* *_flag active enabled disabled deleted visible hidden verified archived pinned sticky featured published approved locked read seen spam banned suspended paid completed done discontinued confirmed muted starred favorite autoload collapsed typed orphan returning *_returning unread sent delivered processed flagged primary default use_* show_* enable_* *_enabled *_disabled *_deleted *_hidden *_verified *_approved *_active subscribed isprim isaux encrypted recalc_* editable display played erased success succeeded from_me outgoing";
    is_like(name, NAMES) && !is_like(name, "*_count")
}

/// The share of rows that are NULL in a nullable column, by its name.
static NULLS: &[(&str, f64)] = &[
    (
        "*deleted* *removed* *banned* *blocked* *suspended* *cancel* *archived* *silenced* *revoked* *trashed* *refunded* *discontinue* *deceased* *died* *death* *sensitized* *locked* *muted*",
        0.97,
    ),
    ("*spoiler* *activation* *post_password*", 0.9),
    // References are known, whatever they refer to.
    ("metadata_id *attributes_id data_id *_data_id settings_id origin_id file_source srs_id guid from_visit id", 0.0),
    ("old_* previous_* prev_* share_with shared_with", 0.3),
    ("fk", 0.08),
    (
        "*reset* *unconfirmed* *unlock* *otp* *recovery* *remember* *retry* *failed_at *error* *exception* *failure*",
        0.94,
    ),
    ("*reason *deadline* *channel_id *story_id", 0.9),
    ("search_cat search_category search_keyword", 0.93),
    ("name_suffix suffix salutation maiden_name", 0.9),
    ("*address2 *address_2 *address_line2 *address_line_2 line2 line_2 street2 apt suite *_line2", 0.75),
    ("*note* *comment* *remark* *memo* *internal*", 0.6),
    ("*fax*", 0.6),
    ("*discount* *coupon* *voucher* *promo* *gift*", 0.75),
    ("*company* *organi?ation* *employer* organization organisation", 0.6),
    ("middle_name middlename middle_initial mi", 0.4),
    ("original_language*", 0.85),
    (
        "*website* *homepage* *home_page* *link* *avatar* *photo* *image* *picture* *logo* *thumbnail* *cover* *icon* *header*",
        0.35,
    ),
    ("*expire* *expiry* *expiration* *valid_until* *valid_to* *ends_at *end_date *until", 0.5),
    ("*edited*", 0.85),
    ("*reblog* *repost* *retweet* *quote_of* *forwarded*", 0.85),
    ("in_reply*", 0.65),
    ("reply* *_reply_* *_to_id", 0.85),
    ("*parent* parent reports_to manager* *boss*", 0.3),
    ("*bio* *about* *settings* *metadata* *extra* *preferences* *attributes* custom_*", 0.3),
    ("*referr* *referer* *utm_* *campaign* *composer* *tracking*", 0.3),
    ("*birth* dob *gender* sex *middle* *nickname* *phone* *mobile* tel *tel", 0.12),
    (
        "*last_login* *last_seen* *last_sign* *last_activ* *last_visit* *last_used* *last_access* *read_at *viewed_at *opened_at *clicked_at",
        0.12,
    ),
    ("*confirmed_at *verified_at *approved_at *published_at *accepted_at *activated_at", 0.08),
    (
        "*shipped* *delivered* *paid_at *paid_on *paid_date *completed* *finished* *ended* *closed* *resolved* *returned* *return_date *processed* *stopped* *dispatched*",
        0.08,
    ),
    ("*region* state *_state province district county", 0.0),
    ("*description* *desc *excerpt* *summary* *title_*", 0.1),
    ("*latitude* *longitude* lat lon lng *altitude*", 0.05),
];

/// Returns the share of rows that are NULL, by the name of a nullable column.
pub(super) fn null_share(name: &str) -> Option<f64> {
    NULLS.iter().find(|(names, _)| is_like(name, names)).map(|(_, share)| *share)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::infer::parts_build;

    #[test]
    fn all_rules_build() {
        for rule in RULES {
            for text in [rule.text, rule.int, rule.real].into_iter().filter(|text| !text.is_empty()) {
                assert!(parts_build(text), "{text}");
            }
        }
        for (_, _, text) in STATES {
            assert!(parts_build(text), "{text}");
        }
    }

    #[test]
    fn flags_have_the_share_of_their_name() {
        for (name, share) in [
            ("is_superuser", Some(0.01)),
            ("is_staff", Some(0.03)),
            ("is_active", Some(0.93)),
            ("deleted", Some(0.03)),
            ("x", None),
        ] {
            assert_eq!(flag_share(name), share, "{name}");
        }
        assert!(is_flag("is_new") && is_flag("enabled") && !is_flag("enabled_count") && !is_flag("island"));
    }

    #[test]
    fn null_shares_follow_names() {
        for (name, share) in [
            ("deleted_at", Some(0.97)),
            ("middle_name", Some(0.4)),
            ("fax", Some(0.6)),
            ("shipped_date", Some(0.08)),
            ("email", None),
        ] {
            assert_eq!(null_share(name), share, "{name}");
        }
    }
}
