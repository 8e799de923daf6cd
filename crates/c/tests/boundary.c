/* Calls every function of litepress.h with right and wrong arguments. Prints nothing and returns 0 if all behave as documented. */
#define _POSIX_C_SOURCE 200809L /* fcntl(2) */
#include <fcntl.h>
#include "expect.h"
#include <litepress.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static const char *folder;
static char path_buffer[4096];

static const char *in_folder(const char *name) {
    snprintf(path_buffer, sizeof path_buffer, "%s/%s", folder, name);
    return path_buffer;
}

/* Expects a failure with this status and a message with these words, and frees the error. */
#define FAILS(call, expected, words)                                                             \
    do {                                                                                         \
        litepress_error *error = NULL;                                                           \
        litepress_status status = (call);                                                        \
        EXPECT(error != NULL && litepress_error_status(error) == status);                        \
        if (status != (expected) || !strstr(litepress_error_message(error), words)) {            \
            fprintf(stderr, "%s:%d: status %d, %s\n", __FILE__, __LINE__, (int)status, litepress_error_message(error)); \
            exit(1);                                                                             \
        }                                                                                        \
        litepress_error_free(error);                                                             \
    } while (0)

#define WORKS(call)                                                                              \
    do {                                                                                         \
        litepress_error *error = NULL;                                                           \
        if ((call) != LITEPRESS_OK) {                                                            \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, litepress_error_message(error));  \
            exit(1);                                                                             \
        }                                                                                        \
        EXPECT(error == NULL);                                                                   \
    } while (0)

static const char *SCHEMA = "CREATE TABLE t (id INTEGER PRIMARY KEY, name TEXT NOT NULL, value REAL, raw BLOB DEFAULT 'd')";

static void arguments_are_checked(void) {
    litepress_writer *writer = (litepress_writer *)1;
    size_t table;
    FAILS(litepress_create(NULL, SCHEMA, NULL, &writer, &error), LITEPRESS_USAGE, "path is NULL");
    EXPECT(writer == NULL);
    FAILS(litepress_create(in_folder("a.db"), NULL, NULL, &writer, &error), LITEPRESS_USAGE, "schema is NULL");
    FAILS(litepress_create(in_folder("a.db"), SCHEMA, NULL, NULL, &error), LITEPRESS_USAGE, "writer is NULL");
    FAILS(litepress_create(in_folder("a.db"), "CREATE TABLE", NULL, &writer, &error), LITEPRESS_SCHEMA, "incomplete");
    FAILS(litepress_create(in_folder("none/a.db"), SCHEMA, NULL, &writer, &error), LITEPRESS_IO, "");
    FAILS(litepress_create("\xff\xfe", SCHEMA, NULL, &writer, &error), LITEPRESS_USAGE, "UTF-8");
    FAILS(litepress_open(in_folder("absent.db"), NULL, NULL, &writer, &error), LITEPRESS_USAGE, "does not exist");
    FAILS(litepress_table(NULL, "t", NULL, 0, &table, &error), LITEPRESS_USAGE, "writer is NULL");
    FAILS(litepress_finish(NULL, NULL, &error), LITEPRESS_USAGE, "writer is NULL");
    FAILS(litepress_append_stream(NULL, "t", NULL, &error), LITEPRESS_USAGE, "stream is NULL");
    FAILS(litepress_append_array(NULL, "t", NULL, NULL, &error), LITEPRESS_USAGE, "array is NULL");
    /* Without a place for the error, the status says it. */
    EXPECT(litepress_create(NULL, SCHEMA, NULL, &writer, NULL) == LITEPRESS_USAGE);
    litepress_abort(NULL);
    litepress_error_free(NULL);
    litepress_options_free(NULL);
    EXPECT(strcmp(litepress_version(), LITEPRESS_EXPECTED_VERSION) == 0);
}

static void options_are_checked(void) {
    litepress_options *options = litepress_options_new();
    const char *good[][2] = {{"threads", "2"}, {"memory", "64MiB"}, {"page-size", "8192"}, {"overwrite", "true"}, {"key", "a, b"},
        {"on-conflict", "ignore"}, {"update-columns", "c"}, {"sync", "off"}, {"analyze", "true"}, {"verify", "full"},
        {"busy-timeout", "0.5"}, {"truncate", "false"}, {"through-wal", "true"}, {"enforce-foreign-keys", "false"}, {"temp-dir", "/tmp"}};
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) WORKS(litepress_options_set(options, good[i][0], good[i][1], &error));
    FAILS(litepress_options_set(options, "speed", "1", &error), LITEPRESS_USAGE, "no option \"speed\"");
    FAILS(litepress_options_set(options, "threads", "0", &error), LITEPRESS_USAGE, "1 to");
    FAILS(litepress_options_set(options, "overwrite", "yes", &error), LITEPRESS_USAGE, "neither true nor false");
    FAILS(litepress_options_set(options, "sync", NULL, &error), LITEPRESS_USAGE, "value of the option is NULL");
    FAILS(litepress_options_set(NULL, "sync", "off", &error), LITEPRESS_USAGE, "options is NULL");
    litepress_options_free(options);
}

static void rows_and_columns(void) {
    litepress_writer *writer;
    size_t all, some, table;
    WORKS(litepress_create(in_folder("rows.db"), SCHEMA, NULL, &writer, &error));
    FAILS(litepress_table(writer, "u", NULL, 0, &table, &error), LITEPRESS_USAGE, "no table u");
    const char *unknown[] = {"id", "colour"};
    FAILS(litepress_table(writer, "t", unknown, 2, &table, &error), LITEPRESS_SCHEMA, "colour");
    const char *columns[] = {"value", "name"};
    WORKS(litepress_table(writer, "t", NULL, 0, &all, &error));
    WORKS(litepress_table(writer, "t", columns, 2, &some, &error));
    EXPECT(strcmp(litepress_column_name(writer, all, 0), "id") == 0 && strcmp(litepress_column_name(writer, all, 3), "raw") == 0);
    EXPECT(strcmp(litepress_column_name(writer, some, 1), "name") == 0);
    EXPECT(!litepress_column_name(writer, all, 4) && !litepress_column_name(writer, 99, 0) && !litepress_column_name(NULL, 0, 0));

    litepress_value row[] = {litepress_integer(7), litepress_text("seven"), litepress_null(), litepress_blob("\0\1", 2)};
    WORKS(litepress_insert(writer, all, row, 4, &error));
    FAILS(litepress_insert(writer, all, row, 3, &error), LITEPRESS_DATA, "3 values for 4 columns");
    FAILS(litepress_insert(writer, 99, row, 4, &error), LITEPRESS_USAGE, "number 99");
    litepress_value bad[] = {litepress_integer(8), litepress_text("\xff"), litepress_null(), litepress_null()};
    FAILS(litepress_insert(writer, all, bad, 4, &error), LITEPRESS_DATA, "UTF-8");
    memset(&bad[1], 0, sizeof bad[1]);
    FAILS(litepress_insert(writer, all, bad, 4, &error), LITEPRESS_DATA, "no type of a value");
    litepress_value fewer[] = {litepress_real(0.5), litepress_text("next")};
    WORKS(litepress_insert(writer, some, fewer, 2, &error));

    litepress_value rows[] = {litepress_real(1.5), litepress_text("x"), litepress_null(), litepress_text("y")};
    WORKS(litepress_insert_rows(writer, some, rows, 2, 2, &error));
    WORKS(litepress_insert_rows(writer, some, rows, 2, 0, &error));
    FAILS(litepress_insert_rows(writer, some, rows, 3, 1, &error), LITEPRESS_DATA, "3 values for 2 columns");
    FAILS(litepress_insert_rows(writer, some, NULL, 2, 1, &error), LITEPRESS_USAGE, "values is NULL");
    FAILS(litepress_insert_rows(writer, some, rows, SIZE_MAX, 2, &error), LITEPRESS_USAGE, "too many values");

    int64_t ids[] = {20, 21, 22};
    litepress_bytes names[] = {{"a", 1}, {NULL, 0}, {"ccc", 3}};
    double values[] = {1.5, 0, 3.5};
    uint8_t valid = 0x5;
    litepress_column batch[] = {{LITEPRESS_INTEGER, ids, NULL}, {LITEPRESS_TEXT, names, NULL}, {LITEPRESS_REAL, values, &valid},
                                {LITEPRESS_NULL, NULL, NULL}};
    WORKS(litepress_append(writer, all, batch, 4, 3, &error));
    WORKS(litepress_append(writer, all, batch, 4, 0, &error));
    FAILS(litepress_append(writer, all, batch, 3, 3, &error), LITEPRESS_USAGE, "3 columns were given");
    litepress_column missing[] = {{LITEPRESS_INTEGER, NULL, NULL}, batch[1], batch[2], batch[3]};
    FAILS(litepress_append(writer, all, missing, 4, 3, &error), LITEPRESS_USAGE, "values is NULL");
    litepress_column odd[] = {{17, ids, NULL}, batch[1], batch[2], batch[3]};
    FAILS(litepress_append(writer, all, odd, 4, 3, &error), LITEPRESS_USAGE, "17 is no type");
    litepress_bytes wrong[] = {{"a", 1}, {"\xff", 1}, {"c", 1}};
    litepress_column texts[] = {batch[0], {LITEPRESS_TEXT, wrong, NULL}, batch[2], batch[3]};
    litepress_error *error = NULL;
    EXPECT(litepress_append(writer, all, texts, 4, 3, &error) == LITEPRESS_DATA);
    EXPECT(litepress_error_record(error) == 2 && strcmp(litepress_error_column(error), "name") == 0);
    EXPECT(litepress_error_advice(error) && !litepress_error_file(error));
    litepress_error_free(error);

    litepress_summary summary = {.size = sizeof summary};
    WORKS(litepress_finish(writer, &summary, &error));
    EXPECT(summary.rows == 7 && summary.pages == 2 && summary.bytes == 8192);

    /* A database that exists: the row of one key is updated. */
    litepress_options *options = litepress_options_new();
    FAILS(litepress_create(in_folder("rows.db"), SCHEMA, options, &writer, &error), LITEPRESS_EXISTS, "exists");
    WORKS(litepress_options_set(options, "on-conflict", "update", &error));
    WORKS(litepress_open(in_folder("rows.db"), NULL, options, &writer, &error));
    WORKS(litepress_table(writer, "t", NULL, 0, &all, &error));
    row[1] = litepress_text("new");
    WORKS(litepress_insert(writer, all, row, 4, &error));
    row[0] = litepress_integer(100);
    WORKS(litepress_insert(writer, all, row, 4, &error));
    summary.size = 8; /* An older program: nothing is written behind its struct. */
    summary.rows = 77;
    WORKS(litepress_finish(writer, &summary, &error));
    EXPECT(summary.rows == 77);
    litepress_options_free(options);
}

/* NULL with a length, and the length -1 that SQLite takes, were read from memory. */
static void bytes_that_are_not_there_are_refused(void) {
    litepress_writer *writer;
    size_t table;
    WORKS(litepress_create(in_folder("bytes.db"), "CREATE TABLE t (a)", NULL, &writer, &error));
    WORKS(litepress_table(writer, "t", NULL, 0, &table, &error));
    litepress_value text = {.type = LITEPRESS_TEXT, .as = {.bytes = NULL}, .length = 3};
    FAILS(litepress_insert(writer, table, &text, 1, &error), LITEPRESS_DATA, "the pointer is NULL");
    litepress_abort(writer);
    WORKS(litepress_create(in_folder("bytes.db"), "CREATE TABLE t (a)", NULL, &writer, &error));
    WORKS(litepress_table(writer, "t", NULL, 0, &table, &error));
    litepress_value blob = {.type = LITEPRESS_BLOB, .as = {.bytes = "abc"}, .length = (size_t)-1};
    FAILS(litepress_insert(writer, table, &blob, 1, &error), LITEPRESS_DATA, "the length is negative");
    litepress_abort(writer);
    WORKS(litepress_create(in_folder("bytes.db"), "CREATE TABLE t (a)", NULL, &writer, &error));
    WORKS(litepress_table(writer, "t", NULL, 0, &table, &error));
    litepress_bytes missing = {.data = NULL, .length = 3};
    litepress_column column = {.type = LITEPRESS_TEXT, .values = &missing, .valid = NULL};
    FAILS(litepress_append(writer, table, &column, 1, 1, &error), LITEPRESS_USAGE, "the pointer is NULL");
    litepress_abort(writer);
}

/* Columns that all get their DEFAULT: rows by columns were refused, "the data have no column". */
static void rows_without_columns(void) {
    litepress_writer *writer;
    size_t table;
    litepress_summary summary = {.size = sizeof summary};
    const char *none[] = {NULL};
    litepress_column column = {LITEPRESS_NULL, NULL, NULL};
    WORKS(litepress_create(in_folder("defaults.db"), "CREATE TABLE t (a DEFAULT 7)", NULL, &writer, &error));
    WORKS(litepress_table(writer, "t", none, 0, &table, &error));
    WORKS(litepress_insert(writer, table, NULL, 0, &error));
    WORKS(litepress_append(writer, table, NULL, 0, 3, &error));
    FAILS(litepress_append(writer, table, &column, 1, 3, &error), LITEPRESS_USAGE, "1 columns were given");
    WORKS(litepress_finish(writer, &summary, &error));
    EXPECT(summary.rows == 4);
}

/* Advice named options that C lacks ("append", "store-as"), and values that no option has ("page-size", "true"). */
static void advice_can_be_followed(void) {
    litepress_writer *writer;
    litepress_error *error = NULL;
    litepress_options *options = litepress_options_new();
    WORKS(litepress_create(in_folder("advice.db"), "CREATE TABLE t (a UNIQUE, b UNIQUE)", NULL, &writer, &error));
    WORKS(litepress_finish(writer, NULL, &error));
    EXPECT(litepress_create(in_folder("advice.db"), SCHEMA, NULL, &writer, &error) == LITEPRESS_EXISTS);
    EXPECT(strstr(litepress_error_advice(error), "litepress_options_set(options, \"overwrite\", \"true\")"));
    litepress_error_free(error);
    WORKS(litepress_options_set(options, "page-size", "8192", &error));
    FAILS(litepress_open(in_folder("advice.db"), NULL, options, &writer, &error), LITEPRESS_USAGE,
          "the option \"page-size\" has no effect beside litepress_open()");
    litepress_options_free(options);
    options = litepress_options_new();
    WORKS(litepress_options_set(options, "temp-dir", in_folder("absent"), &error));
    EXPECT(litepress_open(in_folder("advice.db"), NULL, options, &writer, &error) == LITEPRESS_IO);
    EXPECT(strstr(litepress_error_advice(error), "with the option \"temp-dir\""));
    litepress_error_free(error);
    litepress_options_free(options);
}

/* Expects that an option is refused by litepress_open(), or by litepress_create() if `is_new`, or else by litepress_table(). */
static void is_refused_before_rows(const char *schema, int is_new, const char *const (*set)[2], const char *words) {
    litepress_writer *writer;
    litepress_error *error = NULL;
    litepress_options *options = litepress_options_new();
    size_t table;
    remove(in_folder("early.db"));
    if (!is_new) {
        WORKS(litepress_create(in_folder("early.db"), schema, NULL, &writer, &error));
        WORKS(litepress_finish(writer, NULL, &error));
    }
    for (; (*set)[0]; set++) WORKS(litepress_options_set(options, (*set)[0], (*set)[1], &error));
    litepress_status status = is_new ? litepress_create(in_folder("early.db"), schema, options, &writer, &error)
                                     : litepress_open(in_folder("early.db"), NULL, options, &writer, &error);
    if (status == LITEPRESS_OK) {
        status = litepress_table(writer, "t", NULL, 0, &table, &error);
        litepress_abort(writer);
    }
    EXPECT(status == LITEPRESS_USAGE || status == LITEPRESS_IO);
    if (!strstr(litepress_error_message(error), words)) {
        fprintf(stderr, "%s is not in: %s\n", words, litepress_error_message(error));
        exit(1);
    }
    litepress_error_free(error);
    litepress_options_free(options);
}

/* A run of hours gave all of its rows, and litepress_finish() refused them with the writer: an option was wrong from the start. */
static void wrong_options_are_found_before_rows(void) {
    const char *plain = "CREATE TABLE t (a, b)", *keyed = "CREATE TABLE t (a PRIMARY KEY, b)";
    const char *const overwrite[][2] = {{"overwrite", "true"}, {NULL, NULL}};
    const char *const page_size[][2] = {{"page-size", "4096"}, {NULL, NULL}};
    const char *const temp_dir[][2] = {{"temp-dir", "/nonexistent"}, {NULL, NULL}};
    const char *const update[][2] = {{"on-conflict", "update"}, {NULL, NULL}};
    const char *const no_column[][2] = {{"on-conflict", "update"}, {"key", "zz"}, {NULL, NULL}};
    const char *const no_key[][2] = {{"on-conflict", "update"}, {"key", "b"}, {NULL, NULL}};
    const char *const no_update[][2] = {{"on-conflict", "update"}, {"update-columns", "zz"}, {NULL, NULL}};
    is_refused_before_rows(plain, 0, overwrite, "\"overwrite\"");
    is_refused_before_rows(plain, 0, page_size, "\"page-size\"");
    for (int is_new = 0; is_new < 2; is_new++) {
        is_refused_before_rows(plain, is_new, temp_dir, "does not exist");
        is_refused_before_rows(plain, is_new, update, "no PRIMARY KEY and no unique key");
        is_refused_before_rows(keyed, is_new, no_column, "no column zz");
        is_refused_before_rows(keyed, is_new, no_key, "are no unique key");
        is_refused_before_rows(keyed, is_new, no_update, "no column zz");
    }
}

static void errors_have_a_place(void) {
    litepress_writer *writer;
    size_t table;
    WORKS(litepress_create(in_folder("errors.db"), SCHEMA, NULL, &writer, &error));
    WORKS(litepress_table(writer, "t", NULL, 0, &table, &error));
    litepress_value row[] = {litepress_integer(1), litepress_null(), litepress_null(), litepress_null()};
    litepress_error *error = NULL;
    litepress_status status = litepress_insert(writer, table, row, 4, &error);
    if (status == LITEPRESS_OK) status = litepress_finish(writer, NULL, &error);
    else litepress_abort(writer);
    EXPECT(status == LITEPRESS_CONSTRAINT && strcmp(litepress_error_table(error), "t") == 0);
    EXPECT(strcmp(litepress_error_column(error), "name") == 0 && litepress_error_record(error) == 1);
    litepress_error_free(error);
    FILE *file = fopen(in_folder("errors.db"), "r");
    EXPECT(file == NULL);
}

static int stop_after(void *context, const litepress_progress *progress) {
    EXPECT(progress->size == sizeof *progress && progress->phase != NULL);
    return --*(int *)context <= 0;
}

static void a_watcher_stops_the_writer(void) {
    litepress_writer *writer;
    size_t table;
    int looks = 3;
    litepress_options *options = litepress_options_new();
    litepress_options_watch(options, stop_after, &looks);
    WORKS(litepress_create(in_folder("stopped.db"), "CREATE TABLE t (a TEXT)", options, &writer, &error));
    litepress_options_free(options);
    WORKS(litepress_table(writer, "t", NULL, 0, &table, &error));
    litepress_value row = litepress_text("a text of a row");
    litepress_status status = LITEPRESS_OK;
    litepress_error *error = NULL;
    while (status == LITEPRESS_OK) status = litepress_insert(writer, table, &row, 1, &error);
    EXPECT(status == LITEPRESS_INTERRUPTED && looks == 0);
    litepress_error_free(error);
    litepress_abort(writer);
    FILE *file = fopen(in_folder("stopped.db"), "r");
    EXPECT(file == NULL);
}

/* A program in Ruby had a transaction open by its own SQLite, and rows were added to the same database: the two copies of SQLite do not
 * see each other's locks, so the transaction went on with pages that were old. */
static void locks_of_another_sqlite_are_found(void) {
    litepress_writer *writer;
    struct flock reserved = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = 0x40000001, .l_len = 1};
    int file = open(in_folder("rows.db"), O_RDWR);
    EXPECT(file >= 0 && fcntl(file, F_SETLK, &reserved) == 0);
    FAILS(litepress_open(in_folder("rows.db"), NULL, NULL, &writer, &error), LITEPRESS_TARGET, "has a lock on the database");
    reserved.l_type = F_UNLCK;
    EXPECT(writer == NULL && fcntl(file, F_SETLK, &reserved) == 0);
    WORKS(litepress_open(in_folder("rows.db"), NULL, NULL, &writer, &error));
    reserved.l_type = F_WRLCK;
    EXPECT(fcntl(file, F_SETLK, &reserved) == 0);
    FAILS(litepress_finish(writer, NULL, &error), LITEPRESS_TARGET, "has a lock on the database");
    close(file);
    WORKS(litepress_open(in_folder("rows.db"), NULL, NULL, &writer, &error));
    WORKS(litepress_finish(writer, NULL, &error));
}

int main(int count, char **arguments) {
    EXPECT(count == 2);
    folder = arguments[1];
    arguments_are_checked();
    options_are_checked();
    rows_and_columns();
    bytes_that_are_not_there_are_refused();
    rows_without_columns();
    advice_can_be_followed();
    wrong_options_are_found_before_rows();
    errors_have_a_place();
    a_watcher_stops_the_writer();
    locks_of_another_sqlite_are_found();
    return 0;
}
