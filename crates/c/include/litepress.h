/*
 * liblitepress: writes SQLite databases by building b-tree pages bottom-up on all cores, instead of inserting row by row.
 *
 *     litepress_writer *writer;
 *     litepress_error *error = NULL;
 *     if (litepress_create("metrics.db", "CREATE TABLE metric (name TEXT, value REAL)", NULL, &writer, &error)) goto failed;
 *     size_t metric;
 *     if (litepress_table(writer, "metric", NULL, 0, &metric, &error)) goto failed;
 *     litepress_value row[] = {litepress_text("load"), litepress_real(0.5)};
 *     if (litepress_insert(writer, metric, row, 2, &error)) goto failed;
 *     if (litepress_finish(writer, NULL, &error)) goto failed;
 *
 * The file appears under its name when litepress_finish() returns LITEPRESS_OK, whole and synced. Before, and after any
 * failure, the name has what it had.
 *
 * Results: every function that can fail returns a litepress_status. If `error` is not NULL, a failure also stores an error
 * there, which is to be freed with litepress_error_free(). On success nothing is stored.
 *
 * Texts are UTF-8 and, unless a length stands beside them, end with a NUL. The library copies all that it is given before a
 * function returns.
 *
 * Threads: different writers may be used by different threads at once. One object may be used by any thread, but by one at
 * a time. The library starts threads of its own; they call nothing of the program.
 *
 * fork() of a process with a writer leaves the writer to the parent. In the child, litepress_abort() frees nothing and removes
 * nothing; litepress_finish(), litepress_table(), litepress_insert_rows() and the appends fail with LITEPRESS_USAGE, and
 * litepress_insert() does, at the latest after some MiB of rows. The parent's rows stay as they are, whatever the child calls.
 *
 * ABI: functions and constants stay as they are within a soname. A struct that may grow begins with its size.
 */
#ifndef LITEPRESS_H
#define LITEPRESS_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Result of a function. */
typedef enum litepress_status {
    LITEPRESS_OK = 0,
    LITEPRESS_USAGE = 1,        /* The call itself is wrong: an argument, an option, a combination of them. */
    LITEPRESS_SCHEMA = 2,       /* SQLite refuses the schema, or the schema does more than define. */
    LITEPRESS_UNSUPPORTED = 3,  /* The schema is valid, but litepress does not support this part of it. */
    LITEPRESS_CONSTRAINT = 4,   /* A row breaks a rule of its table: NOT NULL, a STRICT type, a key. */
    LITEPRESS_DATA = 5,         /* The data are not what they claim to be. */
    LITEPRESS_LIMIT = 6,        /* A limit of the SQLite file format is exceeded. */
    LITEPRESS_EXISTS = 7,       /* The target exists, and replacing it was not allowed. */
    LITEPRESS_TARGET = 8,       /* The target cannot be written: it is in use, or of a kind that is never replaced. */
    LITEPRESS_NO_SPACE = 9,     /* Not enough room on the disk. */
    LITEPRESS_IO = 10,          /* The operating system failed a read, a write or a sync. */
    LITEPRESS_CORRUPT = 11,     /* A database file breaks the rules of the file format. */
    LITEPRESS_INTERRUPTED = 12, /* The watcher asked to stop. */
    LITEPRESS_INTERNAL = 99     /* A mistake of the library itself. The writer is unusable. */
} litepress_status;

/* Version of the library: "0.1.0". */
const char *litepress_version(void);

/* ---- Errors ---- */

/* An error: what is wrong, where, and what to do about it. */
typedef struct litepress_error litepress_error;

/* Returns place and message in one sentence. The text lives as long as the error. */
const char *litepress_error_message(const litepress_error *error);
/* Returns what to do about it, or NULL. */
const char *litepress_error_advice(const litepress_error *error);
litepress_status litepress_error_status(const litepress_error *error);
/* Return parts of the place, or NULL. */
const char *litepress_error_file(const litepress_error *error);
const char *litepress_error_table(const litepress_error *error);
const char *litepress_error_column(const litepress_error *error);
const char *litepress_error_value(const litepress_error *error);
/* Returns the number of the record in its table or batch, from 1, or 0. */
uint64_t litepress_error_record(const litepress_error *error);
/* Frees an error. NULL is allowed. */
void litepress_error_free(litepress_error *error);

/* ---- Options ---- */

/* Options of a database. Where a function takes options, NULL means the defaults. */
typedef struct litepress_options litepress_options;

litepress_options *litepress_options_new(void);
/* Frees options. NULL is allowed. Writers that were made with them go on. */
void litepress_options_free(litepress_options *options);

/*
 * Sets an option. Names and values are those of the program litepress:
 *
 *     "threads"       threads that build pages: "4"                                     default: one per core
 *     "memory"        memory for sorts and pages in flight: "512MiB"                    default: a quarter of the machine's
 *     "temp-dir"      folder of temporary files                                         default: the folder of the database
 *     "page-size"     "512" to "65536"                                                  default: "4096"
 *     "overwrite"     "true": an existing database is replaced                          default: "false"
 *     "on-conflict"   "abort", "ignore", "replace" or "update": rows whose key exists    default: "abort"
 *     "key"           columns of the unique key that decides which row is updated: "a,b" default: the primary key
 *     "update-columns" columns that an update changes: "a,b"                            default: all given ones
 *     "sync"          "full" or "off": durability in a power cut                        default: "full"
 *     "analyze"       "true": statistics for SQLite's planner are written               default: "false"
 *     "verify"        "none", "quick" or "full": check before the file gets its name    default: "none"
 *   of a database that exists:
 *     "busy-timeout"  longest wait for another program's lock, in seconds               default: "10"
 *     "truncate"      "true": the tables' rows are deleted before                       default: "false"
 *     "through-wal"   "true": all pages go through the WAL, for replication             default: "false"
 *     "enforce-foreign-keys" "true"                                                     default: "false"
 *
 * Fails with LITEPRESS_USAGE if there is no such option or it has no such value.
 */
litepress_status litepress_options_set(litepress_options *options, const char *name, const char *value, litepress_error **error);

/* Progress of a writer. */
typedef struct litepress_progress {
    size_t size;       /* sizeof(litepress_progress) of the library. */
    uint64_t rows;     /* Rows that were taken from the program. */
    uint64_t bytes;    /* Bytes of pages that were handed to the file. */
    const char *phase; /* "rows of metric", "index metric_name". It lives until the watcher returns. */
} litepress_progress;

/* Returns 0 to go on. Any other value stops the writer: the call that runs fails with LITEPRESS_INTERRUPTED. */
typedef int (*litepress_watcher)(void *context, const litepress_progress *progress);

/*
 * Sets a watcher: it is called by the thread that uses the writer, at most ten times a second, while rows are given and
 * while litepress_finish() waits. It may not call functions of the same writer. NULL removes it.
 */
void litepress_options_watch(litepress_options *options, litepress_watcher watcher, void *context);

/* ---- Writers ---- */

/* A database whose rows come while the program runs. */
typedef struct litepress_writer litepress_writer;

/*
 * Begins a new database. `schema` is the text of its CREATE statements. An existing file is an error unless the option
 * "overwrite" is "true"; then it is replaced when the new one is complete.
 */
litepress_status litepress_create(const char *path, const char *schema, const litepress_options *options,
                                  litepress_writer **writer, litepress_error **error);

/*
 * Begins to add rows to a database that exists. All rows are added in one transaction by litepress_finish(), and no lock is
 * held before. `schema` makes tables that the database lacks, or all of it if there is no file; NULL if there is nothing to make.
 * Options that have no effect on a database that exists are refused here, and those about keys by litepress_table().
 * LITEPRESS_TARGET, here or from litepress_finish(): another SQLite in this process has a lock on the database. End its
 * transaction, or close its connection.
 */
litepress_status litepress_open(const char *path, const char *schema, const litepress_options *options,
                                litepress_writer **writer, litepress_error **error);

/*
 * Gets a number for a table and the columns for which its rows have values, in this order. `columns` NULL: all columns that
 * are not computed, in the order of the schema. Columns that are left out get their DEFAULT, or NULL; an INTEGER PRIMARY KEY gets
 * the next integer. A table may have several numbers, with other columns. With the option "on-conflict" "update", a table
 * without the key is refused, and so are columns without all of the key.
 */
litepress_status litepress_table(litepress_writer *writer, const char *name, const char *const *columns, size_t count,
                                 size_t *table, litepress_error **error);

/*
 * Returns the name of a column of a table with a number: the columns for which its rows have values, from 0. NULL behind the last
 * one. The text lives as long as the writer.
 */
const char *litepress_column_name(const litepress_writer *writer, size_t table, size_t column);

/* Types of values. The numbers are those of SQLite (SQLITE_INTEGER, ...). */
enum { LITEPRESS_INTEGER = 1, LITEPRESS_REAL = 2, LITEPRESS_TEXT = 3, LITEPRESS_BLOB = 4, LITEPRESS_NULL = 5 };

/* A value of a row. The functions below make them. */
typedef struct litepress_value {
    int32_t type;
    union {
        int64_t integer;
        double real;
        const void *bytes; /* UTF-8 of a text, bytes of a blob; NULL only if `length` is 0. */
    } as;
    size_t length; /* Bytes of a text or blob. */
} litepress_value;

/*
 * Inserts a row. A row with a wrong number of values is refused, and the writer goes on. A row that breaks a rule of its
 * table ends the writer; some rules (UNIQUE, CHECK) are decided later, at the latest by litepress_finish().
 */
litepress_status litepress_insert(litepress_writer *writer, size_t table, const litepress_value *values, size_t count,
                                  litepress_error **error);

/*
 * Inserts `rows` rows of `count` values each, one row after another: one call for many rows, for languages whose calls are
 * expensive. If a row is refused, those before it are inserted.
 */
litepress_status litepress_insert_rows(litepress_writer *writer, size_t table, const litepress_value *values, size_t count,
                                       size_t rows, litepress_error **error);

/* Bytes of a text or blob in a column. `data` NULL with `length` 0 is the empty one. */
typedef struct litepress_bytes {
    const void *data;
    size_t length;
} litepress_bytes;

/* A column of a batch. */
typedef struct litepress_column {
    int32_t type;         /* LITEPRESS_INTEGER: int64_t values; _REAL: double; _TEXT, _BLOB: litepress_bytes; _NULL: no values. */
    const void *values;   /* One value for every row. */
    const uint8_t *valid; /* Bits, the lowest of each byte first: 1 if the row has a value. NULL: all rows have one. */
} litepress_column;

/* Appends `rows` rows, column by column: the fastest way for rows of a program. `count` is the number of columns;
 * it is 0 if the number of the table is for no columns, and all of them get their DEFAULT. */
litepress_status litepress_append(litepress_writer *writer, size_t table, const litepress_column *columns, size_t count,
                                  size_t rows, litepress_error **error);

/* The structs of the Arrow C data and stream interfaces (arrow.apache.org/docs/format/CDataInterface.html). */
struct ArrowSchema;
struct ArrowArray;
struct ArrowArrayStream;

/*
 * Appends all batches of a stream. Columns are found by their names. The stream is moved: it is released when the function
 * returns, whatever its result. If it fails after its first batch, or a later batch does not fit the table, the writer has ended:
 * litepress_finish() fails, and publishes none of the rows.
 *
 * A column of the table without a type keeps values as they come: INTEGER, REAL or TEXT as the Arrow type says. Decimals of a
 * declared precision above 15 digits are TEXT with all digits there, whatever the values; a REAL or INTEGER column makes numbers
 * of them.
 */
litepress_status litepress_append_stream(litepress_writer *writer, const char *table, struct ArrowArrayStream *stream,
                                         litepress_error **error);

/* Appends one batch: a struct array. Array and schema are moved, like a stream. */
litepress_status litepress_append_array(litepress_writer *writer, const char *table, struct ArrowArray *array,
                                        struct ArrowSchema *schema, litepress_error **error);

/* Figures of a finished database. */
typedef struct litepress_summary {
    size_t size;    /* Set it to sizeof(litepress_summary) before the call. */
    uint64_t rows;  /* Rows of all tables; rows that were added to a database that existed. */
    uint64_t bytes; /* Bytes of the file. */
    uint64_t pages; /* Pages of the file. */
} litepress_summary;

/*
 * Completes the database, waits for the disk and gives the file its name. The writer is freed, whatever the result.
 * `summary` may be NULL.
 */
litepress_status litepress_finish(litepress_writer *writer, litepress_summary *summary, litepress_error **error);

/* Discards the rows and frees the writer. Nothing is left of a new database. NULL is allowed. */
void litepress_abort(litepress_writer *writer);

/* ---- Values ---- */

#ifdef __cplusplus
} /* extern "C" */

#include <string>

static inline litepress_value litepress_null() {
    litepress_value value = {};
    value.type = LITEPRESS_NULL;
    return value;
}
static inline litepress_value litepress_integer(int64_t integer) {
    litepress_value value = {};
    value.type = LITEPRESS_INTEGER;
    value.as.integer = integer;
    return value;
}
static inline litepress_value litepress_real(double real) {
    litepress_value value = {};
    value.type = LITEPRESS_REAL;
    value.as.real = real;
    return value;
}
static inline litepress_value litepress_blob(const void *bytes, size_t length) {
    litepress_value value = {};
    value.type = LITEPRESS_BLOB;
    value.as.bytes = bytes;
    value.length = length;
    return value;
}
/* The text must live until the row is inserted. */
static inline litepress_value litepress_text(const char *text, size_t length) {
    litepress_value value = litepress_blob(text, length);
    value.type = LITEPRESS_TEXT;
    return value;
}
static inline litepress_value litepress_text(const char *text) {
    return text ? litepress_text(text, std::char_traits<char>::length(text)) : litepress_null();
}
static inline litepress_value litepress_text(const std::string &text) { return litepress_text(text.data(), text.size()); }
#else
#include <string.h>

static inline litepress_value litepress_null(void) {
    litepress_value value = {.type = LITEPRESS_NULL};
    return value;
}
static inline litepress_value litepress_integer(int64_t integer) {
    litepress_value value = {.type = LITEPRESS_INTEGER, .as = {.integer = integer}};
    return value;
}
static inline litepress_value litepress_real(double real) {
    litepress_value value = {.type = LITEPRESS_REAL, .as = {.real = real}};
    return value;
}
static inline litepress_value litepress_blob(const void *bytes, size_t length) {
    litepress_value value = {.type = LITEPRESS_BLOB, .as = {.bytes = bytes}, .length = length};
    return value;
}
/* A text that ends with a NUL; NULL is the value NULL. It must live until the row is inserted. */
static inline litepress_value litepress_text(const char *text) {
    litepress_value value = {.type = text ? LITEPRESS_TEXT : LITEPRESS_NULL, .as = {.bytes = text}, .length = text ? strlen(text) : 0};
    return value;
}
#endif

#endif
