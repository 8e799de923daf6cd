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
	writer *Writer
	name   string
	asked  []string
	rows   *tableRows
	// lists has the lists of columns by the set of their names.
	lists map[string]*list
	all   *list // the asked columns, or all of the table
	list  *list // of the rows that wait
	batch batch
	// turn counts the rows that were begun.
	turn    uint64
	maps    map[string]*mapShape // by their keys
	mapped  *mapShape            // of the last map
	structs map[reflect.Type]*structShape
	struct_ *structShape // of the last struct
}

// tableRows is what all Tables of one table share.
type tableRows struct {
	// last is the Table with the last row. Its rows wait no longer when another one gets a row: they are in the order of the calls.
	last  *Table
	given uint64
	// before is the list of the last row. Rows that update others have one set of columns.
	before *list
}

// list is a list of columns for which rows have values, and the number that the library gave it.
type list struct {
	number  int
	columns []string
	set     string
}

// mapShape has the keys of maps, in the order of the columns.
type mapShape struct {
	list *list
	keys []string
}

// structShape has the fields of a struct, in the order of the columns.
type structShape struct {
	typ    reflect.Type
	list   *list
	fields []field
}

// Insert inserts a row with a value for every column. A single struct, pointer to a struct, or map[string]any is a row, too: columns that
// it lacks get their DEFAULT.
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
	list, err := t.whole()
	if err != nil {
		return err
	}
	if len(columns) != len(list.columns) {
		return usage("table %s: %d columns were given, and the table takes %d", t.name, len(columns), len(list.columns))
	}
	rows := columns[0].rows
	for at, column := range columns {
		if column.rows != rows || (column.valid != nil && len(column.valid) != rows) {
			return usage("table %s: column %d has another number of rows than column 1, which has %d", t.name, at+1, rows)
		}
	}
	if err := t.begin(list); err != nil {
		return err
	}
	if err := t.Flush(); err != nil {
		return err
	}
	t.rows.before = list
	err = t.writer.call(func() error { return t.writer.library.appendColumns(list.number, columns, rows) })
	if err == nil {
		t.rows.given += uint64(rows)
	}
	return err
}

// Flush hands the waiting rows to the library. Finish does so for all tables.
func (t *Table) Flush() error {
	if t.batch.rows == 0 {
		return nil
	}
	if err := t.writer.usable(); err != nil {
		return err
	}
	// Without the rows of a refused batch there is no database. A panic of the progress function loses them, too.
	err := error(usage("a panic ended the writer"))
	defer func() {
		t.writer.fail(err)
		t.rows.given += uint64(t.batch.rows)
		t.batch.clear()
		t.turn++
	}()
	err = t.writer.call(func() error { return t.writer.library.insertRows(t.list.number, &t.batch) })
	return err
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

// whole returns the list of columns of rows without names: the asked ones, or all of the table.
func (t *Table) whole() (*list, error) {
	if t.all != nil {
		return t.all, nil
	}
	var asked []string
	if len(t.asked) > 0 {
		asked = t.asked
	}
	list, err := t.ask(asked)
	if err == nil {
		t.all = list
	}
	return list, err
}

// listOf returns a list with these columns, in any order.
func (t *Table) listOf(columns []string) (*list, error) {
	if list := t.lists[setOf(columns)]; list != nil {
		return list, nil
	}
	if len(t.asked) > 0 && setOf(columns) == setOf(t.asked) {
		return t.whole()
	}
	return t.ask(columns)
}

// ask asks the library for a list of columns: all of the table for nil.
func (t *Table) ask(columns []string) (*list, error) {
	if err := t.writer.usable(); err != nil {
		return nil, err
	}
	for _, name := range append([]string{t.name}, columns...) {
		if err := refuseNul("a name", name); err != nil {
			return nil, err
		}
	}
	number, columns, err := t.writer.library.table(t.name, columns)
	if err != nil {
		return nil, err
	}
	if t.lists == nil {
		t.lists = map[string]*list{}
	}
	asked := &list{number: number, columns: columns, set: setOf(columns)}
	t.lists[asked.set] = asked
	return asked, nil
}

// setOf returns a text that is the same for all lists of the same columns.
func setOf(columns []string) string {
	names := make([]string, len(columns))
	for at, column := range columns {
		names[at] = folded(column)
	}
	slices.Sort(names)
	return strings.Join(names, "\x00")
}

// next returns the number of the next record of the table. Only the last Table has rows that wait.
func (t *Table) next() uint64 {
	next := t.rows.given + 1
	if last := t.rows.last; last != nil {
		next += uint64(last.batch.rows)
	}
	return next
}

// begin makes the batch ready for a row of a list. Rows of other lists and of other Tables of the same table come before it.
//
// It also takes back what is left of a row before, whose value has panicked.
func (t *Table) begin(list *list) error {
	if t.writer.refusal != nil {
		return t.writer.refusal
	}
	t.batch.cut()
	if t.rows.last != t {
		if last := t.rows.last; last != nil {
			if err := last.Flush(); err != nil {
				return err
			}
		}
		t.rows.last = t
	}
	if t.list != list {
		if err := t.change(list); err != nil {
			return err
		}
	}
	t.turn++
	return nil
}

// change hands over the rows of another list.
func (t *Table) change(list *list) error {
	if t.writer.updates {
		// The library knows one set of columns that an update changes.
		if t.rows.before != nil && t.rows.before.set != list.set {
			return &Error{Kind: Usage, Table: t.name, Record: t.next(),
				Message: fmt.Sprintf("table %s: record %d: rows that update others have values for the same columns, and this row for others: %s",
					t.name, t.next(), strings.Join(list.columns, ", ")),
				Advice: "give it to another writer, after this one"}
		}
	}
	if err := t.Flush(); err != nil {
		return err
	}
	t.list, t.batch.width = list, len(list.columns)
	t.batch.clear()
	return nil
}

func (t *Table) insertValues(row []any) error {
	list := t.all
	if list == nil {
		var err error
		if list, err = t.whole(); err != nil {
			return err
		}
	}
	if len(row) != len(list.columns) {
		return &Error{Kind: Data, Table: t.name, Record: t.next(),
			Message: fmt.Sprintf("table %s: record %d: the row has %d values for %d columns", t.name, t.next(), len(row), len(list.columns))}
	}
	if err := t.begin(list); err != nil {
		return err
	}
	turn := t.turn
	for at, value := range row {
		if err := t.batch.add(value); err != nil {
			return t.refuse(list, at, value, err)
		}
	}
	return t.added(turn)
}

func (t *Table) insertMap(row map[string]any) error {
	if t.mapped == nil || !t.mapped.fits(row) {
		if err := t.fitMap(row); err != nil {
			return err
		}
	}
	shape := t.mapped
	if err := t.begin(shape.list); err != nil {
		return err
	}
	turn := t.turn
	for at, key := range shape.keys {
		if err := t.batch.add(row[key]); err != nil {
			return t.refuse(shape.list, at, row[key], err)
		}
	}
	return t.added(turn)
}

// fits reports whether a map has the keys.
func (s *mapShape) fits(row map[string]any) bool {
	if len(row) != len(s.keys) {
		return false
	}
	for _, key := range s.keys {
		if _, has := row[key]; !has {
			return false
		}
	}
	return true
}

// fitMap finds the columns for the keys of a map.
func (t *Table) fitMap(row map[string]any) error {
	// Not nil, which stands for all columns.
	keys := slices.AppendSeq(make([]string, 0, len(row)), maps.Keys(row))
	slices.Sort(keys)
	name := strings.Join(keys, "\x00")
	if shape := t.maps[name]; shape != nil {
		t.mapped = shape
		return nil
	}
	if unknown := t.unknown(keys); len(t.asked) > 0 && len(unknown) > 0 {
		message := fmt.Sprintf("table %s: record %d: no column was named %s", t.name, t.next(), strings.Join(unknown, ", "))
		advice := fmt.Sprintf("name all columns: db.Table(%q, %q, ...)", t.name, unknown[0])
		return &Error{Kind: Data, Table: t.name, Record: t.next(), Message: message, Advice: advice}
	}
	list, err := t.listOf(keys)
	if err != nil {
		return err
	}
	shape := &mapShape{list: list, keys: make([]string, len(list.columns))}
	for at, column := range list.columns {
		shape.keys[at] = keys[slices.IndexFunc(keys, func(key string) bool { return folded(key) == folded(column) })]
	}
	if t.maps == nil {
		t.maps = map[string]*mapShape{}
	}
	t.maps[name], t.mapped = shape, shape
	return nil
}

// unknown returns the keys for which no columns were asked.
func (t *Table) unknown(keys []string) []string {
	return slices.DeleteFunc(slices.Clone(keys), func(key string) bool {
		return slices.ContainsFunc(t.asked, func(column string) bool { return folded(key) == folded(column) })
	})
}

func (t *Table) insertStruct(row reflect.Value) error {
	if t.struct_ == nil || row.Type() != t.struct_.typ {
		if err := t.fitStruct(row.Type()); err != nil {
			return err
		}
	}
	shape := t.struct_
	if err := t.begin(shape.list); err != nil {
		return err
	}
	turn := t.turn
	for at := range shape.fields {
		field := &shape.fields[at]
		value := row.FieldByIndex(field.index)
		if err := field.add(&t.batch, value); err != nil {
			return t.refuse(shape.list, at, value.Interface(), err)
		}
	}
	return t.added(turn)
}

// fitStruct finds the columns for the fields of a struct. If columns were asked, it finds the fields for them.
func (t *Table) fitStruct(typ reflect.Type) error {
	if shape := t.structs[typ]; shape != nil {
		t.struct_ = shape
		return nil
	}
	fields, err := fieldsOf(typ)
	if err != nil {
		return err
	}
	columns := t.asked
	if len(columns) == 0 {
		for _, field := range fields {
			columns = append(columns, field.column)
		}
	}
	list, err := t.listOf(columns)
	if err != nil {
		return err
	}
	shape := &structShape{typ: typ, list: list}
	for _, column := range list.columns {
		at := slices.IndexFunc(fields, func(field field) bool { return folded(field.column) == folded(column) })
		if at < 0 {
			return &Error{Kind: Usage, Table: t.name, Column: column, Message: fmt.Sprintf("table %s: %s has no field for column %s", t.name, typ, column),
				Advice: "tag a field with `db:\"" + column + "\"`"}
		}
		shape.fields = append(shape.fields, fields[at])
	}
	if t.structs == nil {
		t.structs = map[reflect.Type]*structShape{}
	}
	t.structs[typ], t.struct_ = shape, shape
	return nil
}

// added counts a row, and hands over a full batch.
func (t *Table) added(turn uint64) error {
	if t.turn != turn {
		t.batch.cut()
		return usage("table %s: record %d: a value of the row used its table while it was asked for its form", t.name, t.next())
	}
	if t.writer.refusal != nil {
		t.batch.cut()
		return t.writer.refusal
	}
	t.batch.end()
	t.rows.before = t.list
	if t.batch.rows >= batchRows || len(t.batch.bytes) >= batchBytes {
		return t.Flush()
	}
	return nil
}

// refuse takes back a row, and returns the error of one of its values.
func (t *Table) refuse(list *list, at int, value any, err error) error {
	t.batch.cut()
	column := list.columns[at]
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
