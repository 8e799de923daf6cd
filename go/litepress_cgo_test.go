//go:build cgo && !litepress_exec

package litepress

import (
	"math"
	"path/filepath"
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
