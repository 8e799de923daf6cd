module litepress/bench/press

go 1.25

require litepress v0.1.0

replace litepress => ../../../../go
