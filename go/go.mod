module litepress

go 1.23
