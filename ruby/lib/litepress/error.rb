# frozen_string_literal: true

module Litepress
  # An error: what is wrong, where, and what to do about it.
  class Error < StandardError
    # Parts of the place, or nil; the advice, or nil.
    attr_reader :table, :column, :record, :value, :file, :advice

    def initialize(message, advice: nil, table: nil, column: nil, record: nil, value: nil, file: nil)
      super(advice ? "#{message}; #{advice}" : message)
      @advice, @table, @column, @record, @value, @file = advice, table, column, record, value, file
    end
  end

  # The call itself is wrong.
  class UsageError < Error; end
  # SQLite refuses the schema, or the data have other columns.
  class SchemaError < Error; end
  # litepress does not support this part of the schema.
  class UnsupportedError < Error; end
  # A row breaks a rule of its table.
  class ConstraintError < Error; end
  # A value that SQLite has no form for.
  class DataError < Error; end
  # A limit of SQLite.
  class LimitError < Error; end
  # The target exists.
  class TargetExistsError < Error; end
  # The target cannot be written: it is in use.
  class TargetError < Error; end
  # The disk is full.
  class NoSpaceError < Error; end
  # The operating system failed a call.
  class FileError < Error; end
  # The database is damaged.
  class CorruptError < Error; end
  # The progress asked to stop.
  class Stopped < Error; end

  # The classes by the status of the library.
  ERRORS = {
    1 => UsageError, 2 => SchemaError, 3 => UnsupportedError, 4 => ConstraintError, 5 => DataError, 6 => LimitError,
    7 => TargetExistsError, 8 => TargetError, 9 => NoSpaceError, 10 => FileError, 11 => CorruptError, 12 => Stopped
  }.freeze
  private_constant :ERRORS
end
