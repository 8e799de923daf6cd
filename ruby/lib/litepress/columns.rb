# frozen_string_literal: true

require "date"

module Litepress
  # Ruby values as the library takes them.
  module Columns
    INTEGER, REAL, TEXT, BLOB, NULL = 1, 2, 3, 4, 5

    # A value that has no form in SQLite.
    NoForm = Class.new(StandardError)
    # Values of a column, and their type if they have the same one.
    Plain = Struct.new(:values, :type, :has_nil)
    # The bytes of a `litepress_column`, and the buffers that it points to.
    Packed = Struct.new(:bytes, :buffers)

    class << self
      # Returns a value as nil, Integer, Float or String. A String that may change is copied.
      def plain(value)
        case value
        when String then text(value)
        when nil, Float then value
        when Integer then value.bit_length < 64 ? value : raise(NoForm, "the integer is beyond the 64 bits of SQLite")
        when Symbol then text(value.name)
        when true then 1
        when false then 0
        when Time then moment(value.getutc)
        when DateTime then moment(value.to_time.getutc)
        when Date then value.iso8601
        else raise NoForm, "#{value.class} is no type of SQLite"
        end
      end

      # Returns the plain values of a column with their type.
      def column_of(values)
        present = values.include?(nil) ? values.compact : values
        Plain.new(values, type_of(present), present.size < values.size)
      end

      # Returns whether the values of a column need no conversion.
      def plain?(column)
        case column.type
        when INTEGER then column.values.all? { |value| value.nil? || value.bit_length < 64 }
        when TEXT then column.values.all? { |value| value.nil? || (value.encoding == Encoding::UTF_8 && value.valid_encoding?) }
        when nil then false
        else true
        end
      end

      # Returns the bytes of texts or blobs.
      def bytes(column)
        column.type == TEXT || column.type == BLOB ? column.values.sum { |value| value ? value.bytesize : 0 } : 0
      end

      # Returns the column as the library takes it. Its values have one type.
      def pack(plain)
        return Packed.new(column(NULL, 0, nil), []) if plain.type == NULL

        buffers = buffers(plain)
        valid = pinned([plain.values.map { |value| value.nil? ? "0" : "1" }.join].pack("b*")) if plain.has_nil
        Packed.new(column(plain.type, buffers.first.to_i, valid), [*buffers, valid])
      end

      # Returns the bytes of a `litepress_value`, and appends its text to `buffers`.
      def value(value, buffers)
        case value
        when nil then [NULL, 0, 0].pack("l<x4q<Q<")
        when Integer then [INTEGER, value, 0].pack("l<x4q<Q<")
        when Float then [REAL, value, 0].pack("l<x4EQ<")
        else
          buffers << pinned(value)
          [blob?(value) ? BLOB : TEXT, buffers.last.to_i, value.bytesize].pack("l<x4Q<Q<")
        end
      end

      private

      def text(value)
        encoding = value.encoding
        return value.frozen? ? value : value.dup if encoding == Encoding::BINARY

        value = value.encode(Encoding::UTF_8) unless encoding == Encoding::UTF_8 || encoding == Encoding::US_ASCII
        raise NoForm, "the text is not #{value.encoding}" unless value.valid_encoding?

        value.frozen? ? value : value.dup
      rescue EncodingError
        raise NoForm, "the text has no form in UTF-8"
      end

      # Microseconds only where there are any: one moment has one text.
      def moment(time)
        time.strftime(time.usec.zero? ? "%Y-%m-%d %H:%M:%S" : "%Y-%m-%d %H:%M:%S.%6N")
      end

      def blob?(value)
        value.encoding == Encoding::BINARY
      end

      # Returns the one type of values without nil, or nil.
      def type_of(values)
        case values.first
        when nil then NULL if values.empty?
        when Float then REAL if values.all?(Float)
        when Integer then INTEGER if values.all?(Integer)
        when String then type_of_texts(values) if values.all?(String)
        end
      end

      def type_of_texts(values)
        blobs = values.count { |value| blob?(value) }
        return TEXT if blobs.zero?

        BLOB if blobs == values.size
      end

      # Returns the buffers of values of one type, the one with the values first.
      def buffers(plain)
        case plain.type
        when INTEGER then [pinned(filled(plain, 0).pack("q<*"))]
        when REAL then [pinned(filled(plain, 0.0).pack("E*"))]
        else texts(filled(plain, ""))
        end
      end

      def filled(plain, absent)
        plain.has_nil ? plain.values.map { |value| value.nil? ? absent : value } : plain.values
      end

      # Returns addresses and lengths, and the bytes that they are about.
      def texts(values)
        joined = pinned(values.join)
        address = joined.to_i
        places = values.each_with_object([]) do |value, all|
          length = value.bytesize
          all << address << length
          address += length
        end
        [pinned(places.pack("Q<*")), joined]
      end

      def column(type, values, valid)
        [type, values, valid ? valid.to_i : 0].pack("l<x4Q<Q<")
      end

      # Returns a pointer to the bytes of a string. They stay in their place as long as the pointer lives.
      def pinned(string)
        Fiddle::Pointer[string]
      end
    end
  end
  private_constant :Columns
end
