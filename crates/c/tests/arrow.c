/* Batches over the Arrow C interfaces, made by hand: id int64, name utf8 with a NULL in the second row. */
#include "expect.h"
#include <litepress.h>
#include <stdio.h>
#include <stdlib.h>

/* As the specification defines them. */
struct ArrowSchema {
    const char *format, *name, *metadata;
    int64_t flags, n_children;
    struct ArrowSchema **children, *dictionary;
    void (*release)(struct ArrowSchema *);
    void *private_data;
};
struct ArrowArray {
    int64_t length, null_count, offset, n_buffers, n_children;
    const void **buffers;
    struct ArrowArray **children, *dictionary;
    void (*release)(struct ArrowArray *);
    void *private_data;
};
struct ArrowArrayStream {
    int (*get_schema)(struct ArrowArrayStream *, struct ArrowSchema *);
    int (*get_next)(struct ArrowArrayStream *, struct ArrowArray *);
    const char *(*get_last_error)(struct ArrowArrayStream *);
    void (*release)(struct ArrowArrayStream *);
    void *private_data;
};

static int released;

static void release_schema(struct ArrowSchema *schema) { schema->release = NULL; released++; }
static void release_array(struct ArrowArray *array) { array->release = NULL; released++; }
static void release_stream(struct ArrowArrayStream *stream) { stream->release = NULL; released++; }

static int64_t ids[] = {1, 2, 3};
static uint8_t valid[] = {0x5};
static int32_t offsets[] = {0, 3, 3, 8};

static struct ArrowSchema fields[2];
static struct ArrowSchema *field_pointers[] = {&fields[0], &fields[1]};

static struct ArrowSchema schema_of(const char *format, const char *name) {
    struct ArrowSchema schema = {.format = format, .name = name, .flags = 2, .release = release_schema};
    return schema;
}

static struct ArrowSchema table_schema(void) {
    fields[0] = schema_of("l", "id");
    fields[1] = schema_of("u", "name");
    struct ArrowSchema schema = schema_of("+s", "");
    schema.n_children = 2;
    schema.children = field_pointers;
    return schema;
}

static const void *id_buffers[] = {NULL, ids};
static const void *name_buffers[] = {valid, offsets, "onethree"};
static const void *no_buffers[] = {NULL};
static struct ArrowArray columns[2];
static struct ArrowArray *column_pointers[] = {&columns[0], &columns[1]};

static struct ArrowArray batch(void) {
    struct ArrowArray id = {.length = 3, .n_buffers = 2, .buffers = id_buffers, .release = release_array};
    struct ArrowArray name = {.length = 3, .null_count = 1, .n_buffers = 3, .buffers = name_buffers, .release = release_array};
    columns[0] = id;
    columns[1] = name;
    struct ArrowArray batch = {.length = 3, .n_buffers = 1, .buffers = no_buffers, .n_children = 2, .children = column_pointers,
                               .release = release_array};
    return batch;
}

static int batches_left = 2;

static int get_schema(struct ArrowArrayStream *stream, struct ArrowSchema *schema) {
    (void)stream;
    *schema = table_schema();
    return 0;
}
static int get_next(struct ArrowArrayStream *stream, struct ArrowArray *array) {
    (void)stream;
    struct ArrowArray end = {0};
    *array = batches_left-- > 0 ? batch() : end;
    return 0;
}
/* One batch, and then a failure. */
static int fail_later(struct ArrowArrayStream *stream, struct ArrowArray *array) {
    (void)stream;
    if (batches_left-- <= 0) return 5;
    *array = batch();
    return 0;
}
static int fail_next(struct ArrowArrayStream *stream, struct ArrowArray *array) {
    (void)stream;
    (void)array;
    return 5;
}
static const char *last_error(struct ArrowArrayStream *stream) {
    (void)stream;
    return "the tape is torn";
}

/* The advice was to set an option "store-as", which C lacks. */
static void advice_about_values_can_be_followed(const char *path) {
    litepress_writer *writer;
    litepress_error *error = NULL;
    EXPECT(!litepress_create(path, "CREATE TABLE t (id INTEGER, name TEXT)", NULL, &writer, &error));
    struct ArrowSchema schema = table_schema();
    struct ArrowArray array = batch();
    int64_t beyond[] = {1, -1, 3};
    const void *buffers[] = {NULL, beyond};
    fields[0].format = "L"; /* uint64: -1 is the largest one. */
    columns[0].buffers = buffers;
    EXPECT(litepress_append_array(writer, "t", &array, &schema, &error) == LITEPRESS_DATA);
    EXPECT(strstr(litepress_error_message(error), "not an integer of 64 bits"));
    EXPECT(strstr(litepress_error_advice(error), "convert the values") && !strstr(litepress_error_advice(error), "store-as"));
    litepress_error_free(error);
    litepress_abort(writer);
}

/* A stream that tore in its middle left its first batches in the writer, and litepress_finish() published these. */
static void half_a_stream_is_not_published(const char *path) {
    litepress_writer *writer;
    litepress_error *error = NULL;
    batches_left = 1;
    EXPECT(!litepress_create(path, "CREATE TABLE t (id INTEGER, name TEXT)", NULL, &writer, &error));
    struct ArrowArrayStream torn = {get_schema, fail_later, last_error, release_stream, NULL};
    EXPECT(litepress_append_stream(writer, "t", &torn, &error) == LITEPRESS_DATA);
    EXPECT(strstr(litepress_error_message(error), "the tape is torn"));
    litepress_error_free(error);
    EXPECT(litepress_finish(writer, NULL, &error) == LITEPRESS_USAGE);
    EXPECT(strstr(litepress_error_message(error), "the tape is torn"));
    litepress_error_free(error);
    FILE *file = fopen(path, "r");
    EXPECT(file == NULL);
}

int main(int count, char **arguments) {
    char path[4096];
    EXPECT(count == 2);
    snprintf(path, sizeof path, "%s/arrow.db", arguments[1]);
    litepress_writer *writer;
    litepress_error *error = NULL;
    EXPECT(!litepress_create(path, "CREATE TABLE t (id INTEGER, name TEXT, more INTEGER DEFAULT 9)", NULL, &writer, &error));

    struct ArrowSchema schema = table_schema();
    struct ArrowArray array = batch();
    EXPECT(!litepress_append_array(writer, "t", &array, &schema, &error));
    EXPECT(array.release == NULL && schema.release == NULL);
    /* A batch that was taken is not there any more. */
    EXPECT(litepress_append_array(writer, "t", &array, &schema, &error) == LITEPRESS_USAGE);
    litepress_error_free(error);

    struct ArrowArrayStream stream = {get_schema, get_next, last_error, release_stream, NULL};
    EXPECT(!litepress_append_stream(writer, "t", &stream, &error));
    EXPECT(stream.release == NULL);
    EXPECT(litepress_append_stream(writer, "t", &stream, &error) == LITEPRESS_USAGE);
    litepress_error_free(error);

    struct ArrowArrayStream torn = {get_schema, fail_next, last_error, release_stream, NULL};
    EXPECT(litepress_append_stream(writer, "t", &torn, &error) == LITEPRESS_DATA);
    EXPECT(strstr(litepress_error_message(error), "the tape is torn"));
    litepress_error_free(error);

    /* Rows that are given one by one go on behind them. */
    size_t table;
    EXPECT(!litepress_table(writer, "t", NULL, 0, &table, &error));
    litepress_value row[] = {litepress_integer(4), litepress_text("four"), litepress_integer(5)};
    EXPECT(!litepress_insert(writer, table, row, 3, &error));
    EXPECT(!litepress_finish(writer, NULL, &error));
    /* The batch and its schema; two batches, their schema and stream; the torn stream and its schema. */
    EXPECT(released == 8);

    snprintf(path, sizeof path, "%s/torn.db", arguments[1]);
    half_a_stream_is_not_published(path);
    advice_about_values_can_be_followed(path);
    return 0;
}
