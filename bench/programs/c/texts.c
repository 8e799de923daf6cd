/* Fills a table of texts; the method gives the number of columns and of characters.
 *
 * The texts are hexadecimal digits, cut from 64 MiB of digits that are made before the clock starts. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness.h"

static const char USAGE[] = "texts 'length=CHARACTERS [columns=N] [unrolled=ROWS] [unsafe]' TARGET ROWS [CHECK]";

enum { DIGITS = 64 << 20, MOST_PARAMETERS = 32766 };

typedef struct {
    int length, columns, rows_per_statement;
    bool unsafe;
} way;

static way way_of(char *method) {
    way it = {0, 1, 20, false};
    for (char *word; (word = next_word(&method));) {
        const char *value;
        if ((value = value_of(word, "length"))) it.length = (int)number(value, 1 << 20);
        else if ((value = value_of(word, "columns"))) it.columns = (int)number(value, 100);
        else if ((value = value_of(word, "unrolled"))) it.rows_per_statement = (int)number(value, MOST_PARAMETERS / 100);
        else if (strcmp(word, "unsafe") == 0) it.unsafe = true;
        else fail(word, USAGE);
    }
    if (!it.length || !it.columns || !it.rows_per_statement) fail("0 is too little", USAGE);
    return it;
}

static char *digits(void) {
    char *text = allocate(DIGITS, 1);
    uint64_t state = 0x9e3779b97f4a7c15;
    for (int at = 0; at < DIGITS; at += 16) {
        uint64_t bits = random_bits(&state);
        for (int digit = 0; digit < 16; digit++) text[at + digit] = "0123456789abcdef"[bits >> (4 * digit) & 15];
    }
    return text;
}

/* Writes `before` with the number of each column, separated by commas. */
static char *list(const char *before, const char *each, int columns) {
    sqlite3_str *text = sqlite3_str_new(NULL);
    sqlite3_str_appendall(text, before);
    for (int column = 1; column <= columns; column++) {
        if (column > 1) sqlite3_str_appendall(text, ", ");
        sqlite3_str_appendf(text, each, column);
    }
    sqlite3_str_appendall(text, ")");
    char *whole = sqlite3_str_finish(text);
    if (!whole) fail("memory", "there is none");
    return whole;
}

static void insert_rows(sqlite3 *database, const way *it, const char *texts, int64_t rows, int at_once, int64_t *at) {
    char *columns = list("texts (", "c%d", it->columns), *row = list("(", "?", it->columns);
    sqlite3_stmt *insert = prepare_insert(database, columns, row, at_once);
    int parameters = it->columns * at_once;
    for (; rows >= at_once; rows -= at_once) {
        for (int parameter = 1; parameter <= parameters; parameter++) {
            if (*at + it->length > DIGITS) *at = 0;
            check(database, sqlite3_bind_text(insert, parameter, texts + *at, it->length, SQLITE_STATIC));
            *at += it->length;
        }
        step(insert);
    }
    finalize(insert);
    sqlite3_free(columns);
    sqlite3_free(row);
}

int main(int argc, char **argv) {
    command_line line = command_line_of(argc, argv, USAGE);
    way it = way_of(line.method);
    char *texts = digits(), *schema = list("CREATE TABLE texts (", "c%d TEXT", it.columns);
    int64_t at = 0;

    double started = now();
    sqlite3 *database = open_database(line.target);
    if (it.unsafe) be_unsafe(database);
    run(database, schema);
    run(database, "BEGIN");
    insert_rows(database, &it, texts, line.rows, it.rows_per_statement, &at);
    insert_rows(database, &it, texts, line.rows % it.rows_per_statement, 1, &at);
    run(database, "COMMIT");
    finish(database, &line, started);
    sqlite3_free(schema);
    free(texts);
    return 0;
}
