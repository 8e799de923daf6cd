# frozen_string_literal: true

module Litepress
  # Options of the library, which live for the time of a block.
  module Options
    # Yields a pointer to options, and frees them.
    def self.with(given, watcher)
      pointer = Library.call(:litepress_options_new)
      given.each do |name, value|
        next if value.nil?

        text = value.is_a?(Array) ? value.join(",") : value.to_s
        name = Library.text(name.to_s.tr("_", "-"), "the name of an option")
        Library.check(:litepress_options_set, pointer, name, Library.text(text, "the option #{name}"))
      end
      Library.call(:litepress_options_watch, pointer, watcher, nil) if watcher
      yield pointer
    ensure
      Library.call(:litepress_options_free, pointer) if pointer
    end

    # Returns the function of the library for a callable. An exception of it stops the writer, and is kept in `raised`.
    def self.watcher(progress, raised)
      return unless progress

      arguments = [Fiddle::TYPE_VOIDP, Fiddle::TYPE_VOIDP]
      Fiddle::Closure::BlockCaller.new(Fiddle::TYPE_INT, arguments) do |_context, shown|
        rows, bytes, phase = shown[8, 24].unpack("Q3")
        progress.call(rows, bytes, Fiddle::Pointer.new(phase).to_s) == :stop ? 1 : 0
      rescue Exception => error # rubocop:disable Lint/RescueException -- none may pass through the library
        raised << error
        1
      end
    end
  end
  private_constant :Options
end
