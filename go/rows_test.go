package litepress

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// makeTable makes a database with one table, t, that a function fills.
func makeTable(t *testing.T, schema string, fill func(*Writer) error, options ...Option) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "t.db")
	db, err := Create(context.Background(), path, schema, options...)
	finishAfter(t, db, err, fill)
	return path
}

// add adds rows to a database that exists.
func add(t *testing.T, path string, fill func(*Writer) error, options ...Option) Summary {
	t.Helper()
	db, err := Open(context.Background(), path, "", options...)
	return finishAfter(t, db, err, fill)
}

func finishAfter(t *testing.T, db *Writer, err error, fill func(*Writer) error) Summary {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	defer db.Abort()
	if err := fill(db); err != nil {
		t.Fatal(err)
	}
	summary, err := db.Finish()
	if err != nil {
		t.Fatal(err)
	}
	return summary
}

type pair struct{ A, B int }

// A struct without a field for a column was refused after the fields of the structs before it had been overwritten: the next ones were
// stored from stale memory, shifted over the columns.
func TestARefusedStructLeavesThoseBehindItAlone(t *testing.T) {
	path := makeTable(t, "CREATE TABLE t (a, b)", func(db *Writer) error {
		table := db.Table("t", "a", "b")
		if err := table.Insert(pair{1, 2}); err != nil {
			return err
		}
		if err := table.Insert(struct{ B int }{2}); !errors.Is(err, Usage) {
			return fmt.Errorf("a struct without a column: %v", err)
		}
		return errors.Join(table.Insert(pair{3, 4}), table.Insert(pair{5, 6}))
	})
	expect(t, query(t, path, "SELECT * FROM t"), []string{"1|2", "3|4", "5|6"})
}

type panicking struct{ text *string }

func (p panicking) Value() (driver.Value, error) { return *p.text, nil }

// The values before the one that panicked stayed in the batch, and all rows behind it were shifted.
func TestAPanicOfAValueLeavesOutItsRow(t *testing.T) {
	text := "text"
	path := makeTable(t, "CREATE TABLE t (a, b, c)", func(db *Writer) error {
		for at, value := range []panicking{{&text}, {nil}, {&text}} {
			func() {
				defer func() { expect(t, recover() != nil, value.text == nil) }()
				if err := db.Table("t").Insert(at, value, "end"); err != nil {
					t.Error(err)
				}
			}()
		}
		return nil
	})
	expect(t, query(t, path, "SELECT * FROM t"), []string{"0|text|end", "2|text|end"})
}

// A text that is not UTF-8 was found when its batch was handed over: the thousands of rows behind it were lost.
func TestARefusedTextLeavesOutItsRow(t *testing.T) {
	path, summary := made(t, func(db *Writer) error {
		for id := range 10_000 {
			text := "text"
			if id == 2000 {
				text = "\xff"
			}
			if err := db.Table("t").Insert(id, text, nil); errors.Is(err, Data) != (id == 2000) {
				return fmt.Errorf("row %d: %v", id, err)
			}
		}
		return nil
	})
	expect(t, summary.Rows, 9999)
	expect(t, query(t, path, "SELECT count(*), max(id), sum(id = 2000) FROM t"), []string{"9999|9999|0"})
}

// A map decided the columns of the rows of values, too, in the order of the alphabet: name and age were exchanged.
func TestValuesAfterMapsHaveTheOrderOfTheTable(t *testing.T) {
	path := makeTable(t, "CREATE TABLE t (name, age)", func(db *Writer) error {
		table := db.Table("t")
		return errors.Join(
			table.Insert(map[string]any{"name": "Ann", "age": 33}), table.Insert("Bob", 44), table.Append(Texts([]string{"Eve"}), Integers([]int64{55})),
		)
	})
	expect(t, query(t, path, "SELECT * FROM t"), []string{"Ann|33", "Bob|44", "Eve|55"})
}

// An empty iterator left the old rows: the library did not hear of the table.
func TestTruncateEmptiesATableWithoutNewRows(t *testing.T) {
	path := makeTable(t, "CREATE TABLE t (a)", func(db *Writer) error { return db.Table("t").Insert(1) })
	add(t, path, func(db *Writer) error { return InsertAll(db.Table("t"), slices.Values([]pair{})) }, Set("truncate", "true"))
	expect(t, query(t, path, "SELECT count(*) FROM t"), []string{"0"})
}

// A pointer to a time was stored as its MarshalText: 2024-01-02T03:04:05+02:00.
func TestATimeHasOneTextWithAndWithoutAPointer(t *testing.T) {
	moment := time.Date(2024, 1, 2, 3, 4, 5, 0, time.FixedZone("", 7200))
	place := &moment
	type row struct {
		A time.Time
		B *time.Time
		C **time.Time
	}
	path := makeTable(t, "CREATE TABLE t (a, b, c)", func(db *Writer) error {
		return errors.Join(db.Table("t").Insert(row{moment, place, &place}), db.Table("t").Insert(moment, place, (*time.Time)(nil)))
	})
	expect(t, query(t, path, "SELECT DISTINCT a, b, coalesce(c, a) FROM t"), []string{strings.Repeat("|2024-01-02 01:04:05", 3)[1:]})
}

type named struct{ Name, Land string }

type user struct {
	named
	ID   int
	Name string
}

type twice struct {
	named
	other struct{}
	second
}

type second struct{ Name string }

// The field of the embedded struct was stored in place of that of the struct itself.
func TestTheOuterFieldHidesThatOfAnEmbeddedStruct(t *testing.T) {
	path := makeTable(t, "CREATE TABLE t (id, name, land)", func(db *Writer) error {
		one := user{named{"inner", "CH"}, 1, "outer"}
		if err := errors.Join(db.Table("t").Insert(one), db.Table("t", "land", "name", "id").Insert(one)); err != nil {
			return err
		}
		if err := db.Table("t").Insert(twice{}); !errors.Is(err, Usage) || !strings.Contains(err.Error(), "two fields for column Name") {
			return fmt.Errorf("two fields of one depth: %v", err)
		}
		return nil
	})
	expect(t, query(t, path, "SELECT * FROM t"), []string{"1|outer|CH", "1|outer|CH"})
}

// C read path, schema and names up to the NUL: the database had another name, and lacked tables.
func TestANulIsRefused(t *testing.T) {
	path := filepath.Join(t.TempDir(), "t.db")
	for _, wrong := range [][2]string{{path + "\x00.bak", schema}, {path, schema + ";\x00 CREATE TABLE u (a)"}} {
		if _, err := Create(context.Background(), wrong[0], wrong[1]); !errors.Is(err, Usage) {
			t.Fatal(err)
		}
	}
	for _, names := range [][]string{{"t\x00", "id"}, {"t", "id\x00"}} {
		_, err := makeAt(path, func(db *Writer) error { return db.Table(names[0], names[1]).Insert(1) })
		if !errors.Is(err, Usage) {
			t.Fatal(err)
		}
	}
}

// Abort in the progress function freed the writer while the library ran in it. Rows that it inserted got lost.
func TestTheProgressCannotUseItsWriter(t *testing.T) {
	folder := t.TempDir()
	var db *Writer
	var inserted, finished error
	db, err := Create(context.Background(), filepath.Join(folder, "t.db"), schema, OnProgress(func(Progress) error {
		inserted = db.Table("t").Insert(-1, "a", nil)
		_, finished = db.Finish()
		db.Abort()
		return nil
	}))
	for id := 0; err == nil; id++ {
		err = db.Table("t").Insert(id, "a text of a row", id)
	}
	for _, err := range []error{err, inserted, finished, db.Table("t").Insert(1, "a", nil)} {
		if !errors.Is(err, Usage) {
			t.Fatal(err)
		}
	}
	left, err := os.ReadDir(folder)
	if err != nil || len(left) > 0 {
		t.Fatal(left, err)
	}
}

// Rows that were updated or ignored counted as added without cgo, and 1e15 was another text in a TEXT column.
func TestFiguresAndTextsOfNumbers(t *testing.T) {
	path := makeTable(t, "CREATE TABLE t (id INTEGER PRIMARY KEY, text TEXT)", func(db *Writer) error {
		return InsertAll(db.Table("t"), slices.Values([][]any{{1, 1e15}, {2, 123456789.0}, {3, 0.5}, {4, 1.5e-7}, {5, 1e17}}))
	})
	expect(t, query(t, path, "SELECT text FROM t"), []string{"1000000000000000.0", "123456789.0", "0.5", "1.5e-07", "1.0e+17"})
	rows := slices.Values([][]any{{5, "e"}, {6, "f"}})
	expect(t, add(t, path, func(db *Writer) error { return InsertAll(db.Table("t"), rows) }, OnConflict("ignore")).Rows, 1)
	expect(t, add(t, path, func(db *Writer) error { return InsertAll(db.Table("t"), rows) }, OnConflict("update")).Rows, 0)
}
