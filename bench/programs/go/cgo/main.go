// Inserts rows through mattn/go-sqlite3: SQLite itself, called by cgo.
package main

import (
	_ "github.com/mattn/go-sqlite3"

	"litepress/bench/user"
)

func main() {
	user.Main("sqlite3")
}
