/* Fills the table of users with constant rows without parameters, constant rows in parameters, or random rows.
 *
 * SQLite chooses the keys; 20 rows a statement, all in one transaction, in a large cache. Random values are made while
 * the clock runs. */

#include <string.h>

#include "harness.h"

static const char USAGE[] = "user 'literal|constant|random [unsafe]' TARGET ROWS [CHECK]";

enum { ROWS_PER_STATEMENT = 20 };

static const char SCHEMA[] =
    "CREATE TABLE user (id INTEGER not null primary key, area CHAR(6), age INTEGER not null, active INTEGER not null)";

/* The values of one row, behind the parameters before it. */
typedef void binder(sqlite3_stmt *insert, int before, uint64_t *state);

static void bind_row(sqlite3_stmt *insert, int before, const char *area, int age, int active) {
    sqlite3 *database = sqlite3_db_handle(insert);
    check(database, sqlite3_bind_text(insert, before + 1, area, 6, SQLITE_TRANSIENT));
    check(database, sqlite3_bind_int(insert, before + 2, age));
    check(database, sqlite3_bind_int(insert, before + 3, active));
}

static void literal(sqlite3_stmt *insert, int before, uint64_t *state) { (void)insert, (void)before, (void)state; }

static void constant(sqlite3_stmt *insert, int before, uint64_t *state) {
    (void)state;
    bind_row(insert, before, "123456", 5, 0);
}

static void made_up(sqlite3_stmt *insert, int before, uint64_t *state) {
    char area[6];
    for (int digit = 0; digit < 6; digit++) area[digit] = (char)('0' + random_below(state, 10));
    static const int AGES[] = {5, 10, 15};
    bind_row(insert, before, area, AGES[random_below(state, 3)], (int)random_below(state, 2));
}

static void insert_rows(sqlite3 *database, const char *row, int64_t rows, int at_once, binder *bind, uint64_t *state) {
    sqlite3_stmt *insert = prepare_insert(database, "user (area, age, active)", row, at_once);
    for (; rows >= at_once; rows -= at_once) {
        for (int place = 0; place < at_once; place++) bind(insert, 3 * place, state);
        step(insert);
    }
    finalize(insert);
}

int main(int argc, char **argv) {
    command_line line = command_line_of(argc, argv, USAGE);
    const char *row = "(?, ?, ?)";
    binder *bind = NULL;
    bool unsafe = false;
    for (char *word; (word = next_word(&line.method));) {
        if (strcmp(word, "unsafe") == 0) unsafe = true;
        else if (strcmp(word, "literal") == 0) row = "('123456', 5, 0)", bind = literal;
        else if (strcmp(word, "constant") == 0) bind = constant;
        else if (strcmp(word, "random") == 0) bind = made_up;
        else fail(word, USAGE);
    }
    if (!bind) fail("no data", USAGE);
    uint64_t state = 0x9e3779b97f4a7c15;

    double started = now();
    sqlite3 *database = open_database(line.target);
    if (unsafe) be_unsafe(database);
    run(database, "PRAGMA cache_size = 1000000");
    run(database, SCHEMA);
    run(database, "BEGIN");
    insert_rows(database, row, line.rows, ROWS_PER_STATEMENT, bind, &state);
    insert_rows(database, row, line.rows % ROWS_PER_STATEMENT, 1, bind, &state);
    run(database, "COMMIT");
    finish(database, &line, started);
    return 0;
}
