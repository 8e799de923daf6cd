//! Books and films: the names by which they are sorted, where their files are, who made them, their chapters and streams.

use super::amounts::named_column;
use super::names::{is_like, plain, words_of_table};
use super::subjects::{Kind, subject};
use super::table_columns::called;
use super::times::{Form, Stage};
use super::{TableInference, branches, literal};
use crate::generators::phrases;
use litepress_rows::quoted_name;
use litepress_rows::schema::{Column, Generated, Table};

const GENRE: &str = "film_genre";
const NAMES: &str = "title name full_name display_name";
const SORTED: &str = "sort sort_name sort_title name_sort title_sort";
/// The seasons of each series.
const SEASONS: u64 = 2;
/// Units of .NET in a second, in which columns such as `RunTimeTicks` count.
const TICKS: u64 = 10_000_000;

const IDENTIFIERS: &str = "WHEN 'isbn' THEN isbn() WHEN 'amazon' THEN regex('B0[0-9A-Z]{8}') WHEN 'goodreads' THEN int(1000, 9_999_999) || '' \
    WHEN 'google' THEN regex('[A-Za-z0-9_]{12}') WHEN 'doi' THEN '10.' || int(1000, 9999) || '/' || regex('[a-z]{2}[0-9]{5}') ELSE phrase('{web_url}')";
const CODECS: &str = "WHEN 'video' THEN choice('h264': 6, 'hevc': 3, 'av1') WHEN 'audio' THEN choice('aac': 5, 'ac3': 3, 'eac3': 2, 'flac', 'opus') ELSE choice('subrip': 6, 'ass': 2, 'webvtt': 2)";

/// Returns whether the rows of a table are the genres of the films or books in another one.
pub(crate) fn are_genres_of(genres: &Table, titles: &Table) -> bool {
    is_of_titles(titles) && super::has_last_word(genres, "category genre")
}

/// Returns whether the columns of a table are those of films, whatever its name is.
pub(crate) fn is_of_films(table: &Table) -> bool {
    const FILMS: [&str; 4] = ["overview plot", "*runtime* *run_time*", "genre genres", "is_movie"];
    let has = |patterns: &&str| table.columns.iter().any(|column| is_like(&plain(&column.name), patterns));
    FILMS.iter().filter(|patterns| has(patterns)).count() > 1
}

/// Returns how many rows behind the first ones of a table of films are seasons and collections, to which all others belong.
pub(crate) fn second_level(table: &Table, first: u64, rows: u64) -> u64 {
    if is_of_films(table) && first * (1 + SEASONS) <= rows { first * SEASONS } else { 0 }
}

/// Returns whether the rows of a table are the people who made films.
fn is_cast(table: &Table) -> bool {
    let has = |names: &str| table.columns.iter().any(|column| is_like(&plain(&column.name), names));
    has("person_type") && has("role character character_name")
}

/// Returns whether the rows of a table are the people who made the films in another one.
pub(crate) fn is_cast_of(table: &Table, films: &Table) -> bool {
    is_cast(table) && is_of_films(films)
}

/// Returns whether the rows of a table are genres, studios and tags of films.
pub(crate) fn is_value_of_film(table: &Table, films: &Table) -> bool {
    is_of_films(films) && super::has_last_word(table, "value") && table.column("type").is_some()
}

/// Returns how many first rows of a table of films are series and seasons, if the rows of another table are parts of films, such as
/// chapters and streams, or tell who saw them.
pub(crate) fn films_without_parts(table: &Table, films: &Table, rows: u64) -> u64 {
    let is_part = words_of_table(&table.name).pop().is_some_and(|word| word == "chapter")
        || are_streams(table)
        || tells_of_plays(table)
        || is_value_of_film(table, films)
        || is_cast(table);
    let parent = (0..films.columns.len()).find_map(|at| super::roots(films, at, rows));
    let wholes = parent.filter(|_| is_part && is_of_films(films)).map(|first| first * (1 + SEASONS));
    wholes.filter(|&wholes| wholes < rows).unwrap_or(0)
}

/// Returns whether the rows of a table tell how often somebody played something.
pub(crate) fn tells_of_plays(table: &Table) -> bool {
    table.columns.iter().any(|column| is_like(&plain(&column.name), "play_count playcount"))
}

/// Returns whether the rows of a table are the pictures and sounds of films: each film has both.
pub(crate) fn are_streams(table: &Table) -> bool {
    words_of_table(&table.name).pop().is_some_and(|word| word.ends_with("stream"))
}

fn is_of_titles(table: &Table) -> bool {
    subject(&table.name).is_some_and(|subject| subject.names == "title") || is_of_films(table)
}

impl TableInference<'_> {
    pub(super) fn media(&mut self) {
        self.sorted_names();
        if self.subject.is_some_and(|subject| subject.names == "title") {
            self.published();
            self.years();
            self.films();
            self.ratings();
            self.folders();
        }
        if self.title_of_row().is_some() {
            self.files_of_titles();
            self.cast();
            self.streams();
        }
        self.posted_files();
        self.identifiers();
        self.chapters();
        self.plays();
        self.pictures();
        self.covers();
    }

    /// Returns the column that refers to a book or film, and its title as an operand.
    fn title_of_row(&self) -> Option<(usize, Option<String>)> {
        (0..self.columns.len()).find_map(|by| {
            let of = &self.context.schema.tables[self.context.possible_parents[by]?.table];
            let title = NAMES.split(' ').find_map(|name| of.columns.iter().find(|column| plain(&column.name) == name));
            let title = title.filter(|title| title.not_null && title.generated == Generated::No);
            is_of_titles(of).then(|| (by, title.map(|title| self.through(by, title))))
        })
    }

    /// Names by which rows are sorted: "Smith, Anna", and "Castle, The".
    fn sorted_names(&mut self) {
        let name = self.find(NAMES, |at| self.is_text(at));
        let Some((at, name)) = self.find_repeatable_text(SORTED).zip(name) else { return };
        let name = self.column(name);
        let text = if self.kind() == Some(Kind::Person) {
            let blank = format!("instr({name}, ' ')");
            format!("if({blank} = 0, {name}, substr({name}, {blank} + 1) || ', ' || substr({name}, 1, {blank} - 1))")
        } else {
            format!(
                "CASE WHEN substr({name}, 1, 4) = 'The ' THEN substr({name}, 5) || ', The' WHEN substr({name}, 1, 2) = 'A ' THEN substr({name}, 3) || ', A' ELSE {name} END"
            )
        };
        self.set(at, text, "follows from the name");
    }

    /// Returns whether a column has the day of publication of a book or film whose row came at another time.
    pub(super) fn is_publication(&self, at: usize) -> bool {
        let is_title = self.subject.is_some_and(|subject| subject.names == "title");
        is_title && self.is_like(at, "pubdate *publi* *release*") && self.time_of_title(at).is_some()
    }

    /// Returns the column of the time at which the row of a title came, if it is known in every row.
    fn time_of_title(&self, published: usize) -> Option<usize> {
        (0..self.columns.len()).filter(|&at| at != published && self.share_of_null(at) == 0.0).find(|&at| {
            let time = self.time_at(at);
            matches!(time, Some((Stage::Created, Form::Text)))
        })
    }

    /// Days of publication, before the row came.
    fn published(&mut self) {
        for at in (0..self.columns.len()).filter(|&at| self.is_free(at) && self.is_publication(at)).collect::<Vec<_>>()
        {
            let form = self.time_at(at).map(|(_, form)| form);
            let Some((base, form)) = self.time_of_title(at).zip(form) else { continue };
            let days = "-lognormal(7, 1.3, min=5, max=30000, decimals=0)";
            let day = format!("date_add(substr({}, 1, 10), {days}, 'days')", self.column(base));
            if let Some(text) = form.converted(&day, Form::Day) {
                self.set(at, text, "before the row came");
            }
        }
    }

    /// Years of publication, not after the row was last changed.
    fn years(&mut self) {
        let is_known = |at: &usize| self.is_text_time(*at) && self.share_of_null(*at) == 0.0;
        let changed = (0..self.columns.len()).find(is_known).map(|at| self.column(at));
        let is_year = |at: usize| self.found[at].is_none() && !self.columns[at].is_unique;
        let Some((at, changed)) = self.find("release_year year", is_year).zip(changed) else { return };
        let year = format!("substr({changed}, 1, 4)");
        let text = match self.is_text(at) {
            true => format!("min(int(1985, 2025) || '', {year})"),
            false => format!("min(int(1985, 2025), {year} + 0)"),
        };
        self.set(at, text, "not after the row came");
    }

    /// Kinds and lengths of films, series and their episodes.
    fn films(&mut self) {
        if !is_of_films(self.table) {
            return;
        }
        let Some(kind) = self.find_kind("type item_type kind") else { return };
        self.set(kind, self.kind_of_film(), "a kind of film");
        let kind = self.column(kind);
        if let Some((name, (_, first))) = self.find_repeatable_text("name title").zip(self.context.roots) {
            let text = format!(
                "CASE {kind} WHEN 'Season' THEN 'Season ' || ((sequence() - 1) / {first}) WHEN 'BoxSet' THEN phrase('{{title}}') || ' Collection' \
                 WHEN 'Folder' THEN phrase('{{Adjective}} {{Noun}} Films') ELSE phrase('{{title}}') END"
            );
            self.set(name, text, "the name of a film, or the number of a season");
        }
        // Folders have no rating.
        let rating = self.find_repeatable_number("community_rating rating").filter(|&at| !self.columns[at].not_null);
        if let Some(at) = rating {
            let own = called(&self.alone(at).text);
            let text = format!("if({kind} IN ('Movie', 'Series', 'Episode') AND bool(0.9), {own})");
            self.set(at, text, "follows from what it is");
        }
        let is_whole = format!("{kind} IN ('Movie', 'Episode')");
        let texts = [
            ("is_movie", format!("if({kind} = 'Movie', 1, 0)")),
            ("media_type", format!("if({is_whole}, 'Video')")),
            (
                "overview plot",
                format!("if({kind} IN ('Movie', 'Episode', 'Series'), if(bool(0.85), phrase('{{film_plot}}')))"),
            ),
            (
                "*run_time_ticks *runtime_ticks",
                format!(
                    "{} * CASE {kind} WHEN 'Movie' THEN normal(105, 22, min=70, max=220, decimals=0) WHEN 'Episode' THEN normal(42, 12, min=20, max=75, decimals=0) END",
                    60 * TICKS
                ),
            ),
            (
                "genres",
                format!(
                    "if({kind} IN ('Movie', 'Series'), phrase('{{genre_main}}') || if(bool(0.6), '|' || phrase('{{genre_more}}'), ''))"
                ),
            ),
        ];
        for (names, text) in texts {
            let at = self.find(names, |at| {
                self.found[at].is_none() && !self.columns[at].is_unique && !self.columns[at].not_null
            });
            if let Some(at) = at {
                self.set(at, text, "follows from the kind of film");
            }
        }
        if let Some((at, (parent, _))) = self.find_repeatable_text("top_parent_id").zip(self.context.roots) {
            let parent = self.column(parent);
            self.set(
                at,
                format!("coalesce({parent}.{parent}, {parent})"),
                "follows from the series, which is at the top",
            );
        }
        self.broadcasts(&is_whole);
    }

    /// Films that a channel sends: only these begin and end at a time, and they have no file.
    fn broadcasts(&mut self, is_whole: &str) {
        let is_nullable = |at: usize| self.is_text(at) && !self.columns[at].not_null;
        let Some(channel) = self.find("channel_id", |at| is_nullable(at) && self.is_free(at)) else { return };
        let text = format!("if({is_whole} AND bool(0.3), 'channel-' || zipf(12, 1))");
        self.set(channel, text, "few films are sent by a channel");
        let is_sent = format!("{} IS NOT NULL", self.column(channel));
        if let Some(start) = self.find("start_date", |at| self.is_text_time(at)) {
            let own = self.found[start].as_ref().map(|found| called(&found.text)).unwrap_or_default();
            self.set(start, format!("substr({own}, 1, 14) || choice('00:00', '30:00')"), "a broadcast");
            let (start, end) = (self.column(start), self.find("end_date", |at| self.is_text_time(at)));
            let ticks = self.find("*run_time_ticks *runtime_ticks", |at| self.is_number(at)).map(|at| self.column(at));
            let minutes = ticks.map(|ticks| format!("({ticks} / {} + 4) / 5 * 5", 60 * TICKS));
            let minutes = minutes.unwrap_or_else(|| "30 * int(1, 4)".to_owned());
            if let Some(end) = end {
                self.set(end, format!("date_add({start}, {minutes}, 'minutes')"), "the end of a broadcast");
            }
        }
        for names in ["start_date", "end_date"] {
            self.set_only_if(names, &is_sent, "follows from the channel");
        }
    }

    /// Infers the ages for which films are, as the genre says that other rows give them.
    fn ratings(&mut self) {
        const GENRES: [(&[&str], &str); 2] = [
            (&["Animation", "Children", "Family"], "choice('G': 6, 'PG': 4)"),
            (&["Crime", "Horror", "Thriller", "War"], "choice('PG-13': 3, 'R': 5, 'NC-17': 2)"),
        ];
        let Some((rating, genre)) = self.find_repeatable_text("rating mpaa_rating").zip(self.genre_of_film()) else {
            return;
        };
        if !self.alone(rating).text.contains("'NC-17'") {
            return;
        }
        let list = phrases::items(GENRE);
        let case = |(genres, ratings): (&[&str], &str)| {
            let numbers =
                (1..).zip(list).filter(|(_, name)| genres.contains(name)).map(|(number, _)| number.to_string());
            format!(" WHEN {genre} IN ({}) THEN {ratings}", numbers.collect::<Vec<_>>().join(", "))
        };
        let text = format!("CASE{} ELSE {} END", GENRES.map(case).concat(), self.alone(rating).text);
        self.set(rating, text, "suits the genre");
    }

    /// Returns the number of the genre that a row of another table gives the film.
    fn genre_of_film(&self) -> Option<String> {
        let schema = self.context.schema;
        self.context.counted.iter().find_map(|&(link, film)| {
            let of = &schema.tables[link];
            let is_numbered = |at: &usize| {
                super::other_parent(schema, link, *at).is_some_and(|parent| {
                    let genres = &schema.tables[parent.table];
                    let most = super::closed_names(schema, parent.table).map(|(_, most)| most);
                    are_genres_of(genres, self.table)
                        && genres.rowid_alias == Some(parent.column)
                        && most == Some(phrases::count(GENRE))
                })
            };
            let genre = (0..of.columns.len()).find(is_numbered)?;
            Some(format!("last_of({}, {})", named_column(of, film), named_column(of, genre)))
        })
    }

    /// Returns the annotation of the kinds of films: episodes belong to a season of a series, and films to a collection in a folder. Every
    /// other root is a folder, and the seasons come before the episodes.
    fn kind_of_film(&self) -> String {
        let Some((_, first)) = self.context.roots else {
            return "choice('Movie': 45, 'Episode': 38, 'Season': 10, 'Series': 7)".to_owned();
        };
        let parts = first + second_level(self.table, first, self.context.rows);
        let of = |film: &str, show: &str| format!("if((sequence() - 1) % {first} % 2 = 1, '{film}', '{show}')");
        format!(
            "CASE WHEN sequence() <= {first} THEN {} WHEN sequence() <= {parts} THEN {} ELSE {} END",
            of("Folder", "Series"),
            of("BoxSet", "Season"),
            of("Movie", "Episode")
        )
    }

    /// Returns whether a column has texts of times that are known by now.
    fn is_text_time(&self, at: usize) -> bool {
        let time = self.time_at(at);
        self.found[at].is_some() && matches!(time, Some((_, Form::Text)))
    }

    /// Folders of books and films, by their titles.
    fn folders(&mut self) {
        let name = self.find(NAMES, |at| self.is_text(at));
        let Some((path, title)) = self.find_repeatable_text("path folder file_path").zip(name) else { return };
        let key = (0..self.columns.len()).find(|&at| self.table.rowid_alias == Some(at));
        let author = (0..self.columns.len()).find(|&at| self.is_like(at, "author_sort") && self.is_text(at));
        let title = format!("coalesce({}, 'Unknown')", self.column(title));
        let text = match (author, key) {
            (Some(author), Some(key)) => {
                let author = format!("coalesce({}, 'Unknown')", self.column(author));
                let comma = format!("instr({author}, ', ')");
                format!(
                    "if({comma} = 0, {author}, substr({author}, {comma} + 2) || ' ' || substr({author}, 1, {comma} - 1)) || '/' || {title} || ' (' || {} || ')'",
                    self.column(key)
                )
            }
            _ => {
                let file = format!("'/' || {title} || choice('.mkv': 7, '.mp4': 3)");
                let kind = self
                    .find("type", |at| self.found[at].as_ref().is_some_and(|found| found.text.contains("'Season'")));
                let kind = kind.map(|at| self.column(at));
                let file = kind.map_or(file.clone(), |kind| format!("if({kind} IN ('Movie', 'Episode'), {file}, '')"));
                let folder = self.context.roots.zip(name).map(|((parent, _), name)| {
                    let above = self.through(parent, &self.table.columns[name]);
                    format!("coalesce({}.{above} || '/', '') || coalesce({above} || '/', '') || ", self.column(parent))
                });
                format!("'/media/' || {}{title} || {file}", folder.unwrap_or_default())
            }
        };
        let channel = self.find("channel_id", |at| is_of_films(self.table) && self.found[at].is_some());
        let text = match channel.filter(|_| !self.columns[path].not_null) {
            Some(channel) => format!("if({} IS NULL, {text})", self.column(channel)),
            None => text,
        };
        self.set(path, text, "a folder of this title");
    }

    /// Files of books and what people say of them.
    fn files_of_titles(&mut self) {
        let Some((by, title)) = self.title_of_row() else { return };
        let format = (0..self.columns.len()).find(|&at| self.is_like(at, "format file_format"));
        let name = self.find_repeatable_text("name file_name filename");
        if let (Some(_), Some(name), Some(title)) = (format, name, title) {
            self.set(name, title, "the title of the row that it refers to");
        }
        let size = self.find_repeatable_number("*size *_bytes bytes");
        if let Some(size) = size.filter(|_| format.is_some()) {
            self.set(size, "lognormal(13.6, 1.1, min=30000, max=90000000, decimals=0)", "the size of a book");
        }
        let is_only = self.columns[by].is_unique || self.context.once == Some(by);
        let is_comment = self.subject.is_some_and(|subject| subject.names == "comment");
        if let Some(at) = self.find_repeatable_text("text body content comment").filter(|_| is_only && is_comment) {
            self.set(at, "phrase('{film_plot}')", "the only comment on a title");
        }
        if let Some(at) =
            self.find_repeatable_text("value").filter(|_| super::has_last_word(self.table, "value tag genre"))
        {
            let of = &self.context.schema.tables[self.context.possible_parents[by].map_or(0, |parent| parent.table)];
            let genres = of.columns.iter().find(|column| plain(&column.name) == "genres");
            let genre = genres.map(|column| {
                let genres = self.through(by, column);
                let first = |genres: &str| format!("substr({genres}, 1, instr({genres} || '|', '|') - 1)");
                // The genre of an episode is that of its series.
                let parent = of.columns.iter().find(|column| plain(&column.name) == "parent_id");
                let above = parent.map(|parent| format!("{}.{}", self.through(by, parent), quoted_name(&parent.name)));
                let above = above.map_or(String::new(), |above| {
                    format!("{}, ", first(&format!("{above}.{}", quoted_name(&column.name))))
                });
                format!("coalesce({}, {above}phrase('{{film_genre}}'))", first(&genres))
            });
            let genre = genre.unwrap_or_else(|| "phrase('{film_genre}')".to_owned());
            let kind = self.find_repeatable_number("type").filter(|_| is_value_of_film(self.table, of));
            let text = match kind.filter(|_| self.context.per_parent == Some(by)) {
                Some(kind) => self.kinds_of_values(by, kind, &genre),
                None => genre,
            };
            self.set(at, text, "a value of a title");
        }
    }

    /// Infers the kinds of the values of a film, no two of which are the same: its genre is 2, its studio 3, and tags are 4. Returns the
    /// annotation of the values.
    fn kinds_of_values(&mut self, by: usize, kind: usize, genre: &str) -> String {
        let number = format!("number_in({})", self.column(by));
        self.set(kind, format!("min(1 + {number}, 4)"), "a genre, a studio, or a tag");
        let tags = phrases::items("film_tag");
        let cases = branches(0, tags.iter().map(|tag| literal(tag)));
        let tag = format!("({number} + same_in({}, int(0, 999))) % {}", self.column(by), tags.len());
        format!("CASE {number} WHEN 1 THEN {genre} WHEN 2 THEN phrase('{{studio}}') ELSE CASE {tag}{cases} END END")
    }

    /// Numbers of books in other catalogues.
    fn identifiers(&mut self) {
        let kind = (0..self.columns.len()).find(|&at| self.is_like(at, "type kind scheme") && self.is_text(at));
        let Some(kind) = kind.filter(|_| super::has_last_word(self.table, "identifier")) else { return };
        if let Some(at) = self.find_repeatable_text("val value identifier") {
            self.set(at, format!("CASE {} {IDENTIFIERS} END", self.column(kind)), "follows from its type");
        }
    }

    /// People who made a film: only actors play someone.
    fn cast(&mut self) {
        let Some(kind) = self.find_kind("person_type credit_type job department") else { return };
        let Some(role) = self.find_repeatable_text("role character character_name") else { return };
        self.set(
            kind,
            "choice('Actor': 72, 'Director': 10, 'Writer': 10, 'Producer': 8)",
            "follows from the making of a film",
        );
        let none = if self.columns[role].not_null { "''" } else { "NULL" };
        // Documentaries have no roles.
        let genres = self.context.per_parent.and_then(|by| {
            let of = &self.context.schema.tables[self.context.parents[by]?.table];
            let column = of.columns.iter().find(|column| is_like(&plain(&column.name), "genres genre"))?;
            Some(format!(" AND instr(coalesce({}, ''), 'Documentary') = 0", self.through(by, column)))
        });
        let is_played = format!("{} = 'Actor'{}", self.column(kind), genres.unwrap_or_default());
        let text = format!("if({is_played}, phrase('{{film_role}}'), {none})");
        self.set(role, text, "follows from who it is");
        let orders = self.find_repeatable_number("sort_order").zip(self.find_repeatable_number("list_order"));
        if let Some((sorted, listed)) = orders {
            if let Some(by) = self.context.per_parent.map(|by| self.column(by)) {
                self.set(sorted, format!("number_in({by}) - 1"), "in order");
            }
            self.set(listed, self.column(sorted), "follows from the other order");
        }
    }

    /// Streams of a film: a picture, sounds and subtitles.
    fn streams(&mut self) {
        let is_stream = words_of_table(&self.table.name).pop().is_some_and(|word| word.ends_with("stream"));
        let Some(kind) = self.find_kind("stream_type codec_type type kind").filter(|_| is_stream) else {
            return;
        };
        let index =
            (0..self.columns.len()).find(|&at| self.is_like(at, "stream_index *_index index") && self.is_number(at));
        let others = "choice('Audio': 4, 'Subtitle': 6)";
        let text = match index {
            Some(index) => {
                format!("CASE {} WHEN 1 THEN 'Video' WHEN 2 THEN 'Audio' ELSE {others} END", self.column(index))
            }
            None => format!("if(bool(0.3), 'Video', {others})"),
        };
        self.set(kind, text, "a kind of stream");
        let kind = self.column(kind);
        if let Some(codec) = self.find_repeatable_text("codec codec_name") {
            self.set(codec, format!("CASE lower({kind}) {CODECS} END"), "follows from the kind of stream");
        }
        let audio = "choice(128: 2, 192: 3, 256: 2, 320: 2, 640: 3)";
        for (names, text) in [
            ("language", format!("if({kind} = 'Video', NULL, choice('en': 6, 'de': 2, 'fr': 2, 'es': 2, 'ja': 1))")),
            (
                "bit_rate bitrate",
                format!("CASE {kind} WHEN 'Video' THEN 1000 * int(900, 24_000) WHEN 'Audio' THEN 1000 * {audio} END"),
            ),
            ("*frame_rate *framerate fps", format!("if({kind} = 'Video', {})", super::rules::FRAME_RATE)),
            ("height width", format!("if({kind} = 'Video', choice(1920: 5, 1280: 2, 3840: 2))")),
        ] {
            let at =
                self.find(names, |at| self.is_free(at) && !self.columns[at].not_null && !self.columns[at].is_unique);
            if let Some(at) = at {
                self.set(at, text, "follows from the kind of stream");
            }
        }
    }

    /// Chapters of a film: each one five minutes after the one before.
    fn chapters(&mut self) {
        const SECONDS: u64 = 300;
        let number = (0..self.columns.len())
            .find(|&at| self.is_like(at, "chapter_index *_index index number chapter_number") && self.is_number(at));
        let start = self.find_repeatable_number("start_position* *start_time* start *_start *position_ticks");
        let is_chapter = super::has_last_word(self.table, "chapter");
        let Some((start, number)) = start.zip(number).filter(|_| is_chapter) else { return };
        let units = if self.is_like(start, "*ticks") { TICKS } else { 1 };
        let number = self.column(number);
        let by = self.context.per_parent.map(|by| self.column(by));
        let whole = self.ticks_of_film().filter(|_| units == TICKS).zip(by);
        let length = whole.map(|(ticks, by)| format!("(coalesce({ticks}, 0) / count_in({by}))"));
        let length = length.unwrap_or_else(|| (SECONDS * units).to_string());
        self.set(start, format!("({number} - 1) * {length}"), "follows from the number of the chapter");
        if let Some(name) = self.find_repeatable_text("name title") {
            self.set(name, format!("'Chapter ' || {number}"), "the number of the chapter");
        }
    }

    /// How often something was played: who has not played it has no last time.
    fn plays(&mut self) {
        let Some(count) = self.find_repeatable_number("play_count playcount") else { return };
        let Some(played) = self.find_repeatable_number("played is_played") else { return };
        self.set(played, "bool(0.4)", "a flag");
        let played = self.column(played);
        self.set(
            count,
            format!("if({played}, 1 + exponential(0.5, max=60, decimals=0), 0)"),
            "follows from whether it was played",
        );
        if let Some(position) = self.find_repeatable_number("*position_ticks *position_ms *position_seconds") {
            let units = if self.is_like(position, "*ticks") { TICKS } else { 1 };
            let place = match self.ticks_of_film().filter(|_| units == TICKS) {
                Some(ticks) => format!("coalesce({ticks}, 0) / 1000 * int(20, 950)"),
                None => format!("{units} * int(30, 6000)"),
            };
            let text = format!("if({played} OR bool(0.8), 0, {place})");
            self.set(position, text, "follows from whether it was played");
            let begun = format!("{played} OR {} > 0", self.column(position));
            self.set_only_if("last_played*", &begun, "follows from whether somebody began it");
        } else {
            self.set_only_if("last_played*", &played, "follows from whether it was played");
        }
        if let Some(rating) = self.find_repeatable_number("rating *_rating").filter(|&at| !self.columns[at].not_null) {
            let text = format!("if({played} AND bool(0.3), {})", called(&self.alone(rating).text));
            self.set(rating, text, "follows from who rates at all");
        }
    }

    /// Returns the length of the film that the row refers to.
    fn ticks_of_film(&self) -> Option<String> {
        (0..self.columns.len()).find_map(|by| {
            let of = &self.context.schema.tables[self.context.parents[by]?.table];
            let is_length = |column: &&Column| is_like(&plain(&column.name), "*run_time_ticks *runtime_ticks");
            Some(self.through(by, of.columns.iter().find(is_length)?))
        })
    }

    /// The picture on the cover of a set: the first one.
    fn covers(&mut self) {
        let Some(at) = self.find_repeatable_number("cover_*").filter(|&at| !self.columns[at].not_null) else { return };
        let first = self.context.counted.iter().find(|&&(child, column)| {
            let of = &self.context.schema.tables[child];
            let word = words_of_table(&of.name).pop().unwrap_or_default();
            child != self.context.table
                && self.is_like(at, &format!("*_{word}_id"))
                && of.columns[column].key_position.is_some()
        });
        if let Some(&(child, column)) = first {
            let of = &self.context.schema.tables[child];
            let text = format!("if(count_of({}) > 0, 1)", named_column(of, column));
            self.set(at, text, "follows from the rows that refer to it");
        }
    }

    /// Files with the pictures of persons and products, which have their names.
    fn pictures_of_names(&mut self) {
        const FILES: &str =
            "image picture photo avatar *_image *_photo *_picture *image_path *photo_path *picture_path *avatar_path";
        let folder = match self.kind() {
            Some(Kind::Person) => "photos",
            Some(Kind::Product) => "products",
            _ => return,
        };
        let find = |names: &str| self.find(names, |at| self.is_text(at)).map(|at| self.column(at));
        let both = find("first_name firstname").zip(find("last_name lastname"));
        let both = both.map(|(first, last)| format!("{first} || ' ' || {last}"));
        let Some(name) = both.or_else(|| find("name full_name product_name title")) else { return };
        if let Some(at) = self.find_repeatable_text(FILES).filter(|&at| !self.columns[at].not_null) {
            self.set(at, format!("'{folder}/' || slug({name}) || '.jpg'"), "a picture of this name");
        }
    }

    /// Files and sizes of pictures: stickers are squares.
    fn pictures(&mut self) {
        self.pictures_of_names();
        const PICTURES: &str = "sticker emoji avatar icon photo image picture thumbnail";
        if !super::has_last_word(self.table, PICTURES) {
            return;
        }
        let is_square = super::has_last_word(self.table, "sticker emoji avatar icon");
        if let Some(path) = self.find_repeatable_text("path file_path") {
            self.set(path, "phrase('{image_path}')", "the path of a picture");
        }
        let sides = self.find_repeatable_number("width").zip(self.find_repeatable_number("height"));
        let Some((width, height)) = sides.filter(|_| is_square) else { return };
        self.set(width, "choice(512: 9, 256)", "the width of a small picture");
        let width = self.column(width);
        self.set(height, width, "as high as wide");
    }
}
