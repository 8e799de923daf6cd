# frozen_string_literal: true

require "monitor"

module Litepress
  # Figures of a finished database.
  Summary = Struct.new(:rows, :bytes, :pages)

  # A database whose rows come while the program runs. Litepress.create and Litepress.open make one.
  class Writer
    # The writer of the library, until it is finished or discarded. It belongs to the process that made it: a fork has a copy of the
    # memory, but not the threads, and the file is the same one.
    Handle = Struct.new(:pointer, :watcher, :process) do
      def take
        taken, self.pointer = pointer, nil
        taken
      end

      def foreign?
        process != Process.pid
      end

      def abort
        taken = take
        Library.call(:litepress_abort, taken) if taken && !foreign?
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
      # Fiddle lets other threads run while the library works. Its writer takes one call at a time.
      @monitor = Monitor.new
      @raised = []
      @tables, @rows = {}, {}
      @settings = options.to_h { |name, value| [name.to_s.tr("_", "-"), value.to_s] }
      watcher = Options.watcher(progress, @raised)
      path = Library.text(path, "the path")
      schema = Library.text(schema, "the schema") if schema
      place = Fiddle::Pointer.malloc(Fiddle::SIZEOF_VOIDP, Fiddle::RUBY_FREE)
      Options.with(options, watcher) { |pointer| Library.check(function, path, schema, pointer, place) }
      @handle = Handle.new(place.ptr, watcher, Process.pid)
      ObjectSpace.define_finalizer(self, self.class.send(:finalizer, @handle))
    end

    # Returns a table. Its rows have values for these columns. Without columns, an Array has one for every column of the table, and a Hash
    # for its keys.
    def table(name, *columns)
      synchronize do
        rows = @rows[name.to_s.downcase(:ascii)] ||= TableRows.new(nil, 0, nil)
        @tables[[name.to_s, columns]] ||= Table.new(self, name.to_s, columns.empty? ? nil : columns.flatten, rows)
      end
    end

    alias [] table

    # Completes the database, waits for the disk and gives the file its name. Returns a Summary. The writer is done, whatever the result.
    def finish
      synchronize do
        usable
        begin
          raise @failure if @failure

          @tables.each_value(&:ask_once) if @settings["truncate"] == "true"
          @tables.each_value(&:flush)
          finish_library
        ensure
          @handle.abort
        end
      end
    end

    # Discards the rows: nothing is left of a new database.
    def abort
      synchronize do
        refuse_call
        @handle.abort
      end
      nil
    end

    # Runs a block while no other thread uses the writer.
    def synchronize(&block)
      @monitor.synchronize(&block)
    end

    # Raises if the writer takes no rows.
    def refuse
      raise @failure if @failure

      refuse_call
      refuse_done unless @handle.pointer
    end

    # Ends the writer, which has lost rows: it takes no more, and finish raises the error.
    def give_up(error)
      message = "the database was given up"
      @failure ||= error.is_a?(Error) ? error : UsageError.new(error ? "#{message}: #{error.message}" : message)
    end

    # Returns whether rows update others.
    def updates?
      @settings["on-conflict"] == "update"
    end

    # Asks the library for the number of a table.
    def number(name, columns)
      place = Fiddle::Pointer.malloc(Fiddle::SIZEOF_SIZE_T, Fiddle::RUBY_FREE)
      # Names live, in their place, until the call returns.
      texts = columns&.map { |column| Fiddle::Pointer["#{Library.text(column, 'the name of a column')}\0"] }
      names = texts&.map(&:to_i)&.pack("Q<*")
      check(:litepress_table, Library.text(name, "the name of a table"), names, columns&.size || 0, place)
      place[0, Fiddle::SIZEOF_SIZE_T].unpack1("Q<")
    end

    # Asks the library for the columns of a numbered table.
    def columns(number)
      pointer = usable
      names = (0..).lazy.map { |column| Library.call(:litepress_column_name, pointer, number, column) }
      names.take_while { |name| !name.null? }.map { |name| name.to_s.force_encoding(Encoding::UTF_8) }.to_a
    end

    # Calls a function of the library for this writer.
    def check(function, *arguments)
      pointer = usable
      call { Library.check(function, pointer, *arguments) }
    end

    private

    # Returns the writer of the library.
    def usable
      refuse_call
      pointer = @handle.pointer or refuse_done
      raise UsageError, "the database belongs to the process that began it, and this is a fork of it" if @handle.foreign?

      pointer
    end

    def refuse_done
      raise UsageError, "the database is finished or was discarded"
    end

    # The library runs, and called the progress: it can take no other call.
    def refuse_call
      raise UsageError, "the progress cannot use its writer: return :stop to end the run" if @is_called
    end

    def finish_library
      summary = [32, 0, 0, 0].pack("Q<4")
      # The library frees the writer, whatever the result.
      pointer = @handle.take
      call { Library.check(:litepress_finish, pointer, Fiddle::Pointer[summary]) }
      Summary.new(*summary.unpack("Q<4").drop(1))
    end

    # Raises the exception of the progress rather than that it stopped the writer.
    def call
      @is_called = true
      yield
    rescue Stopped
      raise(@raised.shift || $!)
    ensure
      @is_called = false
    end

    def self.finalizer(handle)
      proc { handle.abort }
    end
    private_class_method :finalizer
  end
end
