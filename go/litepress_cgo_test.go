//go:build cgo && !litepress_exec

package litepress

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The program takes rows as JSON, which has neither blobs nor infinite numbers.
func TestBlobsAndInfinity(t *testing.T) {
	path, _ := made(t, func(db *Writer) error {
		table := db.Table("t")
		for id, value := range []any{[]byte{0xff, 0}, []byte{}, []byte(nil), math.Inf(-1)} {
			if err := table.Insert(id, "n", value); err != nil {
				return err
			}
		}
		return table.Append(Integers([]int64{8, 9}), Texts([]string{"", "é"}), Blobs([][]byte{{1, 2}, nil}))
	})
	expect(t, query(t, path, "SELECT id || ' ' || name || ' ' || CASE WHEN value < -1e308 THEN 'least' ELSE quote(value) END FROM t"), []string{
		"0 n X'FF00'", "1 n X''", "2 n NULL", "3 n least", "8  X'0102'", "9 é X''",
	})
}

func TestAPanicOfTheProgressIsThePrograms(t *testing.T) {
	defer func() { expect(t, recover(), any("mine")) }()
	_, err := makeAt(filepath.Join(t.TempDir(), "t.db"), func(db *Writer) error {
		for id := 0; ; id++ {
			if err := db.Table("t").Insert(id, "a text of a row", id); err != nil {
				return err
			}
		}
	}, OnProgress(func(Progress) error { panic("mine") }))
	t.Fatal(err)
}

// A row that lacks a key got NULL for it: in a new database in place of the DEFAULT, in an update in place of the old value.
func TestRowsWithOtherKeys(t *testing.T) {
	path := makeTable(t, "CREATE TABLE t (id INTEGER PRIMARY KEY, a DEFAULT 'a', b DEFAULT 'b')", func(db *Writer) error {
		table := db.Table("t")
		return errors.Join(
			table.Insert(map[string]any{"id": 1, "a": 1, "b": nil}), table.Insert(map[string]any{"id": 2, "B": 2}), table.Insert(map[string]any{}),
			table.Insert(4, 4, 4), table.Insert(struct{ ID, A int }{5, 5}), db.Table("t", "id", "b").Insert(map[string]any{"id": 6}),
		)
	})
	expect(t, query(t, path, "SELECT * FROM t"), []string{"1|1|", "2|a|2", "3|a|b", "4|4|4", "5|5|b", "6|a|b"})
	add(t, path, func(db *Writer) error {
		table := db.Table("t")
		if err := table.Insert(map[string]any{"id": 1, "a": "new"}); err != nil {
			return err
		}
		err := table.Insert(map[string]any{"id": 2, "b": "new"})
		if !errors.Is(err, Usage) || !strings.Contains(err.Error(), "another writer") {
			return fmt.Errorf("an update of other columns: %v", err)
		}
		return table.Insert(map[string]any{"a": "new", "id": 2})
	}, OnConflict("update"))
	expect(t, query(t, path, "SELECT * FROM t WHERE id < 3"), []string{"1|new|", "2|new|2"})
}

// Each Table handed over its rows when it was full or at the end: of rows with one key the wrong one was the last.
func TestRowsOfTwoTablesStayInTheOrderOfTheCalls(t *testing.T) {
	path := makeTable(t, "CREATE TABLE t (id INTEGER PRIMARY KEY, a, b)", func(db *Writer) error {
		all, part := db.Table("t"), db.Table("T", "id", "a")
		return errors.Join(all.Insert(1, "a0", "b0"), part.Insert(1, "a1"), all.Insert(1, "a2", "b2"), part.Insert(2, "a3"), all.Insert(2, "a4", "b4"))
	}, OnConflict("replace"))
	expect(t, query(t, path, "SELECT * FROM t"), []string{"1|a2|b2", "2|a4|b4"})
}

// A batch that the library refused was forgotten, and Finish made a database without its rows.
func TestAFailedBatchEndsTheWriter(t *testing.T) {
	folder := t.TempDir()
	db, err := Create(context.Background(), filepath.Join(folder, "t.db"), schema)
	if err != nil {
		t.Fatal(err)
	}
	for id := range 10_000 {
		// The error comes with a later row, and is not looked at.
		_ = db.Table("t").Insert(id, map[bool]any{true: nil, false: "a"}[id == 2000], id)
	}
	if _, err := db.Finish(); !errors.Is(err, Constraint) {
		t.Fatal(err)
	}
	left, err := os.ReadDir(folder)
	if err != nil || len(left) > 0 {
		t.Fatal(left, err)
	}
}

// The rows of the batch were handed over again after a panic of the progress function, with addresses that had been added twice.
func TestAPanicOfTheProgressEndsTheWriter(t *testing.T) {
	db, err := Create(context.Background(), filepath.Join(t.TempDir(), "t.db"), schema, OnProgress(func(Progress) error { panic("mine") }))
	if err != nil {
		t.Fatal(err)
	}
	func() {
		defer func() { expect(t, recover(), any("mine")) }()
		for id := 0; ; id++ {
			if err := db.Table("t").Insert(id, "a text of a row", id); err != nil {
				t.Error(err)
				return
			}
		}
	}()
	if err := db.Table("t").Insert(1, "a", 1); !errors.Is(err, Usage) {
		t.Fatal(err)
	}
	if _, err := db.Finish(); !errors.Is(err, Usage) {
		t.Fatal(err)
	}
}
