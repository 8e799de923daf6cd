# frozen_string_literal: true

# Half a million metrics of a simulator, as hashes, into a database: `ruby examples/metrics.rb metrics.db`.

require "litepress"

random = Random.new(42)
names = %w[foo bar baz bad bleg]
values = Array.new(500_000) { { name: names.sample(random: random), value: random.rand } }

started = Process.clock_gettime(Process::CLOCK_MONOTONIC)
schema = "CREATE TABLE metrics (name VARCHAR NOT NULL, value FLOAT NOT NULL)"
summary = Litepress.create(ARGV.fetch(0), schema, overwrite: true) { |db| db["metrics"].insert_all(values) }
seconds = Process.clock_gettime(Process::CLOCK_MONOTONIC) - started
puts format("%<rows>d rows in %<seconds>.2f s", rows: summary.rows, seconds: seconds)
