// Columns of a program, a thousand rows at a time, and a class that frees what it holds.
#include <litepress.h>

#include <cstdio>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

void check(litepress_status status, litepress_error *error) {
    if (status == LITEPRESS_OK) return;
    std::string message = litepress_error_message(error);
    litepress_error_free(error);
    throw std::runtime_error(message);
}

using Writer = std::unique_ptr<litepress_writer, decltype(&litepress_abort)>;

}  // namespace

int main(int count, char **arguments) try {
    const char *path = count > 1 ? arguments[1] : "batches.db";
    litepress_error *error = nullptr;
    litepress_writer *made = nullptr;
    check(litepress_create(path, "CREATE TABLE cell (id INTEGER PRIMARY KEY, name TEXT, value REAL)", nullptr, &made, &error), error);
    Writer writer(made, litepress_abort);
    std::size_t cell = 0;
    check(litepress_table(writer.get(), "cell", nullptr, 0, &cell, &error), error);

    constexpr std::size_t rows = 1000;
    std::vector<std::int64_t> ids(rows);
    std::vector<std::string> texts(rows);
    std::vector<litepress_bytes> names(rows);
    std::vector<double> values(rows);
    std::vector<std::uint8_t> valid((rows + 7) / 8, 0x7f);  // each eighth value is NULL
    for (std::int64_t batch = 0; batch < 100; batch++) {
        for (std::size_t row = 0; row < rows; row++) {
            ids[row] = batch * std::int64_t(rows) + std::int64_t(row) + 1;
            texts[row] = "cell " + std::to_string(ids[row]);
            names[row] = {texts[row].data(), texts[row].size()};
            values[row] = double(ids[row]) / 8;
        }
        const litepress_column columns[] = {
            {LITEPRESS_INTEGER, ids.data(), nullptr},
            {LITEPRESS_TEXT, names.data(), nullptr},
            {LITEPRESS_REAL, values.data(), valid.data()},
        };
        check(litepress_append(writer.get(), cell, columns, 3, rows, &error), error);
    }
    litepress_summary summary = {};
    summary.size = sizeof summary;
    check(litepress_finish(writer.release(), &summary, &error), error);
    std::printf("%s: %llu rows\n", path, static_cast<unsigned long long>(summary.rows));
} catch (const std::exception &error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
}
