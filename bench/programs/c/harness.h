/* Code shared by the programs: their command line, SQLite's return codes, the clock, random numbers, the line of JSON. */

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

/* Returns the next word of a method, or NULL behind the last: "carray=1000 unsafe" is two. */
char *next_word(char **method);

/* Returns the text behind `name=` in a word, or NULL if the word has another name. */
const char *value_of(const char *word, const char *name);

/* Returns a whole number from 0 to `most`; ends the program if the text is not one. */
int64_t number(const char *text, int64_t most);

/* Prints the reason, and exits with status 1. */
_Noreturn void fail(const char *what, const char *why);

/* Returns zeroed memory for `count` objects, or ends the program. */
void *allocate(int64_t count, size_t size);

/* Ends the program with SQLite's message, unless the return code is SQLITE_OK. */
void check(sqlite3 *database, int code);

sqlite3 *open_database(const char *path);
void run(sqlite3 *database, const char *sql);
sqlite3_stmt *prepare(sqlite3 *database, const char *sql);
/* Runs a statement that returns no rows, and resets it. */
void step(sqlite3_stmt *statement);
void finalize(sqlite3_stmt *statement);

/* Turns off journal and sync: a crash leaves a corrupt file. */
void be_unsafe(sqlite3 *database);

/* Prepares `INSERT INTO table (columns) VALUES row, row, ...` with `rows` copies of `row`. */
sqlite3_stmt *prepare_insert(sqlite3 *database, const char *into, const char *row, int rows);

/* Returns seconds of a monotonic clock. */
double now(void);

/* Closes a database on disk and prints the seconds since `started`; one in memory answers its check afterwards. */
void finish(sqlite3 *database, const command_line *line, double started);

/* Returns the next number of Marsaglia's xorshift with 64 bits. */
uint64_t random_bits(uint64_t *state);
/* Returns a number from 0 to limit - 1. */
uint64_t random_below(uint64_t *state, uint64_t limit);
