/* A simulator that writes what it computes while it runs: a step a row, and an index. */
#include <litepress.h>
#include <math.h>
#include <stdio.h>

#define STEPS 100000

static int failed(litepress_error *error) {
    const char *advice = litepress_error_advice(error);
    fprintf(stderr, "%s%s%s\n", litepress_error_message(error), advice ? "; " : "", advice ? advice : "");
    litepress_error_free(error);
    return 1;
}

int main(int count, char **arguments) {
    const char *path = count > 1 ? arguments[1] : "simulation.db";
    litepress_writer *writer;
    litepress_error *error = NULL;
    size_t step;
    if (litepress_create(path, "CREATE TABLE step (time REAL, height REAL, state TEXT); CREATE INDEX state ON step (state)",
                         NULL, &writer, &error))
        return failed(error);
    if (litepress_table(writer, "step", NULL, 0, &step, &error)) {
        litepress_abort(writer);
        return failed(error);
    }
    double height = 10, speed = 0;
    for (int i = 0; i < STEPS; i++) {
        speed = height <= 0 ? -0.9 * speed : speed - 9.81e-4;
        height += speed * 1e-3;
        litepress_value row[] = {litepress_real(i * 1e-4), litepress_real(height), litepress_text(speed < 0 ? "falls" : "rises")};
        if (litepress_insert(writer, step, row, 3, &error)) {
            litepress_abort(writer);
            return failed(error);
        }
    }
    litepress_summary summary = {.size = sizeof summary};
    if (litepress_finish(writer, &summary, &error))
        return failed(error);
    printf("%s: %llu rows, %llu bytes\n", path, (unsigned long long)summary.rows, (unsigned long long)summary.bytes);
    return 0;
}
