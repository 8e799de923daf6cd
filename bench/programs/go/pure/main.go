// Inserts rows through modernc.org/sqlite: SQLite translated to Go, no C compiler needed.
package main

import (
	_ "modernc.org/sqlite"

	"litepress/bench/user"
)

func main() {
	user.Main("sqlite")
}
