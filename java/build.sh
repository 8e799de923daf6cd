#!/bin/sh
# Builds litepress.jar in a folder, with the native part for this machine: build.sh /usr/local/lib/liblitepress.so target
# With liblitepress.a the jar needs no other library.
set -eu
library=$(cd "$(dirname "$1")" && pwd)/$(basename "$1") output=$2
here=$(cd "$(dirname "$0")" && pwd)
home=$(dirname "$(dirname "$(realpath "$(command -v javac)")")")
system=$(uname -s | tr '[:upper:]' '[:lower:]')
case $(uname -m) in x86_64) machine=amd64 ;; *) machine=$(uname -m) ;; esac
native="$output/classes/litepress/native/$system-$machine"

mkdir -p "$native"
javac -Xlint:all -Werror --release 17 -d "$output/classes" "$here"/src/main/java/litepress/*.java
"${CC:-cc}" -shared -fPIC -O2 -Wall -Wextra -Werror -I "$here/../crates/c/include" -I "$home/include" -I "$home/include/$system" \
    -o "$native/liblitepress_jni.so" "$here/src/main/c/litepress_jni.c" "$library" -lm -lpthread -ldl -Wl,-rpath,"$(dirname "$library")"
jar --create --file "$output/litepress.jar" -C "$output/classes" .
