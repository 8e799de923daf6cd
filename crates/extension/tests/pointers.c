/* Arrays and Arrow streams by pointers, in the SQLite of the system: pointers LIBRARY. Silent if all is right. */
#include "litepress_extension.h"
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static sqlite3 *db;

static void fail(const char *what, const char *found) {
    fprintf(stderr, "%s: %s\n", what, found ? found : "(null)");
    exit(1);
}

/* Runs a query with one pointer, and compares the values of all rows, which are joined. */
static void expect(const char *sql, void *pointer, const char *type, const char *expected) {
    sqlite3_stmt *statement;
    if (sqlite3_prepare_v2(db, sql, -1, &statement, NULL)) fail(sql, sqlite3_errmsg(db));
    if (pointer && sqlite3_bind_pointer(statement, 1, pointer, type, NULL)) fail(sql, sqlite3_errmsg(db));
    char found[1000] = "";
    int code;
    while ((code = sqlite3_step(statement)) == SQLITE_ROW) {
        for (int column = 0; column < sqlite3_column_count(statement); column++) {
            const char *text = (const char *)sqlite3_column_text(statement, column);
            strncat(found, text ? text : "-", sizeof found - strlen(found) - 1);
            strncat(found, " ", sizeof found - strlen(found) - 1);
        }
    }
    if (code != SQLITE_DONE) snprintf(found, sizeof found, "%s", sqlite3_errmsg(db));
    sqlite3_finalize(statement);
    if (!strstr(found, expected) || (code == SQLITE_DONE && strcmp(found, expected))) fail(sql, found);
}

int main(int count, char **arguments) {
    char *message = NULL;
    if (count != 2 || sqlite3_open(":memory:", &db)) return 2;
    sqlite3_enable_load_extension(db, 1);
    if (sqlite3_load_extension(db, arguments[1], NULL, &message)) fail("load", message);

    /* On the heap, so that a read beyond their ends is noticed. */
    int64_t *ids = malloc(3 * sizeof *ids);
    double *prices = malloc(3 * sizeof *prices);
    litepress_bytes *names = calloc(3, sizeof *names);
    uint8_t *valid = malloc(1);
    for (int row = 0; row < 3; row++) ids[row] = row - 1, prices[row] = row / 2.0;
    names[0] = (litepress_bytes){"Ada", 3};
    names[1] = (litepress_bytes){"x\0y", 3};
    *valid = 5;
    litepress_column columns[] = {
        {LITEPRESS_INTEGER, ids, NULL}, {LITEPRESS_REAL, prices, valid}, {LITEPRESS_TEXT, names, NULL},
        {LITEPRESS_BLOB, names, NULL},  {LITEPRESS_NULL, NULL, NULL},
    };
    litepress_array array = {3, 5, columns};
    const char *all = "SELECT c1, c2, hex(c3), typeof(c3), typeof(c4), length(c4), c5 FROM litepress_array(?1)";
    expect(all, &array, LITEPRESS_ARRAY, "-1 0.0 416461 text blob 3 - 0 - 780079 text blob 3 - 1 1.0  text blob 0 - ");
    expect("SELECT 1 IN litepress_array(?1), 5 IN litepress_array(?1)", &array, LITEPRESS_ARRAY, "1 0 ");
    expect("SELECT c1, c6 FROM litepress_array(?1, '[7,8,9]')", &array, LITEPRESS_ARRAY, "-1 7 0 8 1 9 ");
    expect("SELECT c6 FROM litepress_array(?1, '[7,8]')", &array, LITEPRESS_ARRAY, "argument 2 has 2 rows, and argument 1 has more");
    expect("SELECT count(*) FROM litepress_array(?1) x JOIN litepress_array(?1) y ON x.c1 = y.c1", &array, LITEPRESS_ARRAY, "3 ");
    expect("SELECT * FROM litepress_array(?1)", &array, "carray", "argument 1: it is NULL, or a pointer of another type");
    sqlite3_exec(db, "CREATE TABLE t (id, price, name); CREATE VIRTUAL TABLE temp.r USING litepress_array(id, price, name)", NULL, NULL, NULL);
    array.count = 3;
    expect("INSERT INTO t SELECT * FROM r(?1)", &array, LITEPRESS_ARRAY, "");
    expect("SELECT count(*), sum(id), sum(price) FROM t", NULL, NULL, "3 0 1.0 ");
    array.rows = 0;
    expect("SELECT count(*) FROM litepress_array(?1)", &array, LITEPRESS_ARRAY, "0 ");
    litepress_array none = {1, 0, NULL}, lacking = {1, 1, NULL};
    expect("SELECT * FROM litepress_array(?1)", &none, LITEPRESS_ARRAY, "the array has no columns");
    expect("SELECT * FROM litepress_array(?1)", &lacking, LITEPRESS_ARRAY, "columns is NULL");
    litepress_column odd = {9, ids, NULL}, empty = {LITEPRESS_TEXT, NULL, NULL};
    litepress_array of_odd = {1, 1, &odd}, of_empty = {1, 1, &empty};
    expect("SELECT * FROM litepress_array(?1)", &of_odd, LITEPRESS_ARRAY, "9 is no type of a column");
    expect("SELECT * FROM litepress_array(?1)", &of_empty, LITEPRESS_ARRAY, "values is NULL");

    sqlite3_close(db);
    free(ids), free(prices), free(names), free(valid);
    return 0;
}
