package litepress

import (
	"context"
	"fmt"
	"iter"
	"maps"
	"reflect"
	"slices"
	"strings"
)

// Rows or bytes that are handed to the library at once.
const (
	batchRows  = 4096
	batchBytes = 1 << 20
)

// Table is a table of a Writer, which takes rows.
type Table struct {
	writer  *Writer
	name    string
	asked   []string
	columns []string // known when it is ready, or named before
	number  int
	isReady bool
	batch   batch
	given   uint64
	typ     reflect.Type // of the structs of the last row
	fields  []field      // of these structs, in the order of the columns
}

// Insert inserts a row with a value for every column. A single struct, pointer to a struct, or map[string]any is a row, too.
//
// Values are of integers, floats, strings, []byte (blobs), bool (1 and 0), time.Time (text in UTC), nil, pointers to them, types that are
// made of them, driver.Valuer (sql.NullString) and encoding.TextMarshaler (netip.Addr).
func (t *Table) Insert(row ...any) error {
	if len(row) == 1 && isRow(row[0]) {
		return insertOne(t, row[0])
	}
	return t.insertValues(row)
}

// InsertAll inserts all rows of an iterator: slices.Values(rows). A row is a struct, a pointer to a struct, a map[string]any or a []any.
func InsertAll[T any](table *Table, rows iter.Seq[T]) error {
	for row := range rows {
		if err := insertOne(table, any(row)); err != nil {
			return err
		}
	}
	return nil
}

// InsertChan inserts all rows that come through a channel, until it is closed or the context of the writer is cancelled.
func InsertChan[T any](table *Table, rows <-chan T) error {
	cancelled := table.writer.ctx.Done()
	for {
		select {
		case <-cancelled:
			return context.Cause(table.writer.ctx)
		case row, isOpen := <-rows:
			if !isOpen {
				return nil
			}
			if err := insertOne(table, any(row)); err != nil {
				return err
			}
		}
	}
}

// Append appends rows column by column: the fastest way. There is a column for each one of the table.
func (t *Table) Append(columns ...Column) error {
	if len(columns) == 0 {
		return usage("table %s: no columns were given", t.name)
	}
	if err := t.ready(); err != nil {
		return err
	}
	if err := t.Flush(); err != nil {
		return err
	}
	rows := columns[0].rows
	for at, column := range columns {
		if column.rows != rows || (column.valid != nil && len(column.valid) != rows) {
			return usage("table %s: column %d has another number of rows than column 1, which has %d", t.name, at+1, rows)
		}
	}
	if err := t.writer.library.appendColumns(t.number, columns, rows); err != nil {
		return t.writer.cause(err)
	}
	t.given += uint64(rows)
	return nil
}

// Flush hands the waiting rows to the library. Finish does so for all tables.
func (t *Table) Flush() error {
	if t.batch.rows == 0 {
		return nil
	}
	if err := t.writer.usable(); err != nil {
		return err
	}
	err := t.writer.library.insertRows(t.number, &t.batch)
	t.given += uint64(t.batch.rows)
	t.batch.clear()
	return t.writer.cause(err)
}

// isRow reports whether a value is a row by itself.
func isRow(given any) bool {
	switch given.(type) {
	case map[string]any, []any:
		return true
	}
	typ := reflect.TypeOf(given)
	for typ != nil && typ.Kind() == reflect.Pointer {
		if typ.Implements(valuer) {
			return false
		}
		typ = typ.Elem()
	}
	return typ != nil && typ.Kind() == reflect.Struct && typ != timeType && !typ.Implements(valuer) && !typ.Implements(marshaler)
}

func insertOne(t *Table, row any) error {
	switch row := row.(type) {
	case []any:
		return t.insertValues(row)
	case map[string]any:
		return t.insertMap(row)
	}
	given := reflect.ValueOf(row)
	for given.Kind() == reflect.Pointer && !given.IsNil() {
		given = given.Elem()
	}
	if given.Kind() == reflect.Struct && isRow(row) {
		return t.insertStruct(given)
	}
	if !given.IsValid() || given.Kind() == reflect.Pointer {
		return usage("table %s: record %d: the row is nil", t.name, t.next())
	}
	return t.insertValues([]any{row})
}

// ready asks the library for the table when the columns of its first row are known.
func (t *Table) ready() error {
	if err := t.writer.usable(); err != nil || t.isReady {
		return err
	}
	number, columns, err := t.writer.library.table(t.name, t.columns)
	if err != nil {
		return err
	}
	t.number, t.columns, t.isReady, t.batch.width = number, columns, true, len(columns)
	return nil
}

func (t *Table) next() uint64 { return t.given + uint64(t.batch.rows) + 1 }

func (t *Table) insertValues(row []any) error {
	if !t.isReady {
		if err := t.ready(); err != nil {
			return err
		}
	}
	if len(row) != t.batch.width {
		return &Error{Kind: Data, Table: t.name, Record: t.next(),
			Message: fmt.Sprintf("table %s: record %d: the row has %d values for %d columns", t.name, t.next(), len(row), t.batch.width)}
	}
	for at, value := range row {
		if err := t.batch.add(value); err != nil {
			return t.refuse(at, value, err)
		}
	}
	return t.added()
}

func (t *Table) insertMap(row map[string]any) error {
	if !t.isReady {
		if t.columns == nil {
			t.columns = slices.Sorted(maps.Keys(row))
		}
		if err := t.ready(); err != nil {
			return err
		}
	}
	known := 0
	for at, column := range t.columns {
		value, has := row[column]
		if has {
			known++
		}
		if err := t.batch.add(value); err != nil {
			return t.refuse(at, value, err)
		}
	}
	if known < len(row) {
		t.undo()
		return t.unknown(slices.Sorted(maps.Keys(row)))
	}
	return t.added()
}

func (t *Table) insertStruct(row reflect.Value) error {
	if row.Type() != t.typ {
		if err := t.fit(row.Type()); err != nil {
			return err
		}
	}
	for at := range t.fields {
		field := &t.fields[at]
		value := row.FieldByIndex(field.index)
		if err := field.add(&t.batch, value); err != nil {
			return t.refuse(at, value.Interface(), err)
		}
	}
	return t.added()
}

// fit finds the fields of a struct for the columns. The first struct decides the columns if none were named.
func (t *Table) fit(typ reflect.Type) error {
	fields := fieldsOf(typ)
	if !t.isReady {
		if t.columns == nil {
			for _, field := range fields {
				t.columns = append(t.columns, field.column)
			}
		}
		if err := t.ready(); err != nil {
			return err
		}
	}
	t.fields = t.fields[:0]
	for _, column := range t.columns {
		at := slices.IndexFunc(fields, func(field field) bool { return strings.EqualFold(field.column, column) })
		if at < 0 {
			return &Error{Kind: Usage, Table: t.name, Column: column, Message: fmt.Sprintf("table %s: %s has no field for column %s", t.name, typ, column),
				Advice: "tag a field with `db:\"" + column + "\"`"}
		}
		t.fields = append(t.fields, fields[at])
	}
	t.typ = typ
	return nil
}

// added counts a row, and hands over a full batch.
func (t *Table) added() error {
	if t.writer.done {
		t.undo()
		return finished()
	}
	t.batch.rows++
	if t.batch.rows >= batchRows || len(t.batch.bytes) >= batchBytes {
		return t.Flush()
	}
	return nil
}

// undo takes back the values of a row that is not complete.
func (t *Table) undo() { t.batch.values = t.batch.values[:t.batch.rows*t.batch.width] }

// refuse takes back a row, and returns the error of one of its values.
func (t *Table) refuse(at int, value any, err error) error {
	t.undo()
	column := t.columns[at]
	shown := fmt.Sprintf("%v", value)
	if len(shown) > 60 {
		shown = shown[:60] + "..."
	}
	return &Error{
		Kind: Data, Table: t.name, Column: column, Record: t.next(), Value: shown,
		Message: fmt.Sprintf("table %s: record %d, column %s: %v (value %s)", t.name, t.next(), column, err, shown),
		Advice:  "convert it, or give it as a string or []byte",
	}
}

// unknown returns the error of a map with other keys than the first.
func (t *Table) unknown(keys []string) error {
	keys = slices.DeleteFunc(keys, func(key string) bool { return slices.Contains(t.columns, key) })
	message := fmt.Sprintf("table %s: record %d: no column was named %s", t.name, t.next(), strings.Join(keys, ", "))
	advice := fmt.Sprintf("name all columns: db.Table(%q, %q, ...)", t.name, keys[0])
	return &Error{Kind: Data, Table: t.name, Record: t.next(), Message: message, Advice: advice}
}
