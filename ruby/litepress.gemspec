# frozen_string_literal: true

Gem::Specification.new do |gem|
  gem.name = "litepress"
  gem.version = File.read(File.expand_path("../Cargo.toml", __dir__))[/^version = "(.+)"/, 1]
  gem.summary = "Writes SQLite databases by building b-tree pages bottom-up on all cores, instead of inserting row by row"
  gem.authors = ["The litepress developers"]
  gem.licenses = ["MIT", "Apache-2.0"]
  # A gem for one platform brings the library; the one for any Ruby finds an installed one.
  gem.platform = ENV.fetch("LITEPRESS_GEM_PLATFORM", Gem::Platform::RUBY)
  gem.files = Dir["lib/**/*.rb", "lib/litepress/liblitepress.so.0", "examples/*.rb", "README.md"]
  gem.required_ruby_version = ">= 3.0"
end
