// Package litepress writes SQLite databases by building b-tree pages bottom-up on all cores, instead of inserting row by row.
//
//	db, err := litepress.Create(ctx, "metrics.db", "CREATE TABLE metrics (name TEXT, value REAL)")
//	if err != nil {
//		return err
//	}
//	defer db.Abort() // does nothing after Finish
//	if err := db.Table("metrics").Insert("load", 0.5); err != nil {
//		return err
//	}
//	_, err = db.Finish()
//
// The file appears under its name, whole and synced, when Finish returns. Before, and after any failure, the name has what it had.
//
// The package calls the C library liblitepress through cgo. Without cgo, or with the build tag litepress_exec, it runs the program
// litepress instead.
package litepress

import (
	"context"
	"errors"
	"slices"
)

// Summary has the figures of a finished database.
type Summary struct {
	Rows  uint64 // Rows of all tables; rows that were added to a database that existed.
	Bytes uint64 // Bytes of the file.
	Pages uint64 // Pages of the file.
}

// Writer is a database whose rows come while the program runs. It is for one goroutine at a time; different writers are independent.
type Writer struct {
	ctx     context.Context
	library library
	tables  []*Table
	done    bool
}

// library makes the database: the C library, or the program.
type library interface {
	// table returns a number for a table and the columns of its rows: those that are given, or all for nil.
	table(name string, columns []string) (int, []string, error)
	// insertRows inserts rows that stand one after another.
	insertRows(table int, rows *batch) error
	// appendColumns appends rows column by column.
	appendColumns(table int, columns []Column, rows int) error
	finish() (Summary, error)
	abort()
}

// Create begins a new database. The schema is the text of its CREATE statements.
//
// If the context is cancelled, the writer stops and nothing is left.
func Create(ctx context.Context, path, schema string, options ...Option) (*Writer, error) {
	return begin(ctx, path, &schema, false, options)
}

// Open begins to add rows to a database that exists: all of them in one transaction, when Finish is called. The schema makes tables
// that the database lacks, or all of it if there is no file; it may be empty.
func Open(ctx context.Context, path, schema string, options ...Option) (*Writer, error) {
	if schema == "" {
		return begin(ctx, path, nil, true, options)
	}
	return begin(ctx, path, &schema, true, options)
}

func begin(ctx context.Context, path string, schema *string, exists bool, options []Option) (*Writer, error) {
	if err := ctx.Err(); err != nil {
		return nil, context.Cause(ctx)
	}
	settings := settings{ctx: ctx, path: path, schema: schema, exists: exists}
	for _, option := range options {
		option(&settings)
	}
	library, err := start(&settings)
	if err != nil {
		return nil, err
	}
	return &Writer{ctx: ctx, library: library}, nil
}

// Table returns a table. Its rows have values for these columns; without columns, for the fields of its first row if that is a struct
// or a map, and for all columns otherwise.
func (w *Writer) Table(name string, columns ...string) *Table {
	for _, table := range w.tables {
		if table.name == name && slices.Equal(table.asked, columns) {
			return table
		}
	}
	table := &Table{writer: w, name: name, asked: columns}
	if len(columns) > 0 {
		table.columns = columns
	}
	w.tables = append(w.tables, table)
	return table
}

// Finish completes the database, waits for the disk and gives the file its name. The writer is done, whatever the result.
func (w *Writer) Finish() (Summary, error) {
	if err := w.usable(); err != nil {
		return Summary{}, err
	}
	for _, table := range w.tables {
		if err := table.Flush(); err != nil {
			w.Abort()
			return Summary{}, err
		}
	}
	w.done = true
	summary, err := w.library.finish()
	return summary, w.cause(err)
}

// Abort discards the rows: nothing is left of a new database. After Finish it does nothing.
func (w *Writer) Abort() {
	if !w.done {
		w.done = true
		w.library.abort()
	}
}

// usable returns an error if the writer takes no rows.
func (w *Writer) usable() error {
	if w.done {
		return finished()
	}
	if w.ctx.Err() != nil {
		return context.Cause(w.ctx)
	}
	return nil
}

// cause returns the cause of the context rather than that it stopped the writer.
func (w *Writer) cause(err error) error {
	if w.ctx.Err() != nil && errors.Is(err, Interrupted) {
		return context.Cause(w.ctx)
	}
	return err
}

func finished() error {
	return usage("the database is finished or was discarded")
}
