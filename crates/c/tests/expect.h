/* The check of the test programs: one that fails tells its place and its condition, and ends the program. */
#include <stdio.h>
#include <stdlib.h>

#define EXPECT(condition)                                                                        \
    do {                                                                                         \
        if (!(condition)) {                                                                      \
            fprintf(stderr, "%s:%d: %s is false\n", __FILE__, __LINE__, #condition);             \
            exit(1);                                                                             \
        }                                                                                        \
    } while (0)
