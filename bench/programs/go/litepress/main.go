// Inserts rows of `user`, made while the clock runs, with the Go package of litepress.
//
//	PROGRAM insert|structs|columns TARGET ROWS
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"math/rand/v2"
	"os"
	"strconv"
	"time"

	"litepress"
)

const schema = `CREATE TABLE user (
	id INTEGER not null primary key,
	area CHAR(6),
	age INTEGER not null,
	active INTEGER not null
)`

// rowsPerBatch is the number of rows that are appended at once by `columns`.
const rowsPerBatch = 10_000

type user struct {
	Area   string `db:"area"`
	Age    int    `db:"age"`
	Active bool   `db:"active"`
}

var methods = map[string]func(*litepress.Table, int) error{"insert": insert, "structs": structs, "columns": columns}

func main() {
	rows, err := strconv.Atoi(os.Args[3])
	method, known := methods[os.Args[1]]
	if err != nil || !known {
		log.Fatal("usage: PROGRAM insert|structs|columns TARGET ROWS")
	}
	started := time.Now()
	if err := write(os.Args[2], method, rows); err != nil {
		log.Fatal(err)
	}
	answer, err := json.Marshal(map[string]any{"seconds": time.Since(started).Seconds()})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(string(answer))
}

func write(target string, method func(*litepress.Table, int) error, rows int) error {
	db, err := litepress.Create(context.Background(), target, schema)
	if err != nil {
		return err
	}
	defer db.Abort()
	if err := method(db.Table("user", "area", "age", "active"), rows); err != nil {
		return err
	}
	_, err = db.Finish()
	return err
}

func insert(table *litepress.Table, rows int) error {
	for range rows {
		if err := table.Insert(area(), 5*(1+rand.IntN(3)), rand.IntN(2)); err != nil {
			return err
		}
	}
	return nil
}

func structs(table *litepress.Table, rows int) error {
	return litepress.InsertAll(table, func(yield func(user) bool) {
		for range rows {
			if !yield(user{area(), 5 * (1 + rand.IntN(3)), rand.IntN(2) == 1}) {
				return
			}
		}
	})
}

func columns(table *litepress.Table, rows int) error {
	for left := rows; left > 0; left -= rowsPerBatch {
		count := min(left, rowsPerBatch)
		areas, ages, actives := make([]string, count), make([]int64, count), make([]int64, count)
		for row := range count {
			areas[row], ages[row], actives[row] = area(), int64(5*(1+rand.IntN(3))), int64(rand.IntN(2))
		}
		if err := table.Append(litepress.Texts(areas), litepress.Integers(ages), litepress.Integers(actives)); err != nil {
			return err
		}
	}
	return nil
}

// area returns six random digits.
func area() string {
	var digits [6]byte
	rest := rand.IntN(1_000_000)
	for place := range digits {
		digits[place] = byte('0' + rest%10)
		rest /= 10
	}
	return string(digits[:])
}
