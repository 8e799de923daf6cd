# Inserts hashes in memory with the gem sqlite3: from one INSERT after another to many rows a statement.
#
#     ruby metrics.rb METHOD[+backup] TARGET ROWS [CHECK]
#
# With `+backup` the rows are inserted in memory, and the database is written to TARGET by SQLite's backup API.

require "json"
require "sqlite3"

NAMES = %w[foo bar baz bad bleg]

def make_rows(count)
  random = Random.new(42)
  Array.new(count) { { name: NAMES.sample(random: random), value: random.rand } }
end

def create(path)
  SQLite3::Database.new(path).tap do |database|
    database.execute("CREATE TABLE metrics (name VARCHAR NOT NULL, value FLOAT NOT NULL)")
  end
end

# Returns an INSERT of several rows like this one.
def insert_sql(row, count = 1)
  placeholders = "(#{(["?"] * row.length).join(", ")})"
  "INSERT INTO metrics (#{row.keys.join(", ")}) VALUES #{([placeholders] * count).join(", ")}"
end

# Compiles a statement for each row, and closes it: an open statement prevents the database from closing.
def one_by_one(database, rows)
  sql = insert_sql(rows.first)
  rows.each { |row| database.query(sql, row.values).close }
end

def prepared(database, rows)
  database.prepare(insert_sql(rows.first)) do |statement|
    rows.each { |row| statement.execute(row.values) }
  end
end

# Inserts as many rows a statement as it has room for parameters, and the rest with a smaller statement.
def stuffed(database, rows, parameters)
  rows_per_statement = parameters / rows.first.length
  full, rest = rows.each_slice(rows_per_statement).partition { |slice| slice.length == rows_per_statement }
  unless full.empty?
    database.prepare(insert_sql(rows.first, rows_per_statement)) do |statement|
      full.each { |slice| statement.execute(slice.flat_map(&:values)) }
    end
  end
  rest.each { |slice| database.query(insert_sql(rows.first, slice.length), slice.flat_map(&:values)).close }
end

def risk_the_file(database)
  database.execute("PRAGMA synchronous = OFF")
  database.execute("PRAGMA journal_mode = OFF")
end

def stuffing(database, rows, parameters)
  risk_the_file(database)
  database.transaction { stuffed(database, rows, parameters) }
end

METHODS = {
  "naive" => ->(database, rows) { one_by_one(database, rows) },
  "prepared" => ->(database, rows) { prepared(database, rows) },
  "transaction" => ->(database, rows) { database.transaction { one_by_one(database, rows) } },
  "transaction-prepared" => ->(database, rows) { database.transaction { prepared(database, rows) } },
  "pragmas" => lambda do |database, rows|
    risk_the_file(database)
    database.transaction { prepared(database, rows) }
  end,
  "stuffing-999" => ->(database, rows) { stuffing(database, rows, 999) },
  "stuffing-32766" => ->(database, rows) { stuffing(database, rows, 32_766) },
}

# Copies a page a step, like the article.
def back_up(database, path)
  target = SQLite3::Database.new(path)
  backup = SQLite3::Backup.new(target, "main", database, "main")
  backup.step(1)
  backup.step(1) while backup.remaining > 0
  backup.finish
  target.close
end

def fill(insert, rows, path, backup)
  database = create(backup ? ":memory:" : path)
  insert.call(database, rows)
  back_up(database, path) if backup
  database.close unless path == ":memory:"
  database
end

method, path, count, check = ARGV
name, backup = method.split("+")
rows = make_rows(Integer(count))
started = Process.clock_gettime(Process::CLOCK_MONOTONIC)
database = fill(METHODS.fetch(name), rows, path, backup)
result = { seconds: Process.clock_gettime(Process::CLOCK_MONOTONIC) - started }
result[:check] = database.execute(check).first if check
puts JSON.generate(result)
