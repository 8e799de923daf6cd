/* What the programs share: their command line, SQLite's return codes, the clock, random numbers, the line of JSON. */

#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sqlite3.h"

/* PROGRAM METHOD TARGET ROWS [CHECK] */
typedef struct {
    char *method;
    const char *target;
    int64_t rows;
    const char *check;
} command_line;

command_line command_line_of(int argc, char **argv, const char *usage);

/* The next word of a method, or NULL behind the last: "carray=1000 unsafe" is two. */
char *next_word(char **method);

/* What stands behind `name=` in a word; NULL where the word is another one. */
const char *value_of(const char *word, const char *name);

/* A whole number from 0 to `most`; the program ends where the text is none. */
int64_t number(const char *text, int64_t most);

/* Says why, and leaves with a status that is not 0. */
_Noreturn void fail(const char *what, const char *why);

/* So many objects of a size, or the end of the program. */
void *allocate(int64_t count, size_t size);

/* Ends the program, with what SQLite says, unless the return code is that of success. */
void check(sqlite3 *database, int code);

sqlite3 *open_database(const char *path);
void run(sqlite3 *database, const char *sql);
sqlite3_stmt *prepare(sqlite3 *database, const char *sql);
/* Runs a statement that returns no rows, and makes it ready for its next values. */
void step(sqlite3_stmt *statement);
void finalize(sqlite3_stmt *statement);

/* No journal and no sync: a crash in the middle leaves a corrupt file. */
void be_unsafe(sqlite3 *database);

/* `INSERT INTO table (columns) VALUES row, row, ...` with so many rows of one text. */
sqlite3_stmt *prepare_insert(sqlite3 *database, const char *into, const char *row, int rows);

/* Seconds, of a clock that only goes forward. */
double now(void);

/* Closes a database on disk and prints the seconds since `started`; asks one in memory for its facts afterwards. */
void finish(sqlite3 *database, const command_line *line, double started);

/* Marsaglia's xorshift of 64 bits. */
uint64_t random_bits(uint64_t *state);
/* 0 to limit - 1. */
uint64_t random_below(uint64_t *state, uint64_t limit);
