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
  frames <- lapply(seq_along(tables), function(at) frame_of(tables[[at]], names(tables)[[at]]))
  if (is.null(schema)) schema <- paste(mapply(create_table, names(tables), lapply(frames, `[[`, "columns")), collapse = "\n")
  if (overwrite) options$overwrite <- TRUE
  db <- litepress_create(path, schema, options)
  on.exit(litepress_abort(db))
  # By their places: two frames may go to one table.
  for (at in seq_along(tables)) litepress_append(db, names(tables)[[at]], tables[[at]])
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
  schema <- if (!is.null(schema)) utf8(paste(schema, collapse = "\n"))
  path <- one_text(path, "the path")
  pointer <- checked(.Call(r_begin, exists, utf8(path.expand(path)), schema, as.character(names), as.character(values)))
  structure(list(pointer = pointer, path = path), class = "litepress_writer")
}

litepress_append <- function(db, table, frame) {
  table <- one_text(table, "the name of a table")
  pointer <- usable(db)
  frame <- frame_of(frame, table)
  names <- as.character(names(frame$columns))
  # All columns are looked at before the first row is taken.
  columns <- lapply(seq_along(names), function(at) {
    column <- stored(frame$columns[[at]], table, names[[at]])
    if (length(column) != frame$rows) {
      message <- sprintf("table %s, column %s: it has %d values, and the frame %.0f rows", table, names[[at]], length(column), frame$rows)
      fail("data", message, NULL, list(table = table, column = names[[at]]))
    }
    column
  })
  number <- checked(.Call(r_table, pointer, utf8(table), utf8(names)))
  checked(.Call(r_append, pointer, number, columns, as.double(frame$rows), is_native_utf8()))
  invisible(db)
}

litepress_finish <- function(db) invisible(checked(.Call(r_finish, usable(db))))

litepress_abort <- function(db) invisible(.Call(r_abort, pointer_of(db)))

# Returns the pointer of a writer.
pointer_of <- function(db) {
  if (!inherits(db, "litepress_writer") || typeof(db$pointer) != "externalptr") {
    fail("usage", "this is no writer", "litepress_create and litepress_open return one")
  }
  db$pointer
}

# Returns the pointer of a writer that takes rows.
usable <- function(db) {
  pointer <- pointer_of(db)
  refusal <- .Call(r_refusal, pointer)
  if (!is.null(refusal)) fail("usage", refusal)
  pointer
}

one_text <- function(text, what) {
  if (!is.character(text) || length(text) != 1 || is.na(text)) fail("usage", paste(what, "is not one text"))
  text
}

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

# Returns columns and number of rows of a data frame, or of a list of columns that have the same length.
frame_of <- function(frame, table) {
  if (is.data.frame(frame)) return(list(columns = as.list(frame), rows = .row_names_info(frame, 2L)))
  names <- names(frame)
  if (!is.list(frame) || is.object(frame) || is.null(names) || anyNA(names) || any(names == "")) {
    what <- if (is.list(frame)) "the list names no columns" else paste(class(frame)[[1]], "is no data frame")
    fail("usage", sprintf("table %s: %s", table, what), "give a data frame, or a list of columns by their names", list(table = table))
  }
  rows <- unique(lengths(frame))
  if (length(rows) > 1) {
    fail("data", sprintf("table %s: the columns of the list have different lengths: %s", table, paste(rows, collapse = ", ")), NULL, list(table = table))
  }
  list(columns = frame, rows = rows)
}

# Returns whether texts without a mark are UTF-8: in the locale C, R has no encoding for what is not ASCII.
is_native_utf8 <- function() l10n_info()[["UTF-8"]] || Sys.getlocale("LC_CTYPE") %in% c("C", "POSIX")

# Returns names in UTF-8.
utf8 <- function(text) {
  if (is_native_utf8()) {
    unmarked <- Encoding(text) == "unknown" & validUTF8(text)
    Encoding(text[unmarked]) <- "UTF-8"
  }
  enc2utf8(text)
}

# Returns the places of texts that have no form in UTF-8: R would write them as a<ff>.
not_utf8 <- function(texts) {
  if (!is_native_utf8()) return(which(!validEnc(texts)))
  bad <- which(!validUTF8(texts))
  bad[Encoding(texts[bad]) != "latin1"]
}

# Returns a column as the library takes it: numbers, texts, a factor, or a list of raw vectors.
stored <- function(column, table, name) {
  refuse <- function(advice) {
    message <- sprintf("table %s, column %s: %s has no form in SQLite", table, name, paste(class(column), collapse = "/"))
    fail("data", message, advice, list(table = table, column = name))
  }
  refuse_texts <- function(texts, records) {
    bad <- not_utf8(texts)
    if (length(bad) == 0) return()
    record <- records(bad[[1]])
    value <- iconv(texts[[bad[[1]]]], "ASCII", "ASCII", sub = "byte")
    message <- sprintf("table %s: record %.0f, column %s: the text is not UTF-8 (value %s)", table, record, name, value)
    place <- list(table = table, column = name, value = value)
    fail("data", message, "mark its encoding with Encoding(), or give it as a list of raw vectors", place, record)
  }
  # I() marks a column for data.frame() alone.
  if (inherits(column, "AsIs")) oldClass(column) <- setdiff(oldClass(column), "AsIs")
  if (isS4(column) || (!is.null(dim(column)))) refuse("convert it, for example with as.numeric() or as.character()")
  if (is.factor(column)) {
    levels <- levels(column)
    codes <- unclass(column)
    if (typeof(column) != "integer" || !is.character(levels) || any(codes < 1L | codes > length(levels), na.rm = TRUE)) {
      refuse("it is no whole factor: make it again with factor()")
    }
    refuse_texts(levels, function(level) match(level, codes, nomatch = 0L))
    return(column)
  }
  if (inherits(column, "integer64") && is.double(column)) return(column)
  if (inherits(column, "POSIXlt")) column <- as.POSIXct(column)
  if (inherits(column, "Date")) return(formatted(column, function(days) format(days, "%Y-%m-%d")))
  if (inherits(column, "POSIXct")) return(formatted(column, moments))
  if (inherits(column, "difftime")) refuse('give its number: as.numeric(x, units = "secs")')
  if (is.list(column)) {
    if (!all(vapply(column, function(one) is.raw(one) || is.null(one), NA))) refuse("a list holds raw vectors and NULL")
    return(column)
  }
  if (is.character(column)) {
    refuse_texts(column, identity)
    return(column)
  }
  # A class says what a number means: its unit, its origin.
  if (is.object(column) || !(is.logical(column) || is.integer(column) || is.double(column))) {
    refuse("convert it, for example with as.numeric() or as.character()")
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
