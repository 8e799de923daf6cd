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

# A list of columns was taken for a frame of NULL rows: nothing was written, and nothing said.
write_sqlite(path, t = list(id = 1:3, name = c("a", "b", "c")))
db <- litepress_open(path)
litepress_append(db, "t", list(id = 4, name = "d"))
stopifnot(litepress_finish(db)$rows == 1)
expect(query("SELECT * FROM t"), c("1|a", "2|b", "3|c", "4|d"))
fails("data", "different lengths: 2, 3", write_sqlite(path, t = list(a = 1:2, b = 1:3), overwrite = TRUE))
fails("usage", "matrix is no data frame", write_sqlite(path, t = matrix(1:4, 2), overwrite = TRUE))
fails("usage", "names no columns", write_sqlite(path, t = list(1:3), overwrite = TRUE))

# Two frames for one table: the first one was written twice.
write_sqlite(path, t = data.frame(a = 1:2), t = data.frame(a = 11:12), schema = "CREATE TABLE t (a)", overwrite = TRUE)
expect(query("SELECT a FROM t"), c("1", "2", "11", "12"))

# The rows before a text that was refused stayed, and a corrected frame added them again. The error named the record of its batch.
bad <- rawToChar(as.raw(c(0x61, 0xff, 0xfe)))
frame <- data.frame(id = seq_len(70001), a = c(rep("x", 70000), bad))
db <- litepress_create(path, "CREATE TABLE t (id, a NOT NULL)", list(overwrite = TRUE))
error <- fails("data", "record 70001, column a: the text is not UTF-8 .value a<ff><fe>", litepress_append(db, "t", frame))
stopifnot(error$record == 70001, error$table == "t", error$column == "a")
frame$a[70001] <- "right"
litepress_append(db, "t", frame)
litepress_finish(db)
expect(query("SELECT count(*), count(DISTINCT id) FROM t"), "70001|70001")

# A rule that a row of a later batch breaks ends the writer.
frame$a[70001] <- NA
db <- litepress_create(path, "CREATE TABLE t (id, a NOT NULL)", list(overwrite = TRUE))
stopifnot(fails("constraint", "NULL", litepress_append(db, "t", frame))$record == 70001)
fails("usage", "was given up: .*NULL", litepress_append(db, "t", data.frame(id = 1L, a = "a")))
fails("usage", "was given up: .*NULL", litepress_finish(db))
litepress_abort(db)
expect(query("SELECT count(*) FROM t"), "70001")

# Texts of an unknown encoding were stored with the bytes of R: a<ff><fe>. In the locale C, those of UTF-8 were, too.
for (encoding in c("unknown", "UTF-8", "bytes")) {
  Encoding(bad) <- encoding
  fails("data", "not UTF-8", write_sqlite(path, t = data.frame(a = bad), overwrite = TRUE))
  fails("data", "record 2, .*not UTF-8", write_sqlite(path, t = list(a = structure(2:1, levels = c(bad, "b"), class = "factor")), overwrite = TRUE))
}
locale <- Sys.getlocale("LC_CTYPE")
unmarked <- rawToChar(as.raw(c(0xc3, 0xa9)))
invisible(Sys.setlocale("LC_CTYPE", "C"))
frame <- structure(list(c(unmarked, latin)), names = unmarked, row.names = 1:2, class = "data.frame")
write_sqlite(path, t = frame, overwrite = TRUE)
invisible(Sys.setlocale("LC_CTYPE", locale))
expect(query("SELECT hex(\"\u00e9\") FROM t"), c("C3A9", "73747261C39F65"))

# Batches were cut by rows alone: the texts of 65,536 rows were in memory twice, and could be beyond the 2 GiB of a column.
long <- strrep("x", 5e6)
frame <- data.frame(id = 1:12, text = long)
frame$blob <- rep(list(raw(3e6), NULL), 6)
write_sqlite(path, t = frame, overwrite = TRUE)
expect(query("SELECT count(*), sum(length(text)), sum(length(blob)), sum(id) FROM t"), "12|60000000|18000000|78")

# These ended R.
fails("usage", "no writer", litepress_abort(NULL))
fails("usage", "no writer", litepress_finish(NULL))
fails("usage", "no writer", litepress_append(NULL, "t", data.frame(a = 1)))
fails("data", "no whole factor", write_sqlite(path, t = list(a = structure(c(1L, 9L), levels = "a", class = "factor")), overwrite = TRUE))
short <- structure(list(a = 1:3, b = 1:2), row.names = 1:3, class = "data.frame")
fails("data", "column b: it has 2 values, and the frame 3 rows", write_sqlite(path, t = short, overwrite = TRUE))
# A level that is NA was the text NA.
write_sqlite(path, t = data.frame(a = addNA(factor(c("a", NA)))), overwrite = TRUE)
expect(query("SELECT quote(a) FROM t"), c("'a'", "NULL"))

# Numbers with a class lost what it says.
setClass("Period", contains = "numeric", slots = c(hour = "numeric"))
classed <- list(
  new("Period", 5, hour = 1), structure(2024.5, class = "yearmon"), structure(3661L, class = "ITime"), structure(1, class = "units", units = "km"), ts(1)
)
for (column in classed) fails("data", "has no form in SQLite", write_sqlite(path, t = list(a = column), overwrite = TRUE))
# I() says nothing about values.
write_sqlite(path, t = data.frame(a = I(1:2), b = I(list(as.raw(1), NULL))), overwrite = TRUE)
expect(query("SELECT a, quote(b) FROM t"), c("1|X'01'", "2|NULL"))

# A table without new rows is emptied, too.
db <- litepress_open(path, options = list(truncate = TRUE))
litepress_append(db, "t", data.frame(a = integer()))
litepress_finish(db)
expect(query("SELECT count(*) FROM t"), "0")

# The end of a forked process discarded the writer of its parent, with the temporary file. R itself removes the folder of tempfile() then.
if (.Platform$OS.type == "unix") {
  outside <- file.path(dirname(tempdir()), basename(tempfile("litepress-fork-")))
  dir.create(outside)
  path <- file.path(outside, "t.db")
  db <- litepress_create(path, "CREATE TABLE t (a)")
  litepress_append(db, "t", data.frame(a = 1:10))
  child <- parallel::mcparallel({
    error <- tryCatch(litepress_finish(db), litepress_error = conditionMessage)
    litepress_abort(db)
    error
  })
  stopifnot(grepl("fork", parallel::mccollect(child)[[1]]))
  suppressWarnings(parallel::mccollect(parallel::mcparallel(quit(save = "no"))))
  litepress_append(db, "t", data.frame(a = 1:10))
  stopifnot(litepress_finish(db)$rows == 20)
  unlink(outside, recursive = TRUE)
}

unlink(folder, recursive = TRUE)
cat("all tests passed\n")
