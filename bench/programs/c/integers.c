/* Fills a table of one column of integers: with each method, kind of value, key, order, index and cache.
 *
 * A method is a list of words: the way to insert, and the differences from the default, a table without keys and indexes
 * with SQLite's own settings and 32-bit integers in random order. The values are in an array before the clock starts. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness.h"

static const char USAGE[] =
    "integers 'alone|transactions|statements|unrolled=N|carray[=N]|copy|copy-rows\n"
    "  [values=zeros|ones|bools|int8|int16|int32|int64|keys]\n"
    "  [order=sequential|reversed|shuffled|outside-in|inside-out|odds-evens|evens-odds|sawtooth]\n"
    "  [table=rowid|key|without-rowid|automatic|autoincrement] [index=before|after|sorted] [cache=PAGES] [unsafe]'\n"
    "  TARGET ROWS [CHECK]";

typedef struct {
    const char *insert;
    /* Rows of a statement; 0 is all of them. */
    int rows_per_statement;
    const char *values, *order, *table, *index;
    int cache;
    bool unsafe;
} way;

static bool is(const char *text, const char *other) { return text && strcmp(text, other) == 0; }

static way way_of(char *method) {
    way it = {NULL, 0, "int32", "shuffled", "rowid", NULL, 0, false};
    for (char *word; (word = next_word(&method));) {
        const char *value;
        if ((value = value_of(word, "values"))) it.values = value;
        else if ((value = value_of(word, "order"))) it.order = value;
        else if ((value = value_of(word, "table"))) it.table = value;
        else if ((value = value_of(word, "index"))) it.index = value;
        else if ((value = value_of(word, "cache"))) it.cache = (int)number(value, INT32_MAX);
        else if (is(word, "unsafe")) it.unsafe = true;
        else if (it.insert) fail(word, USAGE);
        else {
            it.insert = word;
            char *rows = strchr(word, '=');
            if (rows) {
                *rows = 0;
                it.rows_per_statement = (int)number(rows + 1, INT32_MAX);
            }
        }
    }
    if (!it.insert) fail("no way to insert", USAGE);
    if (is(it.insert, "unrolled") && !it.rows_per_statement) fail("unrolled: 0 rows", USAGE);
    if (it.index && !is(it.index, "before") && !is(it.index, "after") && !is(it.index, "sorted")) fail(it.index, USAGE);
    return it;
}

/* Values. Every run has the same set of each kind, so that the sums are known. */

/* Returns values evenly spread over the range of `bits` bits, ascending, and repeated if there are more rows. */
static void spread(int64_t *values, int64_t rows, int bits) {
    uint64_t span = bits == 64 ? UINT64_MAX : (UINT64_C(1) << bits) - 1;
    uint64_t each = rows && span / (uint64_t)rows > 1 ? span / (uint64_t)rows : 1;
    uint64_t least = UINT64_C(1) << (bits - 1);
    for (int64_t row = 0; row < rows; row++) values[row] = (int64_t)((((uint64_t)row * each) & span) - least);
}

static void fill(int64_t *values, int64_t rows, const char *kind) {
    int64_t row;
    if (is(kind, "zeros")) for (row = 0; row < rows; row++) values[row] = 0;
    else if (is(kind, "ones")) for (row = 0; row < rows; row++) values[row] = 1;
    else if (is(kind, "bools")) for (row = 0; row < rows; row++) values[row] = row & 1;
    else if (is(kind, "keys")) for (row = 0; row < rows; row++) values[row] = row + 1;
    else if (is(kind, "int8")) spread(values, rows, 8);
    else if (is(kind, "int16")) spread(values, rows, 16);
    else if (is(kind, "int32")) spread(values, rows, 32);
    else if (is(kind, "int64")) spread(values, rows, 64);
    else fail(kind, USAGE);
}

/* Orders: the row, counted from 0, at each place. */

static int64_t same(int64_t place, int64_t rows) { return (void)rows, place; }

static int64_t outside_in(int64_t place, int64_t rows) { return place % 2 ? rows - 1 - place / 2 : place / 2; }

static int64_t odds_evens(int64_t place, int64_t rows) {
    int64_t odds = (rows + 1) / 2;
    return place < odds ? 2 * place : 2 * (place - odds) + 1;
}

/* Ten passes: each tenth row, then the row behind each of them. */
static int64_t sawtooth(int64_t place, int64_t rows) {
    for (int64_t pass = 0;; pass++) {
        int64_t of_pass = (rows - pass + 9) / 10;
        if (place < of_pass) return 10 * place + pass;
        place -= of_pass;
    }
}

static const struct {
    const char *name;
    int64_t (*row_at)(int64_t place, int64_t rows);
    bool backwards;
} ORDERS[] = {
    {"sequential", same, false},         {"reversed", same, true},
    {"outside-in", outside_in, false},   {"inside-out", outside_in, true},
    {"odds-evens", odds_evens, false},   {"evens-odds", odds_evens, true},
    {"sawtooth", sawtooth, false},
};

static void shuffle(int64_t *values, int64_t rows) {
    uint64_t state = 0x9e3779b97f4a7c15;
    for (int64_t last = rows - 1; last > 0; last--) {
        int64_t other = (int64_t)random_below(&state, (uint64_t)last + 1), value = values[last];
        values[last] = values[other];
        values[other] = value;
    }
}

static int64_t *in_order(int64_t *values, int64_t rows, const char *order) {
    if (is(order, "shuffled")) {
        shuffle(values, rows);
        return values;
    }
    for (size_t at = 0; at < sizeof ORDERS / sizeof *ORDERS; at++) {
        if (!is(order, ORDERS[at].name)) continue;
        int64_t *ordered = allocate(rows, sizeof *ordered);
        for (int64_t place = 0; place < rows; place++) {
            ordered[place] = values[ORDERS[at].row_at(ORDERS[at].backwards ? rows - 1 - place : place, rows)];
        }
        free(values);
        return ordered;
    }
    fail(order, USAGE);
}

static int ascending(const void *one, const void *other) {
    int64_t a = *(const int64_t *)one, b = *(const int64_t *)other;
    return (a > b) - (a < b);
}

/* Tables. */

static const char *schema_of(const char *table) {
    if (is(table, "rowid")) return "CREATE TABLE integers (value INTEGER)";
    if (is(table, "key")) return "CREATE TABLE integers (value INTEGER PRIMARY KEY)";
    if (is(table, "without-rowid")) return "CREATE TABLE integers (value INT PRIMARY KEY) WITHOUT ROWID";
    if (is(table, "automatic")) return "CREATE TABLE integers (id INTEGER PRIMARY KEY, value INTEGER)";
    if (is(table, "autoincrement")) {
        return "CREATE TABLE integers (id INTEGER PRIMARY KEY AUTOINCREMENT, value INTEGER)";
    }
    fail(table, USAGE);
}

static const char INDEX[] = "CREATE INDEX integers_value ON integers (value)";

static void set_up(sqlite3 *database, const way *it) {
    if (it->unsafe) be_unsafe(database);
    if (it->cache) {
        char sql[64];
        snprintf(sql, sizeof sql, "PRAGMA cache_size = %d", it->cache);
        run(database, sql);
    }
    run(database, schema_of(it->table));
    if (it->index && !is(it->index, "after")) run(database, INDEX);
}

/* Ways to insert. */

static void each_its_statement(sqlite3 *database, const int64_t *values, int64_t rows) {
    for (int64_t row = 0; row < rows; row++) {
        char sql[80];
        snprintf(sql, sizeof sql, "INSERT INTO integers (value) VALUES (%lld)", (long long)values[row]);
        sqlite3_stmt *statement = prepare(database, sql);
        step(statement);
        finalize(statement);
    }
}

static void unrolled(sqlite3 *database, const int64_t *values, int64_t rows, int at_once) {
    sqlite3_stmt *insert = prepare_insert(database, "integers (value)", "(?)", at_once);
    int64_t row = 0;
    for (; row + at_once <= rows; row += at_once) {
        for (int place = 0; place < at_once; place++) {
            check(database, sqlite3_bind_int64(insert, place + 1, values[row + place]));
        }
        step(insert);
    }
    finalize(insert);
    if (row < rows) unrolled(database, values + row, rows - row, 1);
}

static void carray(sqlite3 *database, int64_t *values, int64_t rows, int at_once) {
    sqlite3_stmt *insert = prepare(database, "INSERT INTO integers (value) SELECT value FROM carray(?1)");
    for (int64_t row = 0; row < rows; row += at_once) {
        int here = rows - row < at_once ? (int)(rows - row) : at_once;
        check(database, sqlite3_carray_bind(insert, 1, values + row, here, SQLITE_CARRAY_INT64, SQLITE_STATIC));
        step(insert);
    }
    finalize(insert);
}

static void insert_rows(sqlite3 *database, const way *it, int64_t *values, int64_t rows) {
    if (is(it->insert, "transactions")) {
        each_its_statement(database, values, rows);
        return;
    }
    run(database, "BEGIN");
    if (is(it->insert, "statements")) each_its_statement(database, values, rows);
    else if (is(it->insert, "unrolled")) unrolled(database, values, rows, it->rows_per_statement);
    else if (is(it->insert, "carray")) {
        carray(database, values, rows, it->rows_per_statement ? it->rows_per_statement : (int)rows);
    } else fail(it->insert, USAGE);
    run(database, "COMMIT");
}

/* Copies rows with SQLite from a database that is made before the clock starts: value by value, or, with `SELECT *`, as
 * whole records. */
static void copy(const command_line *line, const way *it, int64_t *values) {
    char *attach = sqlite3_mprintf("ATTACH '%q.source' AS source", line->target);
    char *attach_target = sqlite3_mprintf("ATTACH '%q' AS target", line->target);
    char *source_path = sqlite3_mprintf("%s.source", line->target);
    if (!attach || !attach_target || !source_path) fail("memory", "there is none");
    sqlite3 *source = open_database(source_path);
    be_unsafe(source);
    run(source, schema_of(it->table));
    carray(source, values, line->rows, (int)line->rows);
    check(source, sqlite3_close(source));

    double started = now();
    sqlite3 *database = open_database(":memory:");
    run(database, attach);
    run(database, attach_target);
    run(database, "CREATE TABLE target.integers (value INTEGER)");
    run(database, is(it->insert, "copy") ? "INSERT INTO target.integers SELECT value FROM source.integers"
                                         : "INSERT INTO target.integers SELECT * FROM source.integers");
    finish(database, line, started);
    if (remove(source_path)) fail(source_path, "the source stays");
    sqlite3_free(attach);
    sqlite3_free(attach_target);
    sqlite3_free(source_path);
}

/* Fills an array with random numbers, without a database. */
static void alone(const command_line *line, int64_t *values) {
    uint64_t state = 0x9e3779b97f4a7c15, all = 0;
    double started = now();
    for (int64_t row = 0; row < line->rows; row++) values[row] = (int64_t)random_bits(&state);
    double seconds = now() - started;
    for (int64_t row = 0; row < line->rows; row++) all ^= (uint64_t)values[row];
    if (line->rows && !all) fail("alone", "the numbers are not random");
    printf("{\"seconds\": %.9f}\n", seconds);
}

int main(int argc, char **argv) {
    command_line line = command_line_of(argc, argv, USAGE);
    way it = way_of(line.method);
    int64_t *values = allocate(line.rows, sizeof *values);
    fill(values, line.rows, it.values);
    if (is(it.insert, "alone")) {
        alone(&line, values);
    } else if (strncmp(it.insert, "copy", 4) == 0) {
        shuffle(values, line.rows);
        copy(&line, &it, values);
    } else {
        values = in_order(values, line.rows, it.order);
        double started = now();
        if (is(it.index, "sorted")) qsort(values, (size_t)line.rows, sizeof *values, ascending);
        sqlite3 *database = open_database(line.target);
        set_up(database, &it);
        insert_rows(database, &it, values, line.rows);
        if (is(it.index, "after")) run(database, INDEX);
        finish(database, &line, started);
    }
    free(values);
    return 0;
}
