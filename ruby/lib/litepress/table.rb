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
      fix_columns(row) unless @columns || !@rows.empty?
      @rows << row
      flush if @rows.size >= BATCH_ROWS
      self
    end

    # Inserts all rows of an Enumerable.
    def insert_all(rows)
      rows.each_slice(BATCH_ROWS) do |slice|
        if slice.size == BATCH_ROWS && @rows.empty?
          fix_columns(slice.first) unless @columns
          @rows = slice
          flush
        else
          slice.each { |row| self << row }
        end
      end
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
      values_of(rows).each_with_index.map { |values, column| Columns.plain(values, @columns[column], @given + 1) }
    end

    # Returns the values of each column.
    def values_of(rows)
      values = values_by_key(rows) if @keys
      return values if values

      rows = rows.each_with_index.map { |row, index| row.is_a?(Hash) ? by_name(row, index) : row.to_a }
      width = @columns.size
      wrong = rows.index { |row| row.size != width }
      refuse_width(rows[wrong].size, width, @given + wrong + 1) if wrong
      rows.transpose
    end

    # Returns the values of each column if all rows are hashes with the keys of the first, else nil. No array is made for a row.
    def values_by_key(rows)
      width = @keys.size
      return unless rows.all? { |row| row.is_a?(Hash) && row.size == width }

      columns = @keys.map { |key| rows.map { |row| row[key] } }
      # A key that is absent has the value nil, too.
      has_all = columns.zip(@keys).all? { |values, key| !values.include?(nil) || rows.all? { |row| row.key?(key) } }
      columns if has_all
    end

    def refuse_width(size, width, record)
      message = "table #{@name}: record #{record}: the row has #{size} values for #{width} columns"
      raise DataError.new(message, table: @name, record: record)
    end

    def by_name(row, index)
      named = row.transform_keys(&:to_s)
      unknown = named.keys - @columns
      return named.values_at(*@columns) if unknown.empty?

      advice = "name all columns: db.table(#{@name.inspect}, #{unknown.map(&:inspect).join(', ')}, ...)"
      record = @given + index + 1
      message = "table #{@name}: record #{record}: the first row did not name #{unknown.join(', ')}"
      raise DataError.new(message, table: @name, record: record, advice: advice)
    end

    # Asks for the table, and for the names of its columns if the first row has none.
    def number
      @number ||= @writer.number(@name, @columns).tap { |number| @columns ||= @writer.columns(number) }
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
