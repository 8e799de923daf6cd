#!/bin/sh
# Installs the C library, as it was built in a folder: install.sh target/release /usr/local
set -eu
built=$1 prefix=$2
here=$(cd "$(dirname "$0")" && pwd)
version=$(sed -n 's/^version = "\(.*\)"/\1/p' "$here/../../Cargo.toml" | head -n 1)

mkdir -p "$prefix/lib/pkgconfig" "$prefix/lib/cmake/litepress" "$prefix/include"
install -m 644 "$here/include/litepress.h" "$prefix/include/"
install -m 755 "$built/liblitepress_c.so" "$prefix/lib/liblitepress.so.$version"
ln -sf "liblitepress.so.$version" "$prefix/lib/liblitepress.so.0"
ln -sf liblitepress.so.0 "$prefix/lib/liblitepress.so"
install -m 644 "$built/liblitepress_c.a" "$prefix/lib/liblitepress.a"
sed -e "s|@VERSION@|$version|" "$here/litepress.pc.in" > "$prefix/lib/pkgconfig/litepress.pc"
sed -e "s|@VERSION@|$version|" "$here/litepress-config.cmake.in" > "$prefix/lib/cmake/litepress/litepress-config.cmake"
