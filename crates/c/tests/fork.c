/* A server forked its workers while it wrote a database. The first worker that called litepress_abort() on its copy of the writer removed
 * the parent's temporary file: all rows of the parent were gone, and the worker printed a panic. Prints nothing and returns 0 if the
 * writer stays with the parent, whatever the child calls. */
#define _POSIX_C_SOURCE 200809L /* fork(2) */
#include "expect.h"
#include <litepress.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

/* Expects that the call is refused since the writer is the parent's. */
#define IS_REFUSED(call)                                                                         \
    do {                                                                                         \
        litepress_error *error = NULL;                                                           \
        EXPECT((call) == LITEPRESS_USAGE);                                                       \
        EXPECT(strstr(litepress_error_message(error), "forked"));                                \
        litepress_error_free(error);                                                             \
    } while (0)

static void use_in_child(litepress_writer *writer, size_t table, char how) {
    litepress_value row = litepress_integer(-1);
    litepress_column column = {LITEPRESS_NULL, NULL, NULL};
    litepress_status status = LITEPRESS_OK;
    size_t other;
    switch (how) {
    case 'a':
        litepress_abort(writer);
        break;
    case 'f':
        IS_REFUSED(litepress_finish(writer, NULL, &error));
        break;
    case 'm':
        IS_REFUSED(litepress_insert_rows(writer, table, &row, 1, 1, &error));
        IS_REFUSED(litepress_append(writer, table, &column, 1, 1, &error));
        IS_REFUSED(litepress_table(writer, "t", NULL, 0, &other, &error));
        litepress_abort(writer);
        break;
    case 'i':
        for (int i = 0; i < 3000000 && status == LITEPRESS_OK; i++) status = litepress_insert(writer, table, &row, 1, NULL);
        EXPECT(status == LITEPRESS_USAGE);
        break;
    }
}

/* With a million rows, the engine has a thread, which a child lacks. */
int main(int count, char **arguments) {
    char path[4096];
    EXPECT(count == 2);
    snprintf(path, sizeof path, "%s/forked.db", arguments[1]);
    for (const char *how = "afmi"; *how; how++) {
        for (int rows = 1000; rows <= 1001000; rows += 1000000) {
            litepress_writer *writer;
            size_t table;
            litepress_summary summary = {.size = sizeof summary};
            remove(path);
            EXPECT(!litepress_create(path, "CREATE TABLE t (a)", NULL, &writer, NULL));
            EXPECT(!litepress_table(writer, "t", NULL, 0, &table, NULL));
            litepress_value row = litepress_integer(7);
            for (int i = 0; i < rows; i++) EXPECT(!litepress_insert(writer, table, &row, 1, NULL));
            int status = 0;
            pid_t child = fork();
            if (child == 0) {
                use_in_child(writer, table, *how);
                _exit(0);
            }
            EXPECT(child > 0 && waitpid(child, &status, 0) == child && status == 0);
            EXPECT(!litepress_insert(writer, table, &row, 1, NULL));
            EXPECT(!litepress_finish(writer, &summary, NULL));
            EXPECT(summary.rows == (uint64_t)rows + 1);
        }
    }
    return 0;
}
