#include "harness.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

command_line command_line_of(int argc, char **argv, const char *usage) {
    if (argc < 4 || argc > 5) fail("usage", usage);
    return (command_line){argv[1], argv[2], number(argv[3], 2000000000), argc == 5 ? argv[4] : NULL};
}

char *next_word(char **method) {
    char *word = *method + strspn(*method, " ");
    if (!*word) return NULL;
    *method = word + strcspn(word, " ");
    if (**method) *(*method)++ = 0;
    return word;
}

const char *value_of(const char *word, const char *name) {
    size_t length = strlen(name);
    return strncmp(word, name, length) == 0 && word[length] == '=' ? word + length + 1 : NULL;
}

int64_t number(const char *text, int64_t most) {
    char *end;
    long long value = strtoll(text, &end, 10);
    if (end == text || *end || value < 0 || value > most) fail("not a number that is possible here", text);
    return value;
}

void fail(const char *what, const char *why) {
    fprintf(stderr, "%s: %s\n", what, why);
    exit(1);
}

void *allocate(int64_t count, size_t size) {
    void *memory = calloc((size_t)count + 1, size);
    if (!memory) fail("memory", "there is too little of it for the rows");
    return memory;
}

void check(sqlite3 *database, int code) {
    if (code != SQLITE_OK) fail(sqlite3_errstr(code), database ? sqlite3_errmsg(database) : "no database");
}

sqlite3 *open_database(const char *path) {
    sqlite3 *database = NULL;
    int code = sqlite3_open(path, &database);
    check(database, code);
    return database;
}

void run(sqlite3 *database, const char *sql) {
    check(database, sqlite3_exec(database, sql, NULL, NULL, NULL));
}

sqlite3_stmt *prepare(sqlite3 *database, const char *sql) {
    sqlite3_stmt *statement = NULL;
    check(database, sqlite3_prepare_v2(database, sql, -1, &statement, NULL));
    return statement;
}

void step(sqlite3_stmt *statement) {
    int code = sqlite3_step(statement);
    if (code != SQLITE_DONE) fail(sqlite3_errstr(code), sqlite3_errmsg(sqlite3_db_handle(statement)));
    check(sqlite3_db_handle(statement), sqlite3_reset(statement));
}

void finalize(sqlite3_stmt *statement) {
    sqlite3 *database = sqlite3_db_handle(statement);
    check(database, sqlite3_finalize(statement));
}

void be_unsafe(sqlite3 *database) {
    run(database, "PRAGMA journal_mode = OFF");
    run(database, "PRAGMA synchronous = OFF");
}

sqlite3_stmt *prepare_insert(sqlite3 *database, const char *into, const char *row, int rows) {
    sqlite3_str *sql = sqlite3_str_new(database);
    sqlite3_str_appendf(sql, "INSERT INTO %s VALUES %s", into, row);
    for (int further = 1; further < rows; further++) sqlite3_str_appendf(sql, ", %s", row);
    char *text = sqlite3_str_finish(sql);
    if (!text) fail("memory", "there is too little of it for a statement");
    sqlite3_stmt *statement = prepare(database, text);
    sqlite3_free(text);
    return statement;
}

double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static void print_value(sqlite3_value *value) {
    switch (sqlite3_value_type(value)) {
        case SQLITE_NULL: printf("null"); break;
        case SQLITE_TEXT: printf("\"%s\"", (const char *)sqlite3_value_text(value)); break;
        default: printf("%s", (const char *)sqlite3_value_text(value));
    }
}

static void print_facts(sqlite3 *database, const char *query) {
    sqlite3_stmt *statement = prepare(database, query);
    if (sqlite3_step(statement) != SQLITE_ROW) fail("the check gives no row", sqlite3_errmsg(database));
    printf(", \"check\": [");
    for (int column = 0; column < sqlite3_column_count(statement); column++) {
        if (column) printf(", ");
        print_value(sqlite3_column_value(statement, column));
    }
    printf("]");
    finalize(statement);
}

void finish(sqlite3 *database, const command_line *line, double started) {
    bool in_memory = strcmp(line->target, ":memory:") == 0;
    if (!in_memory) check(database, sqlite3_close(database));
    printf("{\"seconds\": %.9f", now() - started);
    if (in_memory) {
        if (line->check) print_facts(database, line->check);
        check(database, sqlite3_close(database));
    }
    printf("}\n");
}

uint64_t random_bits(uint64_t *state) {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

uint64_t random_below(uint64_t *state, uint64_t limit) {
    return (uint64_t)((unsigned __int128)random_bits(state) * limit >> 64);
}
