#!/bin/sh
# Installs the ADBC driver, as it was built in a folder: install.sh target/release /usr/local /etc/adbc/drivers
# Driver managers find it by its name, because the last folder has its manifest.
set -eu
built=$1 prefix=$2 manifests=$3
here=$(cd "$(dirname "$0")" && pwd)
version=$(sed -n 's/^version = "\(.*\)"/\1/p' "$here/../../Cargo.toml" | head -n 1)
case $(uname -m) in
    x86_64) platform=linux_amd64 ;;
    aarch64 | arm64) platform=linux_arm64 ;;
    *) platform=linux_$(uname -m) ;;
esac

mkdir -p "$prefix/lib" "$manifests"
library=$(cd "$prefix/lib" && pwd)/libadbc_driver_litepress.so
install -m 755 "$built/libadbc_driver_litepress.so" "$library"
sed -e "s|@VERSION@|$version|" -e "s|@PLATFORM@|$platform|" -e "s|@LIBRARY@|$library|" "$here/litepress.toml.in" \
    > "$manifests/litepress.toml"
