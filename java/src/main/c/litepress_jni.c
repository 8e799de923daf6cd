/* The native methods of litepress.Native: they pass arrays of Java to liblitepress, and throw its errors. */
#include <jni.h>
#include <litepress.h>
#include <stdlib.h>

#define NATIVE(result, name) JNIEXPORT result JNICALL Java_litepress_Native_##name

/* An object that hears of the progress, for the time of a writer. */
typedef struct watch {
    JavaVM *machine;
    jobject progress;
    jmethodID look;
} watch;

/* A writer, and the watch that it calls. */
typedef struct handle {
    litepress_writer *writer;
    watch watch;
} handle;

static jbyteArray bytes_of(JNIEnv *env, const char *text) {
    if (!text) return NULL;
    jsize length = (jsize)strlen(text);
    jbyteArray bytes = (*env)->NewByteArray(env, length);
    if (bytes) (*env)->SetByteArrayRegion(env, bytes, 0, length, (const jbyte *)text);
    return bytes;
}

/* Throws an error and frees it. An exception of the progress comes first. */
static void throw_error(JNIEnv *env, litepress_error *error) {
    if (!(*env)->ExceptionCheck(env)) {
        jclass class = (*env)->FindClass(env, "litepress/LitepressException");
        jmethodID make = class ? (*env)->GetStaticMethodID(env, class, "of", "(I[B[B[B[B[B[BJ)Llitepress/LitepressException;") : NULL;
        jobject made = make ? (*env)->CallStaticObjectMethod(env, class, make, (jint)litepress_error_status(error),
            bytes_of(env, litepress_error_message(error)), bytes_of(env, litepress_error_advice(error)),
            bytes_of(env, litepress_error_file(error)), bytes_of(env, litepress_error_table(error)),
            bytes_of(env, litepress_error_column(error)), bytes_of(env, litepress_error_value(error)),
            (jlong)litepress_error_record(error)) : NULL;
        if (!(*env)->ExceptionCheck(env) && made) (*env)->Throw(env, (jthrowable)made);
    }
    litepress_error_free(error);
}

static void out_of_memory(JNIEnv *env) {
    jclass class = (*env)->FindClass(env, "java/lang/OutOfMemoryError");
    if (class) (*env)->ThrowNew(env, class, "litepress");
}

/* Returns a copy of an array of bytes, with a NUL behind it. NULL stays NULL. */
static char *copied(JNIEnv *env, jbyteArray bytes) {
    if (!bytes) return NULL;
    jsize length = (*env)->GetArrayLength(env, bytes);
    char *copy = malloc((size_t)length + 1);
    if (!copy) {
        out_of_memory(env);
        return NULL;
    }
    (*env)->GetByteArrayRegion(env, bytes, 0, length, (jbyte *)copy);
    copy[length] = 0;
    return copy;
}

static int look(void *context, const litepress_progress *progress) {
    watch *watch = context;
    JNIEnv *env;
    if ((*watch->machine)->GetEnv(watch->machine, (void **)&env, JNI_VERSION_1_8) != JNI_OK) return 0;
    jbyteArray phase = bytes_of(env, progress->phase);
    jboolean goes_on = (*env)->CallBooleanMethod(env, watch->progress, watch->look, (jlong)progress->rows, (jlong)progress->bytes, phase);
    (*env)->DeleteLocalRef(env, phase);
    return (*env)->ExceptionCheck(env) || !goes_on;
}

/* Sets the options, which are names and values by turns. Returns 0 after an exception. */
static int set_options(JNIEnv *env, litepress_options *options, jobjectArray pairs) {
    jsize count = (*env)->GetArrayLength(env, pairs);
    for (jsize at = 0; at + 1 < count; at += 2) {
        jbyteArray name_bytes = (*env)->GetObjectArrayElement(env, pairs, at);
        jbyteArray value_bytes = (*env)->GetObjectArrayElement(env, pairs, at + 1);
        char *name = copied(env, name_bytes), *value = copied(env, value_bytes);
        litepress_error *error = NULL;
        litepress_status status = litepress_options_set(options, name, value, &error);
        free(name);
        free(value);
        (*env)->DeleteLocalRef(env, name_bytes);
        (*env)->DeleteLocalRef(env, value_bytes);
        if (status != LITEPRESS_OK) {
            throw_error(env, error);
            return 0;
        }
    }
    return 1;
}

static void free_handle(JNIEnv *env, handle *handle) {
    if (handle->watch.progress) (*env)->DeleteGlobalRef(env, handle->watch.progress);
    free(handle);
}

NATIVE(jbyteArray, version)(JNIEnv *env, jclass class) {
    (void)class;
    return bytes_of(env, litepress_version());
}

NATIVE(jlong, begin)(JNIEnv *env, jclass class, jboolean exists, jbyteArray path, jbyteArray schema, jobjectArray pairs, jobject progress) {
    (void)class;
    handle *begun = calloc(1, sizeof *begun);
    litepress_options *options = litepress_options_new();
    if (!begun || !set_options(env, options, pairs)) {
        if (!begun) out_of_memory(env);
        free(begun);
        litepress_options_free(options);
        return 0;
    }
    if (progress) {
        (*env)->GetJavaVM(env, &begun->watch.machine);
        begun->watch.progress = (*env)->NewGlobalRef(env, progress);
        begun->watch.look = (*env)->GetMethodID(env, (*env)->GetObjectClass(env, progress), "look", "(JJ[B)Z");
        litepress_options_watch(options, look, &begun->watch);
    }
    char *path_text = copied(env, path), *schema_text = copied(env, schema);
    litepress_error *error = NULL;
    litepress_status status = exists ? litepress_open(path_text, schema_text, options, &begun->writer, &error)
                                     : litepress_create(path_text, schema_text, options, &begun->writer, &error);
    free(path_text);
    free(schema_text);
    litepress_options_free(options);
    if (status == LITEPRESS_OK) return (jlong)(intptr_t)begun;
    throw_error(env, error);
    free_handle(env, begun);
    return 0;
}

NATIVE(jlong, table)(JNIEnv *env, jclass class, jlong writer, jbyteArray name, jobjectArray columns) {
    (void)class;
    jsize count = columns ? (*env)->GetArrayLength(env, columns) : 0;
    char **names = columns ? calloc((size_t)count + 1, sizeof *names) : NULL;
    for (jsize at = 0; names && at < count; at++) {
        jbyteArray column = (*env)->GetObjectArrayElement(env, columns, at);
        names[at] = copied(env, column);
        (*env)->DeleteLocalRef(env, column);
    }
    char *name_text = copied(env, name);
    litepress_error *error = NULL;
    size_t number = 0;
    handle *given = (handle *)(intptr_t)writer;
    litepress_status status = litepress_table(given->writer, name_text, (const char *const *)names, (size_t)count, &number, &error);
    for (jsize at = 0; names && at < count; at++) free(names[at]);
    free(names);
    free(name_text);
    if (status != LITEPRESS_OK) throw_error(env, error);
    return (jlong)number;
}

NATIVE(jbyteArray, column)(JNIEnv *env, jclass class, jlong writer, jlong table, jint column) {
    (void)class;
    handle *given = (handle *)(intptr_t)writer;
    return bytes_of(env, litepress_column_name(given->writer, (size_t)table, (size_t)column));
}

/* A value is three numbers: its type; its number, or the place of its text in the bytes; the length of the text. */
NATIVE(void, insert)(JNIEnv *env, jclass class, jlong writer, jlong table, jlongArray numbers, jbyteArray texts, jint text_bytes,
                     jint width, jint rows) {
    (void)class;
    size_t count = (size_t)width * (size_t)rows;
    litepress_value *values = malloc((count + 1) * sizeof *values);
    jlong *given = malloc((count + 1) * 3 * sizeof *given);
    char *bytes = malloc((size_t)text_bytes + 1);
    if (!values || !given || !bytes) {
        out_of_memory(env);
    } else {
        (*env)->GetLongArrayRegion(env, numbers, 0, (jsize)(count * 3), given);
        (*env)->GetByteArrayRegion(env, texts, 0, text_bytes, (jbyte *)bytes);
        for (size_t at = 0; at < count; at++) {
            values[at].type = (int32_t)given[3 * at];
            values[at].length = (size_t)given[3 * at + 2];
            if (values[at].type == LITEPRESS_TEXT || values[at].type == LITEPRESS_BLOB) {
                values[at].as.bytes = bytes + given[3 * at + 1];
            } else {
                values[at].as.integer = given[3 * at + 1];
            }
        }
        litepress_error *error = NULL;
        handle *to = (handle *)(intptr_t)writer;
        if (litepress_insert_rows(to->writer, (size_t)table, values, (size_t)width, (size_t)rows, &error) != LITEPRESS_OK) {
            throw_error(env, error);
        }
    }
    free(values);
    free(given);
    free(bytes);
}

/* Memory of one column. */
typedef struct memory {
    void *values;
    char *bytes;
    uint8_t *valid;
} memory;

/* Copies a column: long[], double[], or the ends of texts (int[]) and their bytes. Returns 0 if there is no memory. */
static int copy_column(JNIEnv *env, litepress_column *column, memory *memory, jobject values, jbyteArray bytes, jbyteArray valid, jsize rows) {
    size_t count = (size_t)rows + 1;
    if (column->type == LITEPRESS_INTEGER || column->type == LITEPRESS_REAL) {
        column->values = memory->values = malloc(count * 8);
        if (!memory->values) return 0;
        if (column->type == LITEPRESS_INTEGER) (*env)->GetLongArrayRegion(env, values, 0, rows, memory->values);
        else (*env)->GetDoubleArrayRegion(env, values, 0, rows, memory->values);
    } else {
        litepress_bytes *places = memory->values = malloc(count * sizeof *places);
        jint *ends = malloc(count * sizeof *ends);
        memory->bytes = copied(env, bytes);
        if (places && ends && memory->bytes) {
            (*env)->GetIntArrayRegion(env, values, 0, rows, ends);
            for (jsize row = 0, start = 0; row < rows; start = ends[row++]) {
                places[row].data = memory->bytes + start;
                places[row].length = (size_t)(ends[row] - start);
            }
            column->values = places;
        }
        free(ends);
        if (!column->values) return 0;
    }
    if (valid) {
        column->valid = memory->valid = (uint8_t *)copied(env, valid);
        return memory->valid != NULL;
    }
    return 1;
}

NATIVE(void, append)(JNIEnv *env, jclass class, jlong writer, jlong table, jintArray types, jobjectArray values, jobjectArray bytes,
                     jobjectArray valid, jint rows) {
    (void)class;
    jsize count = (*env)->GetArrayLength(env, types);
    litepress_column *columns = calloc((size_t)count + 1, sizeof *columns);
    memory *memories = calloc((size_t)count + 1, sizeof *memories);
    int has_memory = columns && memories;
    for (jsize at = 0; has_memory && at < count; at++) {
        jint type;
        (*env)->GetIntArrayRegion(env, types, at, 1, &type);
        columns[at].type = type;
        jobject own_values = (*env)->GetObjectArrayElement(env, values, at);
        jbyteArray own_bytes = (*env)->GetObjectArrayElement(env, bytes, at);
        jbyteArray own_valid = (*env)->GetObjectArrayElement(env, valid, at);
        has_memory = copy_column(env, &columns[at], &memories[at], own_values, own_bytes, own_valid, rows);
        (*env)->DeleteLocalRef(env, own_values);
        (*env)->DeleteLocalRef(env, own_bytes);
        (*env)->DeleteLocalRef(env, own_valid);
    }
    litepress_error *error = NULL;
    handle *to = (handle *)(intptr_t)writer;
    if (!has_memory) {
        if (!(*env)->ExceptionCheck(env)) out_of_memory(env);
    } else if (litepress_append(to->writer, (size_t)table, columns, (size_t)count, (size_t)rows, &error) != LITEPRESS_OK) {
        throw_error(env, error);
    }
    for (jsize at = 0; memories && at < count; at++) {
        free(memories[at].values);
        free(memories[at].bytes);
        free(memories[at].valid);
    }
    free(memories);
    free(columns);
}

NATIVE(void, finish)(JNIEnv *env, jclass class, jlong writer, jlongArray figures) {
    (void)class;
    litepress_error *error = NULL;
    litepress_summary summary = {.size = sizeof summary};
    handle *given = (handle *)(intptr_t)writer;
    litepress_status status = litepress_finish(given->writer, &summary, &error);
    free_handle(env, given);
    if (status != LITEPRESS_OK) {
        throw_error(env, error);
        return;
    }
    /* An exception of the progress came too late to stop anything: the database is there, and its figures say so. */
    (*env)->ExceptionClear(env);
    jlong shown[] = {(jlong)summary.rows, (jlong)summary.bytes, (jlong)summary.pages};
    (*env)->SetLongArrayRegion(env, figures, 0, 3, shown);
}

NATIVE(void, abort)(JNIEnv *env, jclass class, jlong writer) {
    (void)class;
    handle *given = (handle *)(intptr_t)writer;
    litepress_abort(given->writer);
    free_handle(env, given);
}
