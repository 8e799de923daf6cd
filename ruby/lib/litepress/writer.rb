# frozen_string_literal: true

module Litepress
  # Figures of a finished database.
  Summary = Struct.new(:rows, :bytes, :pages)

  # A database whose rows come while the program runs. Litepress.create and Litepress.open make one.
  class Writer
    # The writer of the library, until it is finished or discarded.
    Handle = Struct.new(:pointer, :watcher) do
      def take
        taken, self.pointer = pointer, nil
        taken
      end

      def abort
        taken = take
        Library.call(:litepress_abort, taken) if taken
      end
    end
    private_constant :Handle

    def self.begin(function, path, schema, progress, options)
      writer = new(function, path, schema, progress, options)
      return writer unless block_given?

      begin
        yield writer
        writer.finish
      ensure
        writer.abort
      end
    end

    def initialize(function, path, schema, progress, options)
      @raised = []
      @tables = {}
      watcher = Options.watcher(progress, @raised)
      place = Fiddle::Pointer.malloc(Fiddle::SIZEOF_VOIDP, Fiddle::RUBY_FREE)
      Options.with(options, watcher) { |pointer| Library.check(function, path.to_s, schema, pointer, place) }
      @handle = Handle.new(place.ptr, watcher)
      ObjectSpace.define_finalizer(self, self.class.send(:finalizer, @handle))
    end

    # Returns a table. Its rows have values for these columns; without columns, for those of its first row if that is a Hash, and
    # for all columns otherwise.
    def table(name, *columns)
      @tables[[name.to_s, columns]] ||= Table.new(self, name.to_s, columns.empty? ? nil : columns.flatten)
    end

    alias [] table

    # Completes the database, waits for the disk and gives the file its name. Returns a Summary.
    def finish
      @tables.each_value(&:flush)
      summary = [32, 0, 0, 0].pack("Q<4")
      pointer = @handle.take or raise UsageError, "the database is finished or was discarded"
      # The library frees the writer, whatever the result.
      call { Library.check(:litepress_finish, pointer, Fiddle::Pointer[summary]) }
      Summary.new(*summary.unpack("Q<4").drop(1))
    end

    # Discards the rows: nothing is left of a new database.
    def abort
      @handle.abort
      nil
    end

    # Asks the library for the number of a table.
    def number(name, columns)
      place = Fiddle::Pointer.malloc(Fiddle::SIZEOF_SIZE_T, Fiddle::RUBY_FREE)
      # Names live until the call returns.
      texts = columns&.map { |column| "#{column}\0" }
      names = texts&.map { |text| Fiddle::Pointer[text].to_i }&.pack("Q<*")
      check(:litepress_table, name, names, columns&.size || 0, place)
      place[0, Fiddle::SIZEOF_SIZE_T].unpack1("Q<")
    end

    # Asks the library for the columns of a numbered table.
    def columns(number)
      pointer = @handle.pointer
      names = (0..).lazy.map { |column| Library.call(:litepress_column_name, pointer, number, column) }
      names.take_while { |name| !name.null? }.map { |name| name.to_s.force_encoding(Encoding::UTF_8) }.to_a
    end

    # Calls a function of the library for this writer.
    def check(function, *arguments)
      pointer = @handle.pointer or raise UsageError, "the database is finished or was discarded"
      call { Library.check(function, pointer, *arguments) }
    end

    private

    # Raises the exception of the progress rather than that it stopped the writer.
    def call
      yield
    rescue Stopped
      raise(@raised.shift || $!)
    end

    def self.finalizer(handle)
      proc { handle.abort }
    end
    private_class_method :finalizer
  end
end
