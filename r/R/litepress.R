# Writes data frames into SQLite databases. man/ is the documentation.

# Names of the statuses of the library, by their numbers.
KINDS <- c(
  "usage", "schema", "unsupported", "constraint", "data", "limit", "exists", "target", "no_space", "io", "corrupt", "interrupted"
)

write_sqlite <- function(path, ..., schema = NULL, overwrite = FALSE, options = list()) {
  tables <- list(...)
  if (length(tables) == 1 && is.null(names(tables)) && !is.data.frame(tables[[1]])) tables <- tables[[1]]
  if (length(tables) == 0 || is.null(names(tables)) || any(names(tables) == "")) {
    fail("usage", "a data frame has no name", "name each: write_sqlite(path, metrics = frame)")
  }
  if (is.null(schema)) schema <- paste(mapply(create_table, names(tables), tables), collapse = "\n")
  if (overwrite) options$overwrite <- TRUE
  db <- litepress_create(path, schema, options)
  on.exit(litepress_abort(db))
  for (name in names(tables)) litepress_append(db, name, tables[[name]])
  litepress_finish(db)
}

litepress_create <- function(path, schema, options = list()) begin(FALSE, path, schema, options)

litepress_open <- function(path, schema = NULL, options = list()) begin(TRUE, path, schema, options)

begin <- function(exists, path, schema, options) {
  names <- gsub("_", "-", names(options), fixed = TRUE)
  text <- function(value) {
    if (is.logical(value)) tolower(as.character(value)) else paste(format(value, scientific = FALSE, trim = TRUE), collapse = ",")
  }
  values <- vapply(options, text, "")
  schema <- if (!is.null(schema)) enc2utf8(paste(schema, collapse = "\n"))
  pointer <- checked(.Call(r_begin, exists, enc2utf8(path.expand(path)), schema, as.character(names), as.character(values)))
  structure(list(pointer = pointer, path = path), class = "litepress_writer")
}

litepress_append <- function(db, table, frame) {
  columns <- lapply(names(frame), function(name) stored(frame[[name]], table, name))
  number <- checked(.Call(r_table, db$pointer, enc2utf8(table), enc2utf8(names(frame))))
  checked(.Call(r_append, db$pointer, number, columns, as.double(nrow(frame))))
  invisible(db)
}

litepress_finish <- function(db) invisible(checked(.Call(r_finish, db$pointer)))

litepress_abort <- function(db) invisible(.Call(r_abort, db$pointer))

litepress_version <- function() .Call(r_version)

print.litepress_writer <- function(x, ...) {
  cat("litepress: rows for", x$path, "\n")
  invisible(x)
}

# Raises the error of the library, if its result is one.
checked <- function(result) {
  if (!is.list(result) || is.null(result$status)) return(result)
  kind <- if (result$status <= length(KINDS)) KINDS[[result$status]] else "internal"
  place <- result[c("file", "table", "column", "value")]
  fail(kind, result$message, result$advice, place, if (result$record > 0) result$record)
}

# Raises an error of the class litepress_error.
fail <- function(kind, message, advice = NULL, place = list(), record = NULL) {
  text <- paste(c(message, advice), collapse = "; ")
  parts <- c(list(message = text, call = NULL, kind = kind, advice = advice, record = record), place)
  stop(structure(class = c(paste0("litepress_", kind), "litepress_error", "error", "condition"), parts))
}

# Returns a column as the library takes it: numbers, texts, a factor, or a list of raw vectors.
stored <- function(column, table, name) {
  refuse <- function(advice) {
    message <- sprintf("table %s, column %s: %s has no form in SQLite", table, name, paste(class(column), collapse = "/"))
    fail("data", message, advice, list(table = table, column = name))
  }
  if (is.factor(column) || inherits(column, "integer64")) return(column)
  if (inherits(column, "POSIXlt")) column <- as.POSIXct(column)
  if (inherits(column, "Date")) return(formatted(column, function(days) format(days, "%Y-%m-%d")))
  if (inherits(column, "POSIXct")) return(formatted(column, moments))
  if (inherits(column, "difftime")) refuse('give its number: as.numeric(x, units = "secs")')
  if (is.list(column)) {
    if (!all(vapply(column, function(one) is.raw(one) || is.null(one), NA))) refuse("a list holds raw vectors and NULL")
    return(column)
  }
  if (!(is.logical(column) || is.integer(column) || is.double(column) || is.character(column)) || !is.null(dim(column))) {
    refuse("convert it, for example with as.character()")
  }
  column
}

# Returns times as a factor: each moment is formatted once.
formatted <- function(column, format) {
  numbers <- as.double(column)
  if (any(is.infinite(numbers))) fail("data", "an infinite time has no form in SQLite")
  found <- unique(numbers[!is.na(numbers)])
  moments <- if (inherits(column, "Date")) as.Date(floor(found), origin = "1970-01-01") else found
  structure(match(numbers, found), levels = as.character(format(moments)), class = "factor")
}

# Returns texts of seconds since 1970 in UTC, with six digits behind the second if it is not whole.
moments <- function(seconds) {
  whole <- floor(seconds)
  microseconds <- round((seconds - whole) * 1e6)
  whole <- whole + (microseconds == 1e6)
  microseconds[microseconds == 1e6] <- 0
  text <- format(as.POSIXct(whole, origin = "1970-01-01", tz = "UTC"), "%Y-%m-%d %H:%M:%S", tz = "UTC")
  ifelse(microseconds == 0, text, sprintf("%s.%06d", text, as.integer(microseconds)))
}

# Returns the CREATE statement of a data frame.
create_table <- function(table, frame) {
  type <- function(column) {
    if (is.factor(column) || inherits(column, c("Date", "POSIXt")) || is.character(column)) "TEXT"
    else if (inherits(column, "integer64") || is.integer(column) || is.logical(column)) "INTEGER"
    else if (is.list(column)) "BLOB"
    else "REAL"
  }
  quoted <- function(name) paste0('"', gsub('"', '""', name, fixed = TRUE), '"')
  columns <- paste(quoted(names(frame)), vapply(frame, type, ""), collapse = ", ")
  sprintf("CREATE TABLE %s (%s);", quoted(table), columns)
}
