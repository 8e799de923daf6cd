# frozen_string_literal: true

# Tests of the package: LITEPRESS_LIBRARY=... ruby -I lib test/litepress_test.rb

require_relative "database_test"
require_relative "rows_test"

class LitepressTest < DatabaseTest
  SCHEMA = "CREATE TABLE t (id INTEGER PRIMARY KEY, name TEXT NOT NULL, value)"

  def test_rows_of_all_types
    summary = Litepress.create(@path, SCHEMA) do |db|
      t = db["t"]
      t << [1, "one", 0.5] << [2, :two, nil] << [3, "drei ß".encode("ISO-8859-1"), "\xFF\x00".b]
      t << [4, "four", true] << [5, "five", -(2**63)] << [6, "six", Time.utc(2024, 1, 2, 3, 4, 5)]
      t << [7, "seven", Time.new(2024, 1, 2, 3, 4, 5.25r, "+01:00")] << [8, "eight", Date.new(2024, 2, 29)] << [9, "", Float::NAN]
    end
    assert_equal 9, summary.rows
    assert_equal File.size(@path), summary.bytes
    expected = [
      "1|'one'|0.5", "2|'two'|NULL", "3|'drei ß'|X'FF00'", "4|'four'|1", "5|'five'|-9223372036854775808", "6|'six'|'2024-01-02 03:04:05'",
      "7|'seven'|'2024-01-02 02:04:05.250000'", "8|'eight'|'2024-02-29'", "9|''|NULL"
    ]
    assert_equal expected, query("SELECT id, quote(name), quote(value) FROM t")
    assert_equal ["ok"], query("PRAGMA integrity_check")
  end

  # Columns of one type go as columns, the others as values: both have the same result.
  def test_columns_and_values
    rows = Array.new(10_000) { |i| [i + 1, "name #{i}", i % 7 == 0 ? nil : i / 4.0] }
    Litepress.create(@path, SCHEMA) { |db| db["t"].insert_all(rows) }
    mixed = File.join(@folder, "mixed.db")
    Litepress.create(mixed, SCHEMA) { |db| db["t"].insert_all(rows + [[10_001, "text", "a"]]) }
    sum = "SELECT count(*), sum(id), sum(length(name)), sum(value), count(value) FROM t WHERE id <= 10000 AND (value IS NULL OR typeof(value) = 'real')"
    values = rows.filter_map(&:last)
    expected = [10_000, rows.sum(&:first), rows.sum { |row| row[1].size }, values.sum, values.size].join("|")
    assert_equal [expected], query(sum)
    assert_equal [expected], query(sum, mixed)
  end

  def test_hashes_name_columns
    Litepress.create(@path, SCHEMA) do |db|
      db["t"] << { name: "a", value: 1 } << { "value" => 2, "name" => "b" } << { name: "c" }
      db.table("t", :name) << ["d"]
    end
    assert_equal %w[1|a|1 2|b|2 3|c| 4|d|], query("SELECT * FROM t")
  end

  # A hash after arrays was refused: the columns had no names.
  def test_hashes_after_arrays
    Litepress.create(@path, SCHEMA) { |db| db["t"] << [1, "a", 1] << { name: "b", id: 2 } }
    assert_equal %w[1|a|1 2|b|], query("SELECT * FROM t")
  end

  def test_rows_are_added_and_updated
    Litepress.create(@path, SCHEMA) { |db| db["t"] << [1, "a", 1] }
    summary = Litepress.open(@path, on_conflict: :update) { |db| db["t"] << [1, "b", 2] << [2, "c", 3] }
    assert_equal %w[1|b|2 2|c|3], query("SELECT * FROM t")
    assert_equal 1, summary.rows
  end

  def test_errors_have_a_class_and_a_place
    error = assert_raises(Litepress::ConstraintError) { Litepress.create(@path, SCHEMA) { |db| db["t"] << [1, nil, 2] } }
    assert_equal ["t", "name", 1], [error.table, error.column, error.record]
    refute File.exist?(@path)
    assert_raises(Litepress::SchemaError) { Litepress.create(@path, "CREATE") }
    assert_raises(Litepress::UsageError) { Litepress.create(@path, SCHEMA, speed: 1) }
    assert_raises(Litepress::UsageError) { Litepress.create(@path, SCHEMA) { |db| db["u"] << [1] } }
    error = assert_raises(Litepress::DataError) { Litepress.create(@path, SCHEMA) { |db| db["t"] << [1, "a", 2] << [2**64, "b", 1] } }
    assert_match(/record 2: .*64 bits/, error.message)
    assert_raises(Litepress::DataError) { Litepress.create(@path, SCHEMA) { |db| db["t"] << [1, "\xff", 2] } }
    assert_raises(Litepress::DataError) { Litepress.create(@path, SCHEMA) { |db| db["t"] << [1, Object.new, 2] } }
    assert_raises(Litepress::DataError) { Litepress.create(@path, SCHEMA) { |db| db["t"] << [1, "a", 2] << [1, "a"] } }
    error = assert_raises(Litepress::DataError) { Litepress.create(@path, SCHEMA) { |db| db["t"] << [1, "a"] } }
    assert_match(/2 values for 3 columns/, error.message)
    refute File.exist?(@path)
    Litepress.create(@path, SCHEMA) { |db| db["t"] << [1, "a", 2] }
    assert_raises(Litepress::TargetExistsError) { Litepress.create(@path, SCHEMA) { nil } }
    assert_equal 1, Litepress.create(@path, SCHEMA, overwrite: true, page_size: 8192) { |db| db["t"] << [1, "a", 2] }.rows
    assert_equal ["8192"], query("PRAGMA page_size")
  end

  def test_a_block_that_raises_leaves_nothing
    assert_raises(RuntimeError) do
      Litepress.create(@path, SCHEMA) do |db|
        db["t"].insert_all(Array.new(5000) { |i| [i, "a", i] })
        raise "stop"
      end
    end
    assert_empty Dir.children(@folder)
  end

  def test_a_writer_without_a_block
    db = Litepress.create(@path, SCHEMA)
    db["t"] << [1, "a", 2]
    assert_equal 1, db.finish.rows
    assert_raises(Litepress::UsageError) { db.finish }
    db = Litepress.create(@path, SCHEMA, overwrite: true)
    db["t"] << [2, "b", 2]
    db.abort
    assert_equal ["1|a|2"], query("SELECT * FROM t")
  end

  def test_the_progress_may_stop_the_run
    rows = (1..).lazy.map { |i| [i, "a text of a row", i] }
    seen = []
    progress = lambda do |given, _bytes, phase|
      seen << [given, phase]
      :stop if seen.size == 3
    end
    assert_raises(Litepress::Stopped) { Litepress.create(@path, SCHEMA, progress: progress) { |db| db["t"].insert_all(rows) } }
    assert_equal 3, seen.size
    raising = ->(*) { raise KeyError, "of the progress" }
    assert_raises(KeyError) { Litepress.create(@path, SCHEMA, progress: raising) { |db| db["t"].insert_all(rows) } }
    assert_empty Dir.children(@folder)
  end

  def test_threads_have_writers_of_their_own
    threads = Array.new(4) do |number|
      Thread.new do
        Litepress.create(File.join(@folder, "#{number}.db"), SCHEMA) do |db|
          db["t"].insert_all(Array.new(20_000) { |i| [i, "thread #{number}", i] })
        end
      end
    end
    assert_equal [20_000] * 4, threads.map { |thread| thread.value.rows }
  end
end
