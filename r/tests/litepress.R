# Tests of the package. The program sqlite3 reads what was written.

library(litepress)

folder <- tempfile("litepress-")
dir.create(folder)
path <- file.path(folder, "t.db")

query <- function(sql, database = path) {
  output <- system2("sqlite3", c(shQuote(database), shQuote(sql)), stdout = TRUE)
  Encoding(output) <- "UTF-8"
  output
}
expect <- function(found, expected) {
  if (!identical(found, expected)) stop(paste(c("found", found, "expected", expected), collapse = "\n"))
}
fails <- function(kind, words, expression) {
  error <- tryCatch({ expression; NULL }, litepress_error = identity)
  if (is.null(error) || error$kind != kind || !grepl(words, conditionMessage(error))) {
    stop(paste("expected", kind, words, "and found", format(conditionMessage(error))))
  }
  invisible(error)
}

# Values of all types, with NA.
latin <- "stra\xdfe"
Encoding(latin) <- "latin1"
moment <- as.POSIXct("2024-01-02 03:04:05", tz = "UTC")
frame <- data.frame(
  logical = c(TRUE, NA), integer = c(-1L, NA), double = c(0.5, NA), text = c(latin, NA), factor = factor(c("b", NA), levels = c("a", "b")),
  date = as.Date(c("2024-02-29", NA)), time = c(moment, NA), fine = c(moment + 0.1, NA)
)
frame$blob <- list(as.raw(c(255, 0)), NULL)
summary <- write_sqlite(path, all = frame)
stopifnot(summary$rows == 2, summary$bytes == file.size(path))
expect(
  query("SELECT quote(logical), quote(\"integer\"), quote(\"double\"), quote(text), quote(factor), quote(date), quote(time), quote(fine), quote(blob) FROM \"all\""),
  c(
    "1|-1|0.5|'stra\u00dfe'|'b'|'2024-02-29'|'2024-01-02 03:04:05'|'2024-01-02 03:04:05.100000'|X'FF00'",
    "NULL|NULL|NULL|NULL|NULL|NULL|NULL|NULL|NULL"
  )
)
expect(query("PRAGMA integrity_check"), "ok")
expect(query("SELECT type FROM pragma_table_info('all')"), c("INTEGER", "INTEGER", "REAL", "TEXT", "TEXT", "TEXT", "TEXT", "TEXT", "BLOB"))

# integer64 of the package bit64: the bits of an integer in a double.
big <- structure(c(readBin(as.raw(c(1, 0, 0, 0, 0, 0, 0, 64)), "double"), readBin(as.raw(c(rep(0, 7), 128)), "double")), class = "integer64")
big_frame <- structure(list(n = big), row.names = 1:2, class = "data.frame")
write_sqlite(path, big = big_frame, overwrite = TRUE)
expect(query("SELECT quote(n) FROM big"), c("4611686018427387905", "NULL"))

# More rows than a batch, several tables, a schema, options.
rows <- 200000L
many <- data.frame(id = seq_len(rows), name = paste0("\u00e9 ", seq_len(rows)), value = seq_len(rows) / 4)
many$value[seq(7, rows, 7)] <- NA
schema <- "CREATE TABLE many (id INTEGER PRIMARY KEY, name TEXT, value REAL); CREATE TABLE other (a DEFAULT 5, b)"
write_sqlite(path, list(many = many, other = data.frame(b = 1:2)), schema = schema, overwrite = TRUE, options = list(page_size = 8192, threads = 2))
expect(query("SELECT count(*), count(value), sum(name = '\u00e9 ' || id AND (value = id / 4.0) IS NOT 0) FROM many"), "200000|171429|200000")
expect(query("SELECT a, b, (SELECT page_size FROM pragma_page_size) FROM other"), c("5|1|8192", "5|2|8192"))

# A database that exists.
db <- litepress_open(path, options = list(on_conflict = "update"))
litepress_append(db, "many", data.frame(id = c(1L, rows + 1L), name = c("updated", "added"), value = c(0, 1)))
stopifnot(litepress_finish(db)$rows == 1)
expect(query("SELECT name FROM many WHERE id IN (1, 200001)"), c("updated", "added"))
stopifnot(inherits(tryCatch(litepress_finish(db), error = identity), "error"))

# Errors, which leave nothing.
fails("exists", "exists", write_sqlite(path, t = mtcars))
unlink(path)
error <- fails("constraint", "NULL", write_sqlite(path, t = data.frame(a = c(1, NA)), schema = "CREATE TABLE t (a NOT NULL)"))
stopifnot(error$table == "t", error$column == "a", error$record == 2, inherits(error, "litepress_constraint"))
fails("schema", "colour", write_sqlite(path, t = data.frame(colour = 1), schema = "CREATE TABLE t (a)"))
fails("usage", "no table", write_sqlite(path, u = data.frame(a = 1), schema = "CREATE TABLE t (a)"))
fails("usage", "speed", write_sqlite(path, t = data.frame(a = 1), options = list(speed = 1)))
fails("usage", "no name", write_sqlite(path, mtcars))
fails("data", "complex", write_sqlite(path, t = data.frame(a = 1i)))
fails("data", "difftime", write_sqlite(path, t = data.frame(a = moment - (moment - 1))))
fails("data", "infinite time", write_sqlite(path, t = data.frame(a = as.Date(Inf, origin = "1970-01-01"))))
expect(list.files(folder), character())

# A writer that is forgotten leaves nothing either.
local({
  forgotten <- litepress_create(path, "CREATE TABLE t (a)")
  litepress_append(forgotten, "t", data.frame(a = 1:10))
})
invisible(gc())
expect(list.files(folder), character())

unlink(folder, recursive = TRUE)
cat("all tests passed\n")
