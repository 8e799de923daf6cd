module litepress/bench/cgo

go 1.25

require (
	github.com/mattn/go-sqlite3 v1.14.53
	litepress/bench/user v0.0.0
)

replace litepress/bench/user => ../user
