module litepress/bench/user

go 1.25
