// Package user fills SQLite with rows of `user` through database/sql, with the driver of the program.
//
//	PROGRAM METHOD TARGET ROWS [CHECK]
//
// A method is `prepared` (a row a statement) or `prepared-50`, in one transaction; `-nogc` behind it turns the garbage
// collector off.
package user

import (
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime/debug"
	"strconv"
	"strings"
	"time"
)

const settings = `PRAGMA journal_mode = OFF;
PRAGMA synchronous = 0;
PRAGMA cache_size = 1000000;
PRAGMA locking_mode = EXCLUSIVE;
PRAGMA temp_store = MEMORY;`

const table = `CREATE TABLE user (
	id INTEGER not null primary key,
	area CHAR(6),
	age INTEGER not null,
	active INTEGER not null
)`

var rowsPerStatement = map[string]int{"prepared": 1, "prepared-50": 50}

type job struct {
	target, check      string
	rows, perStatement int
	collect            bool
}

// Main runs the command line with the driver of that name.
func Main(driver string) {
	job, err := parse(os.Args[1:])
	var answer []byte
	if err == nil {
		answer, err = job.do(driver)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Println(string(answer))
}

func parse(arguments []string) (job, error) {
	usage := errors.New("usage: PROGRAM prepared|prepared-50[-nogc] TARGET ROWS [CHECK]")
	if len(arguments) < 3 || len(arguments) > 4 {
		return job{}, usage
	}
	method, withoutCollector := strings.CutSuffix(arguments[0], "-nogc")
	perStatement, known := rowsPerStatement[method]
	rows, err := strconv.Atoi(arguments[2])
	if !known || err != nil || rows < 0 {
		return job{}, usage
	}
	job := job{target: arguments[1], rows: rows, perStatement: perStatement, collect: !withoutCollector}
	if len(arguments) == 4 {
		job.check = arguments[3]
	}
	return job, nil
}

// do fills the database, and returns the line of JSON.
func (j job) do(driver string) ([]byte, error) {
	if !j.collect {
		debug.SetGCPercent(-1)
	}
	started := time.Now()
	database, err := sql.Open(driver, j.target)
	if err != nil {
		return nil, err
	}
	defer database.Close()
	// Settings and databases in memory belong to one connection.
	database.SetMaxOpenConns(1)
	if _, err := database.Exec(settings + table); err != nil {
		return nil, err
	}
	if err := j.fill(database); err != nil {
		return nil, err
	}
	answer := map[string]any{}
	if j.target != ":memory:" {
		if err := database.Close(); err != nil {
			return nil, err
		}
	}
	answer["seconds"] = time.Since(started).Seconds()
	if j.target == ":memory:" && j.check != "" {
		if answer["check"], err = one(database, j.check); err != nil {
			return nil, err
		}
	}
	return json.Marshal(answer)
}

// fill inserts all rows in one transaction.
func (j job) fill(database *sql.DB) error {
	transaction, err := database.Begin()
	if err != nil {
		return err
	}
	if err := insert(transaction, j.rows/j.perStatement, j.perStatement); err != nil {
		return err
	}
	if err := insert(transaction, 1, j.rows%j.perStatement); err != nil {
		return err
	}
	return transaction.Commit()
}

// insert runs a prepared statement of several rows several times.
func insert(transaction *sql.Tx, times, rows int) error {
	if times == 0 || rows == 0 {
		return nil
	}
	places := strings.TrimSuffix(strings.Repeat("(NULL, ?, ?, ?), ", rows), ", ")
	statement, err := transaction.Prepare("INSERT INTO user VALUES " + places)
	if err != nil {
		return err
	}
	defer statement.Close()
	values := make([]any, 0, 3*rows)
	for range times {
		values = values[:0]
		for range rows {
			values = append(values, area(), 5*(1+rand.IntN(3)), rand.IntN(2))
		}
		if _, err := statement.Exec(values...); err != nil {
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

// one returns the only row of a query.
func one(database *sql.DB, query string) ([]any, error) {
	rows, err := database.Query(query)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	columns, err := rows.Columns()
	if err != nil {
		return nil, err
	}
	values, places := make([]any, len(columns)), make([]any, len(columns))
	for column := range values {
		places[column] = &values[column]
	}
	if !rows.Next() {
		return nil, errors.Join(errors.New("the check gives no row"), rows.Err())
	}
	return values, rows.Scan(places...)
}
