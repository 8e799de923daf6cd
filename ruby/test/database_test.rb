# frozen_string_literal: true

require "litepress"
require "minitest/autorun"
require "open3"
require "tmpdir"

# A test with a folder for a database. The program sqlite3 reads what was written.
class DatabaseTest < Minitest::Test
  def setup
    @folder = Dir.mktmpdir
    @path = File.join(@folder, "t.db")
  end

  def teardown
    FileUtils.remove_entry(@folder)
  end

  def query(sql, path = @path)
    output, status = Open3.capture2e("sqlite3", path, sql)
    assert status.success?, output
    output.force_encoding(Encoding::UTF_8).lines.map(&:chomp)
  rescue Errno::ENOENT
    skip "the program sqlite3 is not installed"
  end
end
