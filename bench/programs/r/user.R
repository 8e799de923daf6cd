# Makes rows of the table user as vectors, and writes them with RSQLite or litepress: Rscript user.R METHOD TARGET ROWS

SCHEMA <- "CREATE TABLE user (id INTEGER NOT NULL PRIMARY KEY, area CHAR(6), age INTEGER NOT NULL, active INTEGER NOT NULL)"

made <- function(rows) {
  data.frame(
    area = sprintf("%06d", sample.int(1000000L, rows, replace = TRUE) - 1L), age = sample(c(5L, 10L, 15L), rows, replace = TRUE),
    active = sample(0:1, rows, replace = TRUE)
  )
}

rsqlite <- function(target, frame) {
  database <- DBI::dbConnect(RSQLite::SQLite(), target, synchronous = "off")
  DBI::dbExecute(database, "PRAGMA journal_mode = OFF")
  DBI::dbExecute(database, SCHEMA)
  DBI::dbAppendTable(database, "user", frame)
  DBI::dbDisconnect(database)
}

press <- function(target, frame) litepress::write_sqlite(target, user = frame, schema = SCHEMA)

arguments <- commandArgs(trailingOnly = TRUE)
method <- switch(arguments[[1]], rsqlite = rsqlite, litepress = press, stop("no method ", arguments[[1]]))
rows <- as.integer(arguments[[3]])
requireNamespace(if (arguments[[1]] == "litepress") "litepress" else "RSQLite", quietly = TRUE)
started <- proc.time()[["elapsed"]]
method(arguments[[2]], made(rows))
cat(sprintf('{"seconds": %.3f}\n', max(proc.time()[["elapsed"]] - started, 0.001)))
