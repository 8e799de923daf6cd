# frozen_string_literal: true

module Litepress
  # A table of a Writer, which takes rows.
  class Table
    # Rows that are given to the library at once.
    BATCH_ROWS = 4096

    def initialize(writer, name, columns)
      @writer, @name, @columns = writer, name, columns&.map(&:to_s)
      @rows = []
      @given = 0
    end

    # Inserts a row: an Array with a value for every column, or a Hash with some of them by name (String or Symbol).
    #
    # Integer, Float, String (binary ones are blobs), Symbol, true and false (1 and 0), Time and DateTime (UTC), Date and nil have a
    # form in SQLite.
    def <<(row)
      fix_columns(row) unless @columns
      @rows << row
      flush if @rows.size >= BATCH_ROWS
      self
    end

    # Inserts all rows of an Enumerable.
    def insert_all(rows)
      rows.each { |row| self << row }
      self
    end

    # Gives the waiting rows to the library.
    def flush
      return if @rows.empty?

      rows, @rows = @rows, []
      number # asks for the table before its columns are used
      columns = columns_of(rows)
      if columns.all?(&:type)
        append(columns.map { |column| Columns.pack(column) }, rows.size)
      else
        columns.map(&:values).transpose.each { |row| insert(row) }
      end
      @given += rows.size
      nil
    end

    private

    # Rows that are hashes name their columns; the others have all columns of the table.
    def fix_columns(row)
      return unless row.is_a?(Hash)

      @columns = row.keys.map(&:to_s)
      @keys = row.keys
    end

    def columns_of(rows)
      width = @columns&.size || rows.first.size
      rows = rows.each_with_index.map { |row, index| row.is_a?(Hash) ? by_name(row, index) : row.to_a }
      wrong = rows.index { |row| row.size != width }
      refuse_width(rows[wrong].size, width, @given + wrong + 1) if wrong
      rows.transpose.each_with_index.map do |values, column|
        Columns.plain(values, @columns ? @columns[column] : "column #{column + 1}", @given + 1)
      end
    end

    def refuse_width(size, width, record)
      message = "table #{@name}: record #{record}: the row has #{size} values for #{width} columns"
      raise DataError.new(message, table: @name, record: record)
    end

    def by_name(row, index)
      return row.values if row.keys == @keys

      named = row.transform_keys(&:to_s)
      unknown = named.keys - (@columns || [])
      return named.values_at(*@columns) if unknown.empty?

      advice = "name all columns: db.table(#{@name.inspect}, #{unknown.map(&:inspect).join(', ')}, ...)"
      record = @given + index + 1
      message = "table #{@name}: record #{record}: the first row did not name #{unknown.join(', ')}"
      raise DataError.new(message, table: @name, record: record, advice: advice)
    end

    def number
      @number ||= @writer.number(@name, @columns)
    end

    def append(packed, rows)
      bytes = packed.map(&:bytes).join
      @writer.check(:litepress_append, number, bytes, packed.size, rows)
    end

    # Inserts one row: its columns have values of several types.
    def insert(row)
      buffers = []
      bytes = row.map { |value| Columns.value(value, buffers) }.join
      @writer.check(:litepress_insert, number, bytes, row.size)
    end
  end
end
