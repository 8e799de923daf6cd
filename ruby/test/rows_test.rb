# frozen_string_literal: true

# Tests of rows that change, that are refused, and of writers that threads and processes share: see litepress_test.rb.

require "timeout"
require_relative "database_test"

class RowsTest < DatabaseTest
  PAIRS = "CREATE TABLE t (a, b)"
  KEYED = "CREATE TABLE t (id INTEGER PRIMARY KEY, a DEFAULT 'a', b DEFAULT 'b')"

  # References were kept until 4,096 rows were there: all rows had the last content of an Array, a Hash or a String that was used again.
  def test_rows_may_change_afterwards
    Litepress.create(@path, PAIRS) do |db|
      row, text, hash = [nil, nil], +"", {}
      3.times { |i| db["t"] << [row[0] = i, text.replace("text #{i}")] }
      3.times do |i|
        row[1] = i
        db["t"] << row
        hash[:b] = hash[:a] = i
        db["t"] << hash
      end
      db["t"].insert_all(Enumerator.new { |rows| 2.times { |i| rows << row.replace([i, "e#{i}"]) } })
    end
    assert_equal ["0|text 0", "1|text 1", "2|text 2", "2|0", "0|0", "2|1", "1|1", "2|2", "2|2", "0|e0", "1|e1"], query("SELECT * FROM t")
  end

  # A bad value was found when its batch was handed over, and thousands of good rows were lost with it.
  def test_a_refused_row_is_left_out_alone
    refused = []
    summary = Litepress.create(@path, PAIRS) do |db|
      10_000.times do |i|
        db["t"] << (i == 3000 ? [i] : [i, i == 2000 ? Object.new : "text"])
      rescue Litepress::DataError => error
        refused << [i, error.record, error.column]
      end
    end
    assert_equal [[2000, 2001, "b"], [3000, 3000, nil]], refused
    assert_equal 9998, summary.rows
    assert_equal ["9998|0"], query("SELECT count(*), sum(a IN (2000, 3000)) FROM t")
    rows = Array.new(5000) { |i| [i, i == 4500 ? "\xff" : "text"] }
    summary = Litepress.create(@path, PAIRS, overwrite: true) do |db|
      assert_equal 4501, assert_raises(Litepress::DataError) { db["t"].insert_all(rows) }.record
    end
    assert_equal 4500, summary.rows
  end

  # The batch was counted in rows alone: 4,096 blobs of a megabyte were in memory at once, and their column was beyond its limit.
  def test_batches_are_cut_by_bytes
    blob = ("x" * 600_000).b
    summary = Litepress.create(@path, PAIRS) do |db|
      table = db["t"]
      20.times do |i|
        table << [i, blob]
        assert_operator table.waiting, :<, 2
      end
      table.insert_all(Array.new(20) { |i| [i, blob] })
    end
    assert_equal 40, summary.rows
    assert_equal ["40|600000"], query("SELECT count(*), max(length(b)) FROM t")
  end

  # finish that raised could be called again, and then published an empty database.
  def test_a_failure_ends_the_writer
    db = Litepress.create(@path, "CREATE TABLE t (a, b NOT NULL)")
    3.times { |i| db["t"] << [i, i == 1 ? nil : "text"] }
    assert_raises(Litepress::ConstraintError) { db.finish }
    assert_raises(Litepress::UsageError) { db.finish }
    assert_empty Dir.children(@folder)

    db = Litepress.create(@path, "CREATE TABLE t (a, b NOT NULL)")
    db["t"] << [1, nil]
    assert_raises(Litepress::ConstraintError) { db["t"].flush }
    assert_raises(Litepress::ConstraintError) { db["t"] << [1, 1] }
    assert_raises(Litepress::ConstraintError) { db.finish }
    assert_empty Dir.children(@folder)
  end

  # A hash decided the columns of arrays, too, in its own order: name and age were exchanged.
  def test_arrays_after_hashes_have_the_order_of_the_table
    Litepress.create(@path, "CREATE TABLE t (name, age)") { |db| db["t"] << { age: 33, name: "Ann" } << ["Bob", 44] }
    assert_equal ["Ann|33", "Bob|44"], query("SELECT * FROM t")
  end

  # A row that lacks a key got NULL for it: in a new database in place of the DEFAULT, in an update in place of the old value. A key
  # that the first row lacked was an error, and with a default of the hash it was lost.
  def test_rows_with_other_keys
    Litepress.create(@path, KEYED) do |db|
      counts = Hash.new(0).merge!(id: 3, b: 3)
      db["t"] << { id: 1, a: 1, b: nil } << { "b" => 2, "ID" => 2 } << counts << {} << [5, 5, 5]
      db.table("t", :id, :b) << { id: 6 }
      db["t"].insert_all([{ id: 7, b: 7 }, { b: 8, id: 8 }, { id: 9 }])
      assert_raises(Litepress::SchemaError) { db["t"] << { id: 9, c: 1 } }
      assert_raises(Litepress::DataError) { db["t"] << { id: 9, "id" => 10 } }
      assert_match(/no column was named a/, assert_raises(Litepress::DataError) { db.table("t", :id, :b) << { id: 9, a: 1 } }.message)
    end
    assert_equal ["1|1|", "2|a|2", "3|a|3", "4|a|b", "5|5|5", "6|a|b", "7|a|7", "8|a|8", "9|a|b"], query("SELECT * FROM t")
    Litepress.open(@path, on_conflict: :update) do |db|
      db["t"] << { id: 1, a: "new" }
      error = assert_raises(Litepress::UsageError) { db["t"] << { id: 2, b: "new" } }
      assert_match(/another writer/, error.message)
      db["t"] << { a: "new", id: 2 }
    end
    assert_equal ["1|new|", "2|new|2"], query("SELECT * FROM t WHERE id < 3")
  end

  # Each Table handed over its rows when it was full or at the end: of rows with one key the wrong one was the last.
  def test_rows_of_two_tables_stay_in_the_order_of_the_calls
    Litepress.create(@path, KEYED, on_conflict: :replace) do |db|
      all, part = db["t"], db.table("T", :id, :a)
      all << [1, "a0", "b0"]
      part << [1, "a1"]
      all << [1, "a2", "b2"]
    end
    assert_equal ["1|a2|b2"], query("SELECT * FROM t")
  end

  # The library did not hear of a table without rows, and its old ones stayed.
  def test_truncate_empties_a_table_without_new_rows
    Litepress.create(@path, PAIRS) { |db| db["t"] << [1, 2] }
    Litepress.open(@path, truncate: true) { |db| db["t"].insert_all([]) }
    assert_equal ["0"], query("SELECT count(*) FROM t")
  end

  # Fiddle lets other threads run while the library works: two calls of one writer ended in panics and freed memory twice.
  def test_threads_share_a_writer
    summary = Litepress.create(@path, PAIRS) do |db|
      table = db["t"]
      threads = Array.new(4) do |number|
        Thread.new { 6000.times { |i| table << [(number * 6000) + i, i.odd? ? i : "text #{i}"] } }
      end
      threads.each(&:join)
    end
    assert_equal 24_000, summary.rows
    assert_equal ["24000|24000", "ok"], query("SELECT count(*), count(DISTINCT a) FROM t; PRAGMA integrity_check")
  end

  # abort and finish in the progress freed the writer while the library ran in it.
  def test_the_progress_cannot_use_its_writer
    [:abort, :finish, ->(db) { db["t"] << [1, 2] }].each do |use|
      db = nil
      db = Litepress.create(@path, PAIRS, progress: ->(*) { use.to_proc.call(db) })
      error = assert_raises(Litepress::UsageError) do
        Timeout.timeout(60) { loop { db["t"] << [1, "a text of a row"] } }
      end
      assert_match(/progress/, error.message)
      db.abort
      assert_empty Dir.children(@folder)
    end
  end

  # A flush that the progress tried took off the rows that another table had waiting.
  def test_a_refused_flush_keeps_the_rows
    db = nil
    refused = 0
    progress = lambda do |*|
      db["u"].flush
    rescue Litepress::UsageError
      refused += 1
    end
    db = Litepress.create(@path, "#{PAIRS}; CREATE TABLE u (a)", progress: progress)
    db["u"] << [1]
    Timeout.timeout(60) { db["t"] << [1, "text"] until refused.positive? }
    db.finish
    assert_equal ["1"], query("SELECT a FROM u")
  end

  # The end of a forked process discarded the writer of its parent, with the temporary file.
  def test_a_fork_leaves_the_writer_alone
    skip "this system has no fork" unless Process.respond_to?(:fork)
    summary = Litepress.create(@path, PAIRS) do |db|
      db["t"].insert_all(Array.new(5000) { |i| [i, "text"] })
      # One ends with its finalizers, one uses the writer.
      children = [fork { nil }]
      children << fork do
        db["t"] << [1, 2]
        db.finish
      rescue Litepress::UsageError
        db.abort
        exit!(7)
      end
      assert_equal [0, 7], (children.map { |child| Process.wait2(child).last.exitstatus })
      db["t"] << [5000, "text"]
    end
    assert_equal 5001, summary.rows
    assert_equal ["5001", "ok"], query("SELECT count(*) FROM t; PRAGMA integrity_check")
  end

  # C read path, schema and names up to the NUL: the database had another name, and lacked tables.
  def test_a_nul_is_refused
    assert_raises(Litepress::UsageError) { Litepress.create("#{@path}\0.bak", PAIRS) }
    assert_raises(Litepress::UsageError) { Litepress.create(@path, "#{PAIRS};\0 CREATE TABLE u (a)") }
    assert_raises(Litepress::UsageError) { Litepress.create(@path, PAIRS, memory: "64MiB\0") }
    Litepress.create(@path, PAIRS) do |db|
      assert_raises(Litepress::UsageError) { db["t\0"] << [1, 2] }
      assert_raises(Litepress::UsageError) { db["t"] << { "a\0": 1 } }
    end
  end
end
