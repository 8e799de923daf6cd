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
	"strings"
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
	// refusal is why the writer takes no rows: it is done, it has failed, or a call of the library runs.
	refusal error
	// failure is the error that lost rows. Finish returns it.
	failure error
	// calls is true while the library runs, which may call the progress function.
	calls bool
	// gaveUp is true if the progress function called Abort.
	gaveUp bool
	// updates is true if rows update others, truncates if named tables are emptied.
	updates, truncates bool
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
	if err := settings.refuseNul(); err != nil {
		return nil, err
	}
	writer := &Writer{ctx: ctx, updates: settings.get("on-conflict") == "update", truncates: settings.get("truncate") == "true"}
	settings.progress = writer.watched(settings.progress)
	library, err := start(&settings)
	if err != nil {
		return nil, err
	}
	writer.library = library
	return writer, nil
}

// watched returns a progress function that stops the writer if the given one called Abort.
func (w *Writer) watched(progress func(Progress) error) func(Progress) error {
	if progress == nil {
		return nil
	}
	return func(seen Progress) error {
		err := progress(seen)
		if w.gaveUp {
			return finished()
		}
		return err
	}
}

// Table returns a table. Its rows have values for these columns. Without columns, rows of values have one for every column of the table; a
// struct has them for its fields, and a map for its keys.
func (w *Writer) Table(name string, columns ...string) *Table {
	var rows *tableRows
	for _, table := range w.tables {
		if table.name == name && slices.Equal(table.asked, columns) {
			return table
		}
		if folded(table.name) == folded(name) {
			rows = table.rows
		}
	}
	if rows == nil {
		rows = &tableRows{}
	}
	table := &Table{writer: w, name: name, asked: slices.Clone(columns), rows: rows}
	w.tables = append(w.tables, table)
	return table
}

// Finish completes the database, waits for the disk and gives the file its name. The writer is done, whatever the result.
func (w *Writer) Finish() (Summary, error) {
	if err := w.usable(); err != nil {
		if !w.calls {
			w.Abort()
		}
		return Summary{}, err
	}
	if err := w.flush(); err != nil {
		w.Abort()
		return Summary{}, err
	}
	var summary Summary
	err := w.call(func() (err error) {
		// The library is gone afterwards, whatever the result.
		w.done = true
		summary, err = w.library.finish()
		return err
	})
	return summary, err
}

// flush hands the waiting rows of all tables to the library.
func (w *Writer) flush() error {
	for _, table := range w.tables {
		if w.truncates && len(table.lists) == 0 {
			// The library empties the tables that it was asked for.
			if _, err := table.whole(); err != nil {
				return err
			}
		}
		if err := table.Flush(); err != nil {
			return err
		}
	}
	return nil
}

// Abort discards the rows: nothing is left of a new database. After Finish it does nothing. In a progress function it stops the call that
// runs.
func (w *Writer) Abort() {
	if w.calls {
		w.gaveUp = true
		return
	}
	if !w.done {
		w.done, w.refusal = true, finished()
		w.library.abort()
	}
}

// call runs a call of the library. The progress function that it may call cannot use the writer.
func (w *Writer) call(run func() error) error {
	w.calls, w.refusal = true, usage("the progress function cannot use its writer")
	defer func() {
		w.calls, w.refusal = false, w.failure
		if w.done {
			w.refusal = finished()
		} else if w.gaveUp {
			w.Abort()
		}
	}()
	return w.cause(run())
}

// fail ends the writer with an error, if there is one: rows were lost. Finish returns it.
func (w *Writer) fail(err error) {
	if err == nil || w.failure != nil {
		return
	}
	w.failure = err
	if !w.done {
		w.refusal = err
	}
}

// usable returns an error if the writer takes no rows.
func (w *Writer) usable() error {
	if w.refusal != nil {
		return w.refusal
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

// refuseNul returns an error for a text with a NUL, behind which C would not look.
func refuseNul(what, text string) error {
	if strings.Contains(text, "\x00") {
		return usage("%s has a NUL character: %q", what, text)
	}
	return nil
}

// folded returns a name as SQLite compares it: letters of ASCII have no case.
func folded(name string) string {
	return strings.Map(func(letter rune) rune {
		if 'A' <= letter && letter <= 'Z' {
			return letter + 'a' - 'A'
		}
		return letter
	}, name)
}
