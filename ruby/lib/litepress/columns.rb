# frozen_string_literal: true

require "date"

module Litepress
  # Ruby values as the library takes them.
  module Columns
    INTEGER, REAL, TEXT, BLOB, NULL = 1, 2, 3, 4, 5
    INTEGERS = (-(1 << 63)...(1 << 63)).freeze

    # Values of a column, and their type if they have the same one.
    Plain = Struct.new(:values, :type, :has_nil)
    # The bytes of a `litepress_column`, and the buffers that it points to.
    Packed = Struct.new(:bytes, :buffers)

    class << self
      # Returns the values of a column as nil, Integer, Float or String. `first` is the number of the first record.
      def plain(values, column, first)
        type = plain_type(values)
        return Plain.new(values, type, false) if type

        present = values.compact
        type = present.empty? ? NULL : plain_type(present)
        return Plain.new(values, type, present.size < values.size) if type

        values = values.each_with_index.map { |value, index| plain_value(value, column, first + index) }
        Plain.new(values, type_of(values), present.size < values.size)
      end

      # Returns the column as the library takes it. Its values have one type.
      def pack(plain)
        return Packed.new(column(NULL, 0, nil), []) if plain.type == NULL

        buffers = buffers(plain)
        valid = plain.has_nil ? [plain.values.map { |value| value.nil? ? "0" : "1" }.join].pack("b*") : nil
        Packed.new(column(plain.type, address(buffers.first), valid), [*buffers, valid])
      end

      # Returns the bytes of a `litepress_value`, and appends its text to `buffers`.
      def value(value, buffers)
        case value
        when nil then [NULL, 0, 0].pack("l<x4q<Q<")
        when Integer then [INTEGER, value, 0].pack("l<x4q<Q<")
        when Float then [REAL, value, 0].pack("l<x4EQ<")
        else
          buffers << value
          [type_of_value(value), address(value), value.bytesize].pack("l<x4Q<Q<")
        end
      end

      private

      def plain_value(value, column, record)
        case value
        when nil, Float then value
        when Integer then INTEGERS.cover?(value) ? value : refuse(value, "the integer is beyond the 64 bits of SQLite", column, record)
        when String then text(value, column, record)
        when Symbol then value.name
        when true then 1
        when false then 0
        when Time then moment(value.getutc)
        when DateTime then moment(value.to_time.getutc)
        when Date then value.iso8601
        else refuse(value, "#{value.class} is no type of SQLite", column, record)
        end
      end

      # Returns the type of values that need no change, or nil.
      def plain_type(values)
        case values.first
        when Float then REAL if values.all?(Float)
        when Integer then INTEGER if values.all?(Integer) && values.minmax.all? { |value| INTEGERS.cover?(value) }
        when String then TEXT if values.all?(String) && values.all? { |value| value.encoding == Encoding::UTF_8 && value.valid_encoding? }
        end
      end

      def text(value, column, record)
        return value if blob?(value)

        value = value.encode(Encoding::UTF_8) unless value.encoding == Encoding::UTF_8 || value.encoding == Encoding::US_ASCII
        value.valid_encoding? ? value : refuse(value, "the text is not #{value.encoding}", column, record)
      rescue EncodingError
        refuse(value, "the text has no form in UTF-8", column, record)
      end

      # Microseconds only where there are any: one moment has one text.
      def moment(time)
        time.strftime(time.usec.zero? ? "%Y-%m-%d %H:%M:%S" : "%Y-%m-%d %H:%M:%S.%6N")
      end

      def blob?(value)
        value.encoding == Encoding::BINARY
      end

      def refuse(value, message, column, record)
        raise DataError.new("#{column}: record #{record}: #{message} (value #{value.inspect[0, 60]})", column: column, record: record,
                            advice: "convert it, or give it as a text or a binary string")
      end

      # Returns the one type of the values, or nil.
      def type_of(values)
        types = values.compact.map { |value| type_of_value(value) }.uniq
        types.size == 1 ? types.first : nil
      end

      def type_of_value(value)
        case value
        when Integer then INTEGER
        when Float then REAL
        else blob?(value) ? BLOB : TEXT
        end
      end

      # Returns the buffers of values of one type, the one with the values first.
      def buffers(plain)
        case plain.type
        when INTEGER then [filled(plain, 0).pack("q<*")]
        when REAL then [filled(plain, 0.0).pack("E*")]
        else texts(filled(plain, ""))
        end
      end

      def filled(plain, absent)
        plain.has_nil ? plain.values.map { |value| value.nil? ? absent : value } : plain.values
      end

      # Returns addresses and lengths, and the bytes that they are about.
      def texts(values)
        joined = values.join
        address = address(joined)
        places = values.each_with_object([]) do |value, all|
          length = value.bytesize
          all << address << length
          address += length
        end
        [places.pack("Q<*"), joined]
      end

      def column(type, values, valid)
        [type, values, valid ? address(valid) : 0].pack("l<x4Q<Q<")
      end

      def address(string)
        Fiddle::Pointer[string].to_i
      end
    end
  end
  private_constant :Columns
end
