/*
 * Arrays of a program as rows of SQLite, for the extension litepress.so (docs/sqlite.md).
 *
 *     int64_t ids[] = {1, 2, 3};
 *     litepress_bytes names[] = {{"Ada", 3}, {"Blaise", 6}, {"Emmy", 4}};
 *     litepress_column columns[] = {{LITEPRESS_INTEGER, ids, NULL}, {LITEPRESS_TEXT, names, NULL}};
 *     litepress_array array = {3, 2, columns};
 *     sqlite3_prepare_v2(db, "INSERT INTO person SELECT c1, c2 FROM litepress_array(?1)", -1, &statement, NULL);
 *     sqlite3_bind_pointer(statement, 1, &array, LITEPRESS_ARRAY, NULL);
 *     sqlite3_step(statement);
 *
 * Nothing is copied before SQLite asks for a value: the array and all that it points to must stay as they are until the statement is reset
 * or finalized. Texts must be UTF-8.
 *
 * Arrow data are bound as a pointer to a struct ArrowArrayStream of the type LITEPRESS_ARROW_STREAM. The stream is moved: it is read once,
 * and released by the extension. A stream that no query has read stays with the program.
 */
#ifndef LITEPRESS_EXTENSION_H
#define LITEPRESS_EXTENSION_H

#include <stddef.h>
#include <stdint.h>

/* Types of pointers, for sqlite3_bind_pointer(). */
#define LITEPRESS_ARRAY "litepress_array"
#define LITEPRESS_ARROW_STREAM "litepress_arrow_stream"

/* litepress.h has these, too. */
#ifndef LITEPRESS_H

/* Types of columns. The numbers are those of SQLite (SQLITE_INTEGER, ...). */
enum { LITEPRESS_INTEGER = 1, LITEPRESS_REAL = 2, LITEPRESS_TEXT = 3, LITEPRESS_BLOB = 4, LITEPRESS_NULL = 5 };

/* Bytes of a text or blob in a column. `data` NULL with `length` 0 is the empty one. */
typedef struct litepress_bytes {
    const void *data;
    size_t length;
} litepress_bytes;

/* A column. */
typedef struct litepress_column {
    int32_t type;         /* LITEPRESS_INTEGER: int64_t values; _REAL: double; _TEXT, _BLOB: litepress_bytes; _NULL: no values. */
    const void *values;   /* One value for every row. */
    const uint8_t *valid; /* Bits, the lowest of each byte first: 1 if the row has a value. NULL: all rows have one. */
} litepress_column;

#endif /* LITEPRESS_H */

/* Columns of equal length. */
typedef struct litepress_array {
    size_t rows;                     /* Number of rows. */
    size_t count;                    /* Number of columns. */
    const litepress_column *columns; /* The columns. */
} litepress_array;

#endif /* LITEPRESS_EXTENSION_H */
