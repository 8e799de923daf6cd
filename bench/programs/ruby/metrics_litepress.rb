# Inserts hashes in memory with the Ruby package of litepress: LITEPRESS_LIBRARY=LIBRARY ruby metrics_litepress.rb METHOD TARGET ROWS

require "json"
require_relative "../../../ruby/lib/litepress"

NAMES = %w[foo bar baz bad bleg]
SCHEMA = "CREATE TABLE metrics (name VARCHAR NOT NULL, value FLOAT NOT NULL)"

METHODS = {
  "insert" => ->(metrics, rows) { rows.each { |row| metrics << row } },
  "insert-all" => ->(metrics, rows) { metrics.insert_all(rows) },
}

method, path, count = ARGV
random = Random.new(42)
rows = Array.new(Integer(count)) { { name: NAMES.sample(random: random), value: random.rand } }
started = Process.clock_gettime(Process::CLOCK_MONOTONIC)
Litepress.create(path, SCHEMA) { |database| METHODS.fetch(method).call(database["metrics"], rows) }
puts JSON.generate({ seconds: Process.clock_gettime(Process::CLOCK_MONOTONIC) - started })
