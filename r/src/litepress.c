/* Passes vectors of R to liblitepress. Errors of the library are returned as lists, which R/litepress.R makes conditions of. */
#define R_NO_REMAP
#include <R.h>
#include <Rinternals.h>
#include <litepress.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Rows and bytes of texts and blobs that are handed to the library at once. A row may have more bytes. */
#define BATCH 65536
#define BATCH_BYTES ((size_t)16 << 20)

static SEXP text_or_null(const char *text) {
    return text ? Rf_ScalarString(Rf_mkCharCE(text, CE_UTF8)) : R_NilValue;
}

/* Returns an error as a list of its parts, and frees it. */
static SEXP parts(litepress_error *error) {
    const char *names[] = {"status", "message", "advice", "file", "table", "column", "value", "record", ""};
    SEXP list = PROTECT(Rf_mkNamed(VECSXP, names));
    SET_VECTOR_ELT(list, 0, Rf_ScalarInteger((int)litepress_error_status(error)));
    SET_VECTOR_ELT(list, 1, text_or_null(litepress_error_message(error)));
    SET_VECTOR_ELT(list, 2, text_or_null(litepress_error_advice(error)));
    SET_VECTOR_ELT(list, 3, text_or_null(litepress_error_file(error)));
    SET_VECTOR_ELT(list, 4, text_or_null(litepress_error_table(error)));
    SET_VECTOR_ELT(list, 5, text_or_null(litepress_error_column(error)));
    SET_VECTOR_ELT(list, 6, text_or_null(litepress_error_value(error)));
    SET_VECTOR_ELT(list, 7, Rf_ScalarReal((double)litepress_error_record(error)));
    litepress_error_free(error);
    UNPROTECT(1);
    return list;
}

static void check_interrupt(void *unused) {
    (void)unused;
    R_CheckUserInterrupt();
}

/* Stops the writer if the user interrupts R. No jump passes through the library. */
static int watch(void *context, const litepress_progress *progress) {
    (void)context;
    (void)progress;
    return !R_ToplevelExec(check_interrupt, NULL);
}

/* What a pointer of R keeps beside the writer: the process that began it, and why the writer failed. */
enum { PROCESS, FAILURE, PARTS };

static SEXP tag(void) {
    return Rf_install("litepress_writer");
}

static void refuse_other_pointers(SEXP pointer) {
    if (TYPEOF(pointer) != EXTPTRSXP || R_ExternalPtrTag(pointer) != tag()) Rf_error("this is no writer of litepress");
}

/* A fork has a copy of the memory, but not the threads, and the file is the same one. */
static int is_foreign(SEXP pointer) {
    SEXP kept = R_ExternalPtrProtected(pointer);
    return TYPEOF(kept) == VECSXP && Rf_asInteger(VECTOR_ELT(kept, PROCESS)) != (int)getpid();
}

/* Returns why a writer takes no rows, or NULL. */
static const char *refusal(SEXP pointer) {
    refuse_other_pointers(pointer);
    SEXP kept = R_ExternalPtrProtected(pointer);
    if (TYPEOF(kept) == VECSXP && TYPEOF(VECTOR_ELT(kept, FAILURE)) == STRSXP) return CHAR(STRING_ELT(VECTOR_ELT(kept, FAILURE), 0));
    if (!R_ExternalPtrAddr(pointer)) return "the database is finished or was discarded";
    if (is_foreign(pointer)) return "the database belongs to the process that began it, and this is a fork of it";
    return NULL;
}

static SEXP r_refusal(SEXP pointer) {
    return text_or_null(refusal(pointer));
}

static litepress_writer *writer_of(SEXP pointer) {
    const char *refused = refusal(pointer);
    if (refused) Rf_error("%s", refused);
    return R_ExternalPtrAddr(pointer);
}

static void finalize(SEXP pointer) {
    if (!is_foreign(pointer)) litepress_abort(R_ExternalPtrAddr(pointer));
    R_ClearExternalPtr(pointer);
}

/* Discards a writer that has a part of a frame. */
static void give_up(SEXP pointer, const litepress_error *error) {
    const char *message = litepress_error_message(error);
    size_t size = strlen(message) + 64;
    char *text = R_alloc(size, 1);
    snprintf(text, size, "the database was given up: %s", message);
    SET_VECTOR_ELT(R_ExternalPtrProtected(pointer), FAILURE, text_or_null(text));
    finalize(pointer);
}

static SEXP r_begin(SEXP exists, SEXP path, SEXP schema, SEXP names, SEXP values) {
    litepress_error *error = NULL;
    litepress_options *options = litepress_options_new();
    for (R_xlen_t at = 0; at < Rf_xlength(names); at++) {
        const char *name = CHAR(STRING_ELT(names, at)), *value = CHAR(STRING_ELT(values, at));
        if (litepress_options_set(options, name, value, &error)) {
            litepress_options_free(options);
            return parts(error);
        }
    }
    litepress_options_watch(options, watch, NULL);
    const char *path_text = CHAR(STRING_ELT(path, 0));
    const char *schema_text = schema == R_NilValue ? NULL : CHAR(STRING_ELT(schema, 0));
    litepress_writer *writer;
    litepress_status status = Rf_asLogical(exists) ? litepress_open(path_text, schema_text, options, &writer, &error)
                                                   : litepress_create(path_text, schema_text, options, &writer, &error);
    litepress_options_free(options);
    if (status) return parts(error);
    SEXP kept = PROTECT(Rf_allocVector(VECSXP, PARTS));
    SET_VECTOR_ELT(kept, PROCESS, Rf_ScalarInteger((int)getpid()));
    SEXP pointer = PROTECT(R_MakeExternalPtr(writer, tag(), kept));
    R_RegisterCFinalizerEx(pointer, finalize, TRUE);
    UNPROTECT(2);
    return pointer;
}

static SEXP r_table(SEXP pointer, SEXP name, SEXP columns) {
    litepress_writer *writer = writer_of(pointer);
    R_xlen_t count = Rf_xlength(columns);
    const char **names = (const char **)R_alloc((size_t)count + 1, sizeof *names);
    for (R_xlen_t at = 0; at < count; at++) names[at] = CHAR(STRING_ELT(columns, at));
    litepress_error *error = NULL;
    size_t number;
    if (litepress_table(writer, CHAR(STRING_ELT(name, 0)), names, (size_t)count, &number, &error)) return parts(error);
    return Rf_ScalarReal((double)number);
}

/* Memory for a batch of one column, and what does not change between batches. */
typedef struct batch {
    SEXP vector;
    SEXP levels; /* of a factor, or NULL */
    int is_integer64;
    int is_utf8; /* unmarked texts are UTF-8 */
    R_xlen_t level_count;
    litepress_bytes *level_bytes; /* without an address for NA */
    void *values;
    uint8_t *valid;
} batch;

/* Returns the bytes of a text in UTF-8. R has checked that they are. In a locale of UTF-8 or C, unmarked texts are UTF-8, too. */
static litepress_bytes bytes_of(SEXP text, int is_utf8) {
    if (text == NA_STRING) return (litepress_bytes){NULL, 0};
    cetype_t encoding = Rf_getCharCE(text);
    if (encoding == CE_UTF8 || encoding == CE_BYTES || (encoding == CE_NATIVE && is_utf8)) {
        return (litepress_bytes){CHAR(text), (size_t)Rf_length(text)};
    }
    const char *utf8 = Rf_translateCharUTF8(text);
    return (litepress_bytes){utf8, strlen(utf8)};
}

static batch prepared(SEXP vector, R_xlen_t rows, int is_utf8) {
    if (Rf_xlength(vector) != rows) Rf_error("a column has another number of rows than its frame");
    batch made = {.vector = vector, .levels = R_NilValue, .is_utf8 = is_utf8};
    made.is_integer64 = Rf_inherits(vector, "integer64");
    if (Rf_isFactor(vector)) {
        made.levels = Rf_getAttrib(vector, R_LevelsSymbol);
        made.level_count = Rf_xlength(made.levels);
        made.level_bytes = (litepress_bytes *)R_alloc((size_t)made.level_count + 1, sizeof *made.level_bytes);
        for (R_xlen_t level = 0; level < made.level_count; level++) made.level_bytes[level] = bytes_of(STRING_ELT(made.levels, level), is_utf8);
    }
    made.values = R_alloc(BATCH, sizeof(litepress_bytes));
    made.valid = (uint8_t *)R_alloc(BATCH / 8, 1);
    return made;
}

/* Returns the text of a level, or one without bytes for NA. */
static litepress_bytes level_of(const batch *batch, int code) {
    if (code == NA_INTEGER) return (litepress_bytes){NULL, 0};
    if (code < 1 || code > batch->level_count) Rf_error("a factor has the code %d and %d levels", code, (int)batch->level_count);
    return batch->level_bytes[code - 1];
}

/* Returns about the number of bytes of a value. */
static size_t length_of(const batch *batch, R_xlen_t at) {
    switch (TYPEOF(batch->vector)) {
    case STRSXP: return (size_t)Rf_length(STRING_ELT(batch->vector, at));
    case VECSXP: return (size_t)Rf_xlength(VECTOR_ELT(batch->vector, at));
    default: return batch->level_bytes ? level_of(batch, INTEGER(batch->vector)[at]).length : 0;
    }
}

/* Returns the number of rows of the next batch. */
static size_t rows_of_batch(const batch *batches, R_xlen_t count, R_xlen_t start, R_xlen_t rows) {
    size_t most = (size_t)(rows - start < BATCH ? rows - start : BATCH), bytes = 0;
    for (size_t row = 0; row < most; row++) {
        for (R_xlen_t column = 0; column < count; column++) bytes += length_of(&batches[column], start + (R_xlen_t)row);
        if (row > 0 && bytes > BATCH_BYTES) return row;
    }
    return most;
}

/* Copies values of a column. Returns its type. Absent ones stay unmarked in `valid`. */
static int32_t fill(batch *batch, R_xlen_t start, size_t rows) {
    memset(batch->valid, 0, BATCH / 8);
    int64_t *integers = batch->values;
    double *reals = batch->values;
    litepress_bytes *bytes = batch->values;
    for (size_t row = 0; row < rows; row++) {
        R_xlen_t at = start + (R_xlen_t)row;
        int is_valid = 1;
        switch (TYPEOF(batch->vector)) {
        case LGLSXP:
        case INTSXP: {
            int value = INTEGER(batch->vector)[at];
            if (batch->level_bytes) {
                bytes[row] = level_of(batch, value);
                is_valid = bytes[row].data != NULL;
            } else {
                integers[row] = value;
                is_valid = value != NA_INTEGER;
            }
            break;
        }
        case REALSXP:
            reals[row] = REAL(batch->vector)[at];
            is_valid = batch->is_integer64 ? integers[row] != INT64_MIN : !ISNAN(reals[row]);
            break;
        case STRSXP: {
            bytes[row] = bytes_of(STRING_ELT(batch->vector, at), batch->is_utf8);
            is_valid = bytes[row].data != NULL;
            break;
        }
        default: {
            SEXP raw = VECTOR_ELT(batch->vector, at);
            is_valid = raw != R_NilValue;
            bytes[row] = is_valid ? (litepress_bytes){RAW(raw), (size_t)Rf_xlength(raw)} : (litepress_bytes){NULL, 0};
        }
        }
        if (is_valid) batch->valid[row / 8] |= (uint8_t)(1 << (row % 8));
    }
    switch (TYPEOF(batch->vector)) {
    case REALSXP: return batch->is_integer64 ? LITEPRESS_INTEGER : LITEPRESS_REAL;
    case STRSXP: return LITEPRESS_TEXT;
    case VECSXP: return LITEPRESS_BLOB;
    default: return batch->level_bytes ? LITEPRESS_TEXT : LITEPRESS_INTEGER;
    }
}

static SEXP r_append(SEXP pointer, SEXP table, SEXP vectors, SEXP all_rows, SEXP is_utf8) {
    litepress_writer *writer = writer_of(pointer);
    R_xlen_t count = Rf_xlength(vectors), rows = (R_xlen_t)Rf_asReal(all_rows);
    litepress_column *columns = (litepress_column *)R_alloc((size_t)count + 1, sizeof *columns);
    batch *batches = (batch *)R_alloc((size_t)count + 1, sizeof *batches);
    for (R_xlen_t column = 0; column < count; column++) batches[column] = prepared(VECTOR_ELT(vectors, column), rows, Rf_asLogical(is_utf8));
    size_t here;
    for (R_xlen_t start = 0; start < rows; start += (R_xlen_t)here) {
        here = rows_of_batch(batches, count, start, rows);
        /* Texts in UTF-8 that R makes of others are freed after each batch. */
        const void *memory = vmaxget();
        for (R_xlen_t column = 0; column < count; column++) {
            columns[column].type = fill(&batches[column], start, here);
            columns[column].values = batches[column].values;
            columns[column].valid = batches[column].valid;
        }
        litepress_error *error = NULL;
        litepress_status status = litepress_append(writer, (size_t)Rf_asReal(table), columns, (size_t)count, here, &error);
        vmaxset(memory);
        if (status) {
            /* A second try with the same frame would add the batches before this one again. */
            if (start > 0) give_up(pointer, error);
            return parts(error);
        }
    }
    return R_NilValue;
}

static SEXP r_finish(SEXP pointer) {
    litepress_writer *writer = writer_of(pointer);
    R_ClearExternalPtr(pointer);
    litepress_error *error = NULL;
    litepress_summary summary = {.size = sizeof summary};
    if (litepress_finish(writer, &summary, &error)) return parts(error);
    const char *names[] = {"rows", "bytes", "pages", ""};
    SEXP figures = PROTECT(Rf_mkNamed(VECSXP, names));
    SET_VECTOR_ELT(figures, 0, Rf_ScalarReal((double)summary.rows));
    SET_VECTOR_ELT(figures, 1, Rf_ScalarReal((double)summary.bytes));
    SET_VECTOR_ELT(figures, 2, Rf_ScalarReal((double)summary.pages));
    UNPROTECT(1);
    return figures;
}

static SEXP r_abort(SEXP pointer) {
    refuse_other_pointers(pointer);
    finalize(pointer);
    return R_NilValue;
}

static SEXP r_version(void) {
    return Rf_mkString(litepress_version());
}

static const R_CallMethodDef METHODS[] = {
    {"r_begin", (DL_FUNC)&r_begin, 5}, {"r_table", (DL_FUNC)&r_table, 3}, {"r_append", (DL_FUNC)&r_append, 5},
    {"r_finish", (DL_FUNC)&r_finish, 1}, {"r_abort", (DL_FUNC)&r_abort, 1}, {"r_version", (DL_FUNC)&r_version, 0}, {"r_refusal", (DL_FUNC)&r_refusal, 1},
    {NULL, NULL, 0},
};

void R_init_litepress(DllInfo *library) {
    R_registerRoutines(library, NULL, METHODS, NULL, NULL);
    R_useDynamicSymbols(library, FALSE);
}
