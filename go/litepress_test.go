package litepress

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

const schema = "CREATE TABLE t (id INTEGER PRIMARY KEY, name TEXT NOT NULL, value)"

// query returns the lines that the program sqlite3 prints.
func query(t *testing.T, path, sql string) []string {
	t.Helper()
	if _, err := exec.LookPath("sqlite3"); err != nil {
		t.Skip("the program sqlite3 is not installed")
	}
	output, err := exec.Command("sqlite3", path, sql).CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, output)
	}
	return strings.Split(strings.TrimSpace(string(output)), "\n")
}

func expect[T any](t *testing.T, found, expected T) {
	t.Helper()
	if fmt.Sprint(found) != fmt.Sprint(expected) {
		t.Fatalf("%v, expected %v", found, expected)
	}
}

// made returns the path of a database that a function filled.
func made(t *testing.T, fill func(*Writer) error, options ...Option) (string, Summary) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "t.db")
	summary, err := makeAt(path, fill, options...)
	if err != nil {
		t.Fatal(err)
	}
	expect(t, query(t, path, "PRAGMA integrity_check"), []string{"ok"})
	return path, summary
}

func makeAt(path string, fill func(*Writer) error, options ...Option) (Summary, error) {
	db, err := Create(context.Background(), path, schema, options...)
	if err != nil {
		return Summary{}, err
	}
	defer db.Abort()
	if err := fill(db); err != nil {
		return Summary{}, err
	}
	return db.Finish()
}

type colour string

type base struct {
	ID int64 `db:"id"`
}

type row struct {
	base
	Name   colour
	Value  *float64 `db:"value"`
	Secret string   `db:"-"`
	hidden int
}

func TestValuesOfAllTypes(t *testing.T) {
	half, moment := 0.5, time.Date(2024, 1, 2, 3, 4, 5, 0, time.UTC)
	var nothing *float64
	values := []any{
		0.5, nil, true, math.MinInt64, uint8(6), moment, moment.Add(250 * time.Millisecond).In(time.FixedZone("", 3600)), moment.Add(1), math.NaN(),
		&half, nothing, colour("red"), sql.NullString{String: "given", Valid: true}, sql.NullInt64{}, netip.MustParseAddr("::1"), "a\x00\"é\n", 1e300, 2.0,
	}
	path, summary := made(t, func(db *Writer) error {
		for id, value := range values {
			if err := db.Table("t").Insert(id, "n", value); err != nil {
				return err
			}
		}
		return nil
	})
	expect(t, summary.Rows, uint64(len(values)))
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	expect(t, summary.Bytes, uint64(info.Size()))
	expect(t, query(t, path, "SELECT CASE typeof(value) WHEN 'text' THEN hex(value) ELSE quote(value) END FROM t"), []string{
		"0.5", "NULL", "1", "-9223372036854775808", "6", hex("2024-01-02 03:04:05"), hex("2024-01-02 03:04:05.250000"),
		hex("2024-01-02 03:04:05.000000001"), "NULL", "0.5", "NULL", hex("red"), hex("given"), "NULL", hex("::1"), hex("a\x00\"é\n"), "1.0e+300", "2.0",
	})
}

func hex(text string) string { return fmt.Sprintf("%X", text) }

func TestStructsMapsChannelsAndIterators(t *testing.T) {
	value := 1.5
	path, _ := made(t, func(db *Writer) error {
		table := db.Table("t")
		rows := []row{{base: base{1}, Name: "a", Value: &value, Secret: "x"}, {base: base{2}, Name: "b"}}
		if err := InsertAll(table, slices.Values(rows)); err != nil {
			return err
		}
		channel := make(chan *row)
		go func() {
			defer close(channel)
			channel <- &row{base: base{3}, Name: "c", hidden: 1}
		}()
		if err := InsertChan(table, channel); err != nil {
			return err
		}
		if err := table.Insert(row{base: base{4}, Name: "d"}); err != nil {
			return err
		}
		if err := table.Insert(map[string]any{"id": 5, "Name": "e", "value": 2.5}); err != nil {
			return err
		}
		return InsertAll(table, slices.Values([][]any{{6, "f", "text"}}))
	})
	expect(t, query(t, path, "SELECT * FROM t"), []string{"1|a|1.5", "2|b|", "3|c|", "4|d|", "5|e|2.5", "6|f|text"})
}

// The document began with a row of values. The structs behind it were refused: the columns had no names.
func TestStructsAfterValues(t *testing.T) {
	path, _ := made(t, func(db *Writer) error {
		table := db.Table("t")
		if err := table.Insert(1, "a", nil); err != nil {
			return err
		}
		if err := table.Insert(row{base: base{2}, Name: "b"}); err != nil {
			return err
		}
		return table.Insert(map[string]any{"name": "c", "id": 3, "value": nil})
	})
	expect(t, query(t, path, "SELECT * FROM t"), []string{"1|a|", "2|b|", "3|c|"})
}

func TestColumnsThatAreLeftOut(t *testing.T) {
	path, _ := made(t, func(db *Writer) error {
		if err := db.Table("t", "name").Insert("a"); err != nil {
			return err
		}
		return db.Table("t", "name").Insert(map[string]any{"name": "b"})
	})
	expect(t, query(t, path, "SELECT * FROM t"), []string{"1|a|", "2|b|"})
}

func TestColumnsInBulk(t *testing.T) {
	const rows = 20_000
	ids, names, values, valid := make([]int64, rows), make([]string, rows), make([]float64, rows), make([]bool, rows)
	sum := 0.0
	for at := range ids {
		ids[at], names[at], values[at], valid[at] = int64(at+1), fmt.Sprintf("name %d", at), float64(at)/4, at%7 != 0
		if valid[at] {
			sum += values[at]
		}
	}
	path, _ := made(t, func(db *Writer) error {
		if err := db.Table("t").Append(Integers(ids), Texts(names), Reals(values).Valid(valid)); err != nil {
			return err
		}
		if err := db.Table("t").Append(Integers(ids), Texts(names[:1])); !errors.Is(err, Usage) {
			return fmt.Errorf("columns of different lengths: %v", err)
		}
		return db.Table("t").Insert(rows+1, "", nil)
	})
	expected := fmt.Sprintf("%d|%d|%.2f|%d|name 7", rows+1, (rows+1)*(rows+2)/2, sum, rows-(rows+6)/7)
	expect(t, query(t, path, "SELECT count(*), sum(id), printf('%.2f', sum(value)), count(value), (SELECT name FROM t WHERE id = 8) FROM t"), []string{expected})
}

func TestManyRowsInBatches(t *testing.T) {
	path, summary := made(t, func(db *Writer) error {
		for id := range 50_000 {
			if err := db.Table("t").Insert(id, strings.Repeat("x", id%100), id); err != nil {
				return err
			}
		}
		return nil
	}, PageSize(8192), Threads(2), Memory("64MiB"))
	expect(t, summary.Rows, 50_000)
	expect(t, query(t, path, "SELECT sum(id = value AND length(name) = id % 100), (SELECT page_size FROM pragma_page_size) FROM t"), []string{"50000|8192"})
}

func TestRowsAreAddedAndUpdated(t *testing.T) {
	path, _ := made(t, func(db *Writer) error { return db.Table("t").Insert(1, "a", 1) })
	db, err := Open(context.Background(), path, "", OnConflict("update"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Abort()
	if err := InsertAll(db.Table("t"), slices.Values([][]any{{1, "b", 2}, {2, "c", 3}})); err != nil {
		t.Fatal(err)
	}
	if _, err := db.Finish(); err != nil {
		t.Fatal(err)
	}
	expect(t, query(t, path, "SELECT * FROM t"), []string{"1|b|2", "2|c|3"})
	if _, err := db.Finish(); !errors.Is(err, Usage) {
		t.Fatal(err)
	}
	if err := db.Table("t").Insert(1, "a", 2); !errors.Is(err, Usage) {
		t.Fatal(err)
	}
}

func TestErrorsHaveAKindAndAPlace(t *testing.T) {
	folder := t.TempDir()
	path := filepath.Join(folder, "t.db")
	insert := func(row ...any) func(*Writer) error {
		return func(db *Writer) error { return db.Table("t").Insert(row...) }
	}
	_, err := makeAt(path, insert(1, nil, 2))
	var failure *Error
	if !errors.As(err, &failure) || !errors.Is(err, Constraint) {
		t.Fatalf("%#v", err)
	}
	expect(t, fmt.Sprint(failure.Table, failure.Column, failure.Record), "tname1")
	for _, wrong := range []struct {
		kind  Kind
		words string
		fill  func(*Writer) error
	}{
		{Data, "is no type of SQLite", insert(1, "a", struct{ uint64 }{1})},
		{Data, "beyond the 64 bits", insert(uint64(1<<63), "a", 1)},
		{Data, "3 columns", insert(1, "a")},
		{Usage, "no field for column name", func(db *Writer) error { return db.Table("t", "name").Insert(base{1}) }},
		{Data, "no column was named other", func(db *Writer) error {
			return db.Table("t", "name").Insert(map[string]any{"name": "b", "other": 1})
		}},
		{Schema, "other", func(db *Writer) error {
			return errors.Join(db.Table("t").Insert(map[string]any{"name": "a"}), db.Table("t").Insert(map[string]any{"name": "b", "other": 1}))
		}},
		{Schema, "colour", func(db *Writer) error { return db.Table("t", "colour").Insert("red") }},
		{Usage, "u", func(db *Writer) error { return db.Table("u").Insert(1) }},
	} {
		_, err := makeAt(path, wrong.fill)
		if !errors.Is(err, wrong.kind) || !strings.Contains(err.Error(), wrong.words) {
			t.Errorf("%v, expected %v with %q", err, wrong.kind, wrong.words)
		}
	}
	if _, err := makeAt(path, insert(1, "\xff", 2)); err == nil || !strings.Contains(err.Error(), "UTF-8") {
		t.Fatal(err)
	}
	if _, err := Create(context.Background(), path, "CREATE"); !errors.Is(err, Schema) {
		t.Fatal(err)
	}
	left, err := os.ReadDir(folder)
	if err != nil || len(left) > 0 {
		t.Fatal(left, err)
	}
	if _, err := makeAt(path, insert(1, "a", 2)); err != nil {
		t.Fatal(err)
	}
	if _, err := makeAt(path, insert(1, "a", 2)); !errors.Is(err, Exists) {
		t.Fatal(err)
	}
	if _, err := makeAt(path, insert(1, "b", 2), Overwrite()); err != nil {
		t.Fatal(err)
	}
	expect(t, query(t, path, "SELECT * FROM t"), []string{"1|b|2"})
}

func TestACancelledContextLeavesNothing(t *testing.T) {
	folder := t.TempDir()
	ctx, cancel := context.WithCancelCause(context.Background())
	db, err := Create(ctx, filepath.Join(folder, "t.db"), schema)
	if err != nil {
		t.Fatal(err)
	}
	reason := errors.New("the user went home")
	channel := make(chan base)
	time.AfterFunc(10*time.Millisecond, func() { cancel(reason) })
	if err := InsertChan(db.Table("t"), channel); !errors.Is(err, reason) {
		t.Fatal(err)
	}
	if _, err := db.Finish(); !errors.Is(err, reason) {
		t.Fatal(err)
	}
	db.Abort()
	left, err := os.ReadDir(folder)
	if err != nil || len(left) > 0 {
		t.Fatal(left, err)
	}
	if _, err := Create(ctx, filepath.Join(folder, "t.db"), schema); !errors.Is(err, reason) {
		t.Fatal(err)
	}
}

func TestTheProgressMayStopTheRun(t *testing.T) {
	reason, calls := errors.New("enough"), 0
	_, err := makeAt(filepath.Join(t.TempDir(), "t.db"), func(db *Writer) error {
		for id := 0; ; id++ {
			if err := db.Table("t").Insert(id, "a text of a row", id); err != nil {
				return err
			}
		}
	}, OnProgress(func(progress Progress) error {
		if calls++; calls >= 3 && progress.Rows > 0 {
			return reason
		}
		return nil
	}))
	if !errors.Is(err, reason) {
		t.Fatal(err)
	}
	expect(t, calls >= 3, true)
}
