# frozen_string_literal: true

require "fiddle"

module Litepress
  # The functions of liblitepress (litepress.h).
  module Library
    POINTER = Fiddle::TYPE_VOIDP
    SIZE = Fiddle::TYPE_SIZE_T
    INT = Fiddle::TYPE_INT
    # A gem for one platform has the library beside this file.
    BROUGHT = File.expand_path("liblitepress.so.0", __dir__)
    NAMES = [*(BROUGHT if File.exist?(BROUGHT)), "liblitepress.so.0", "liblitepress.0.dylib", "liblitepress.dylib"].freeze

    # Arguments and result of each function that is used.
    SIGNATURES = {
      litepress_version: [[], POINTER],
      litepress_error_message: [[POINTER], POINTER],
      litepress_error_advice: [[POINTER], POINTER],
      litepress_error_file: [[POINTER], POINTER],
      litepress_error_table: [[POINTER], POINTER],
      litepress_error_column: [[POINTER], POINTER],
      litepress_error_value: [[POINTER], POINTER],
      litepress_error_record: [[POINTER], Fiddle::TYPE_LONG_LONG],
      litepress_error_free: [[POINTER], Fiddle::TYPE_VOID],
      litepress_options_new: [[], POINTER],
      litepress_options_free: [[POINTER], Fiddle::TYPE_VOID],
      litepress_options_set: [[POINTER, POINTER, POINTER, POINTER], INT],
      litepress_options_watch: [[POINTER, POINTER, POINTER], Fiddle::TYPE_VOID],
      litepress_create: [[POINTER, POINTER, POINTER, POINTER, POINTER], INT],
      litepress_open: [[POINTER, POINTER, POINTER, POINTER, POINTER], INT],
      litepress_table: [[POINTER, POINTER, POINTER, SIZE, POINTER, POINTER], INT],
      litepress_column_name: [[POINTER, SIZE, SIZE], POINTER],
      litepress_insert_rows: [[POINTER, SIZE, POINTER, SIZE, SIZE, POINTER], INT],
      litepress_append: [[POINTER, SIZE, POINTER, SIZE, SIZE, POINTER], INT],
      litepress_finish: [[POINTER, POINTER, POINTER], INT],
      litepress_abort: [[POINTER], Fiddle::TYPE_VOID]
    }.freeze

    @functions = {}

    class << self
      # Calls a function.
      def call(name, *arguments)
        function(name).call(*arguments)
      end

      # Calls a function whose last argument is a place for an error, and raises the error.
      def check(name, *arguments)
        place = Fiddle::Pointer.malloc(Fiddle::SIZEOF_VOIDP, Fiddle::RUBY_FREE)
        place[0, Fiddle::SIZEOF_VOIDP] = "\0" * Fiddle::SIZEOF_VOIDP
        status = call(name, *arguments, place)
        raise error(status, place.ptr) unless status.zero?
      end

      # Returns a text for the library, which would not look behind a NUL.
      def text(text, what)
        text = text.to_s
        # String#include? refuses texts that are not what their encoding claims.
        raise UsageError, "#{what} has a NUL character: #{text.inspect[0, 60]}" if text.b.include?("\0")

        text
      end

      private

      def function(name)
        @functions[name] ||= begin
          arguments, result = SIGNATURES.fetch(name)
          Fiddle::Function.new(library[name.to_s], arguments, result)
        end
      end

      # Opens the library: LITEPRESS_LIBRARY, or where the system finds it.
      def library
        @library ||= begin
          given = ENV["LITEPRESS_LIBRARY"]
          names = given ? [given] : NAMES
          failures = []
          names.lazy.filter_map { |name| open_library(name, failures) }.first or raise LoadError,
            "liblitepress is not installed (#{failures.join('; ')}): make install-c installs it, LITEPRESS_LIBRARY names it"
        end
      end

      def open_library(name, failures)
        Fiddle.dlopen(name)
      rescue Fiddle::DLError => error
        failures << error.message
        nil
      end

      def error(status, pointer)
        part = lambda do |name|
          found = call(name, pointer)
          found.null? ? nil : found.to_s.force_encoding(Encoding::UTF_8)
        end
        record = call(:litepress_error_record, pointer)
        ERRORS.fetch(status, Error).new(
          part[:litepress_error_message], advice: part[:litepress_error_advice], table: part[:litepress_error_table],
          column: part[:litepress_error_column], value: part[:litepress_error_value], file: part[:litepress_error_file],
          record: record.zero? ? nil : record
        )
      ensure
        call(:litepress_error_free, pointer)
      end
    end
  end
  private_constant :Library
end
