//! The meta data of users and posts of a blog, in the form of WordPress: rows of a key and a value.

use super::TableInference;
use super::listed::one_of_listed;
use super::names::{is_like, plain};
use super::times::Form;

/// A key and its value.
type Pair = (&'static str, String);

impl TableInference<'_> {
    /// Infers the keys and values that belong to users or posts. Returns `false` if the rows belong to something else.
    pub(super) fn meta_of_blog(&mut self, key: usize) -> bool {
        let Some((by, value)) = self.context.per_parent.zip(self.find_repeatable_text("meta_value")) else {
            return false;
        };
        let kinds = match (self.meta_of_user(by), self.meta_of_post(by)) {
            (Some(pairs), _) => vec![("TRUE".to_owned(), pairs)],
            (None, Some(kinds)) => kinds,
            (None, None) => return false,
        };
        let by_kind = |text: &dyn Fn(&[Pair]) -> String| {
            let cases = kinds.iter().map(|(is_kind, pairs)| format!(" WHEN {is_kind} THEN {}", text(pairs)));
            format!("CASE{} END", cases.collect::<String>())
        };
        let keys = by_kind(&|pairs| {
            let keys: Vec<&str> = pairs.iter().map(|(key, _)| *key).collect();
            one_of_listed(&keys, &self.table.columns[by].name).text
        });
        let values = by_kind(&|pairs| {
            let cases = pairs.iter().map(|(key, value)| format!(" WHEN '{key}' THEN {value}"));
            format!("CASE {}{} END", self.column(key), cases.collect::<String>())
        });
        self.set(key, keys, "follows from whose it is");
        self.set(value, values, "follows from the key");
        true
    }

    /// Returns the column of these names in the row that `by` refers to.
    fn of_parent(&self, by: usize, names: &str) -> Option<String> {
        let of = &self.context.schema.tables[self.context.parents[by]?.table];
        let mut columns = of.columns.iter().filter(|column| column.not_null);
        columns.find(|column| is_like(&plain(&column.name), names)).map(|column| self.through(by, column))
    }

    /// Returns what is known of users, the most usual first.
    fn meta_of_user(&self, by: usize) -> Option<Vec<Pair>> {
        let (name, login) = (self.of_parent(by, "display_name")?, self.of_parent(by, "user_login")?);
        let role = |role: &str| format!("a:1:{{s:{}:\"{role}\";b:1;}}", role.len());
        let roles = ["author", "editor", "contributor"].map(role);
        let number = self.column(by);
        let rights = format!(
            "if({number} = 1, '{}', choice('{}': 7, '{}': 2, '{}': 3))",
            role("administrator"),
            roles[0],
            roles[1],
            roles[2]
        );
        Some(vec![
            ("nickname", login),
            ("wp_capabilities", rights),
            ("first_name", format!("substr({name}, 1, instr({name} || ' ', ' ') - 1)")),
            ("last_name", format!("substr({name}, instr({name} || ' ', ' ') + 1)")),
            ("description", "phrase('{hobbies}')".to_owned()),
            ("rich_editing", "'true'".to_owned()),
            ("show_admin_bar_front", "choice('true': 8, 'false': 2)".to_owned()),
            ("admin_color", "choice('fresh': 8, 'light', 'modern', 'midnight')".to_owned()),
            ("locale", "choice('': 6, 'de_DE': 2, 'fr_FR')".to_owned()),
        ])
    }

    /// Returns what is known of images, other files, pages and posts: the condition of each, and the pairs, the most usual first.
    fn meta_of_post(&self, by: usize) -> Option<Vec<(String, Vec<Pair>)>> {
        let [kind, mime, author, address] =
            ["post_type", "*mime_type", "post_author", "guid"].map(|names| self.of_parent(by, names));
        let (kind, mime, author, address) = (kind?, mime?, author?, address?);
        let (changed, title) = (self.of_parent(by, "post_modified")?, self.of_parent(by, "post_title")?);
        let since_1970 = Form::Unix(1).converted(&changed, Form::Text)?;
        let file = format!("substr({address}, instr({address}, '/uploads/') + 9)");
        let size =
            "choice('i:1024;s:6:\"height\";i:768', 'i:1600;s:6:\"height\";i:1200', 'i:2048;s:6:\"height\";i:1365')";
        let details = format!(
            "'a:3:{{s:5:\"width\";' || {size} || ';s:4:\"file\";s:' || length({file}) || ':\"' || {file} || '\";}}'"
        );
        let edits = || {
            [("_edit_last", format!("{author} || ''")), ("_edit_lock", format!("({since_1970}) || ':' || {author}"))]
        };
        let slug = self.of_parent(by, "post_name")?;
        let old = ("_wp_old_slug", format!("{slug} || '-draft'"));
        let attached = ("_wp_attached_file", file.clone());
        let image =
            [("_wp_attachment_metadata", details), ("_wp_attachment_image_alt", format!("replace({title}, '_', ' ')"))];
        let page = [("_wp_page_template", "choice('default': 8, 'page-wide', 'page-no-title')".to_owned())];
        let of_file = [("_wp_attachment_context", "constant('upload')".to_owned())];
        let post = [
            ("_pingme", "'1'".to_owned()),
            ("_encloseme", "'1'".to_owned()),
            ("seo_title", title),
            ("reading_minutes", "int(2, 9) || ''".to_owned()),
            old,
        ];
        let pairs = |first: &[Pair], more: &[Pair]| [first, &edits(), more].concat();
        Some(vec![
            (
                format!("substr({mime}, 1, 6) = 'image/'"),
                pairs(&[std::slice::from_ref(&attached), &image[..]].concat(), &of_file),
            ),
            (format!("{kind} = 'attachment'"), pairs(&[attached], &of_file)),
            (format!("{kind} = 'page'"), pairs(&page, &post)),
            ("TRUE".to_owned(), pairs(&[], &post)),
        ])
    }
}
