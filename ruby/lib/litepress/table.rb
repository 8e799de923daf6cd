# frozen_string_literal: true

module Litepress
  # What all Tables of one table share: the last one that got a row, the number of rows that the library has, and the columns of the
  # last row.
  TableRows = Struct.new(:last, :given, :before)
  private_constant :TableRows

  # A table of a Writer, which takes rows.
  class Table
    # Rows and bytes that are given to the library at once.
    BATCH_ROWS = 4096
    BATCH_BYTES = 1 << 20

    # Columns for which rows have values, the number that the library gave them, and a text that is the same in any order.
    List = Struct.new(:number, :columns, :set)
    # The keys of hashes in the order of the columns.
    Shape = Struct.new(:keys, :list)
    private_constant :List, :Shape

    # The number of rows that wait.
    def waiting
      @waiting.size
    end

    def initialize(writer, name, columns, rows)
      @writer, @name, @rows = writer, name, rows
      @asked = columns&.map(&:to_s)
      @lists, @shapes = {}, {}
      @waiting, @bytes = [], 0
    end

    # Inserts a row: an Array with a value for every column, or a Hash with some of them by name (String or Symbol). Columns that a Hash
    # lacks get their DEFAULT.
    #
    # Integer, Float, String (binary ones are blobs), Symbol, true and false (1 and 0), Time and DateTime (UTC), Date and nil have a
    # form in SQLite. The values are copied: the row may change afterwards. A value without a form is an error, and its row is left out.
    def <<(row)
      @writer.synchronize { add(row) }
      self
    end

    # Inserts all rows of an Enumerable.
    def insert_all(rows)
      return insert_array(rows) if rows.instance_of?(Array)

      rows.each { |row| self << row }
      self
    end

    # Gives the waiting rows to the library. If it refuses them, the writer has failed: finish raises the error, too.
    def flush
      @writer.synchronize { hand_over }
    end

    # Asks the library for the table if no row did.
    def ask_once
      whole if @lists.empty?
    end

    private

    # Rows of an array are there at once, and none is made or changed meanwhile: many of them go to the library without a copy.
    def insert_array(rows)
      rows.each_slice(BATCH_ROWS) do |slice|
        @writer.synchronize { add_alike(slice) || slice.each { |row| add(row) } }
      end
      self
    end

    # Gives rows of the same columns to the library if each column has values of one type. Returns whether it did.
    def add_alike(rows)
      @writer.refuse
      list, columns = columns_of(rows)
      return false unless columns&.any?

      columns = columns.map { |values| Columns.column_of(values) }
      return false unless columns.all? { |column| Columns.plain?(column) } && columns.sum { |column| Columns.bytes(column) } <= BATCH_BYTES

      change(list)
      hand_over
      @rows.before = list
      give_rows(rows.size) { append(columns, rows.size) }
      true
    end

    # Returns the values of each column of rows that are alike, or nil.
    def columns_of(rows)
      case rows.first
      when Array
        list = whole
        [list, rows.transpose] if rows.all? { |row| row.instance_of?(Array) && row.size == list.columns.size }
      when Hash
        keys = rows.first.keys
        list, = named(rows.first)
        [list, rows.map(&:values).transpose] if @shape.keys == keys && rows.all? { |row| row.is_a?(Hash) && row.keys == keys }
      end
    end

    def add(row)
      @writer.refuse
      list, values = row.is_a?(Hash) ? named(row) : positional(row)
      bytes = 0
      # The usual values need no call.
      plain = values.map do |value|
        next value if value.nil? || value.is_a?(Float) || (value.is_a?(Integer) && value.bit_length < 64)

        value = Columns.plain(value)
        bytes += value.bytesize if value.is_a?(String)
        value
      end
      change(list)
      @waiting << plain
      @bytes += bytes
      @rows.before = list
      hand_over if @waiting.size >= BATCH_ROWS || @bytes >= BATCH_BYTES
    rescue Columns::NoForm => error
      refuse_value(error, list, values)
    end

    # Names the value that has no form.
    def refuse_value(error, list, values)
      index = values.index { |value| !form?(value) } or raise error
      column = list.columns[index]
      shown = values[index].inspect[0, 60]
      raise DataError.new("#{column}: record #{record}: #{error.message} (value #{shown})", table: @name, column: column, record: record,
                          value: shown, advice: "convert it, or give it as a text or a binary string")
    end

    def form?(value)
      Columns.plain(value)
      true
    rescue Columns::NoForm
      false
    end

    # Returns the number of the next record of the table. Only the last Table has rows that wait.
    def record
      @rows.given + (@rows.last ? @rows.last.waiting : 0) + 1
    end

    # Returns the columns and values of a row without names.
    def positional(row)
      refuse_data("the row is #{row.inspect[0, 60]}", "give an Array or a Hash") if row.nil? || !row.respond_to?(:to_a)
      list, values = whole, row.to_a
      return [list, values] if values.size == list.columns.size

      refuse_data("the row has #{values.size} values for #{list.columns.size} columns")
    end

    # Returns the columns and values of a hash.
    def named(row)
      keys = row.keys
      unless @shape && fit?(keys, row)
        @shape = @shapes[keys.sort_by(&:to_s)] ||= shape_of(keys)
      end
      # A default of the hash is no value of it: all keys are there.
      [@shape.list, keys == @shape.keys ? row.values : row.values_at(*@shape.keys)]
    end

    def fit?(keys, row)
      keys == @shape.keys || (keys.size == @shape.keys.size && @shape.keys.all? { |key| row.key?(key) })
    end

    # Finds the columns for the keys of a hash.
    def shape_of(keys)
      names = keys.map(&:to_s)
      by_name = keys.to_h { |key| [fold(key.to_s), key] }
      refuse_data("two keys name one column: #{names.join(', ')}") if by_name.size < keys.size
      unknown = @asked ? names.reject { |name| @asked.any? { |column| fold(column) == fold(name) } } : []
      unless unknown.empty?
        advice = "name all columns: db.table(#{@name.inspect}, #{unknown.map(&:inspect).join(', ')}, ...)"
        refuse_data("no column was named #{unknown.join(', ')}", advice)
      end
      list = list_of(names)
      Shape.new(list.columns.map { |column| by_name.fetch(fold(column)) }, list)
    end

    def refuse_data(message, advice = nil)
      raise DataError.new("table #{@name}: record #{record}: #{message}", table: @name, record: record, advice: advice)
    end

    # Returns the columns of rows without names: the asked ones, or all of the table.
    def whole
      @whole ||= ask(@asked)
    end

    # Returns a list with these columns, in any order.
    def list_of(names)
      set = set_of(names)
      @lists[set] || (@asked && set_of(@asked) == set ? whole : ask(names))
    end

    # Asks the library for a list of columns: all of the table for nil.
    def ask(columns)
      number = @writer.number(@name, columns)
      columns ||= @writer.columns(number)
      set = set_of(columns)
      @lists[set] = List.new(number, columns, set)
    end

    def set_of(columns)
      columns.map { |column| fold(column) }.sort.join("\0")
    end

    # Returns a name as SQLite compares it: letters of ASCII have no case.
    def fold(name)
      name.downcase(:ascii)
    end

    # Makes the batch one of these columns. Rows of other columns and of other Tables of the same table come before it.
    def change(list)
      return if @rows.last.equal?(self) && @list.equal?(list)

      refuse_update(list) if @writer.updates? && @rows.before && @rows.before.set != list.set
      @rows.last&.flush
      @rows.last, @list = self, list
    end

    # The library knows one set of columns that an update changes.
    def refuse_update(list)
      message = "table #{@name}: record #{record}: rows that update others have values for the same columns, and this row for others: " \
                "#{list.columns.join(', ')}"
      raise UsageError.new(message, table: @name, record: record, advice: "give it to another writer, after this one")
    end

    # Gives the waiting rows to the library. Without them there is no database: whatever ends the call ends the writer.
    def hand_over
      return if @waiting.empty?

      @writer.refuse
      begin
        give_rows(@waiting.size) { give(@waiting) }
      ensure
        @waiting, @bytes = [], 0
      end
      nil
    end

    # Counts rows that a block gives to the library. Without them there is no database: whatever ends the block ends the writer.
    def give_rows(count)
      is_done = false
      yield
      is_done = true
    ensure
      @writer.give_up($!) unless is_done
      @rows.given += count
    end

    def give(rows)
      columns = @list.columns.empty? ? [] : rows.transpose.map { |values| Columns.column_of(values) }
      columns.any? && columns.all?(&:type) ? append(columns, rows.size) : insert(rows)
    end

    def append(columns, rows)
      packed = columns.map { |column| Columns.pack(column) }
      @writer.check(:litepress_append, @list.number, packed.map(&:bytes).join, packed.size, rows)
    end

    # Inserts rows one after another: a column has values of several types.
    def insert(rows)
      buffers = []
      bytes = rows.map { |row| row.map { |value| Columns.value(value, buffers) }.join }.join
      @writer.check(:litepress_insert_rows, @list.number, bytes, @list.columns.size, rows.size)
    end
  end
end
