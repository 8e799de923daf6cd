# frozen_string_literal: true

require_relative "litepress/error"
require_relative "litepress/library"
require_relative "litepress/options"
require_relative "litepress/columns"
require_relative "litepress/table"
require_relative "litepress/writer"

# Writes SQLite databases by building b-tree pages bottom-up on all cores, instead of inserting row by row.
#
#     Litepress.create("metrics.db", "CREATE TABLE metrics (name TEXT, value REAL)") do |db|
#       db["metrics"] << ["load", 0.5] << ["temperature", 21.5]
#     end
#
# The file appears under its name, whole and synced, when the block returns. If it raises, there is none.
module Litepress
  # Begins a new database, and finishes it after the block. Without a block, returns a Writer, which is to be finished.
  #
  # `schema` is the text of its CREATE statements. Options have the names of the program, with `_` for `-`: `overwrite: true`,
  # `page_size: 8192`, `on_conflict: :ignore`, `threads: 4`, `memory: "512MiB"`. `progress` is called with rows, bytes and a phase, up to ten times
  # a second; if it returns `:stop`, the run ends and nothing is left.
  def self.create(path, schema, progress: nil, **options, &block)
    Writer.begin(:litepress_create, path, schema, progress, options, &block)
  end

  # Begins to add rows to a database that exists: all of them in one transaction, when the block returns. `schema` makes tables
  # that it lacks. `on_conflict: :update` updates the rows of existing keys.
  def self.open(path, schema = nil, progress: nil, **options, &block)
    Writer.begin(:litepress_open, path, schema, progress, options, &block)
  end

  # Returns the version of the library.
  def self.version
    Library.call(:litepress_version).to_s
  end
end
