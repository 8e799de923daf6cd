package litepress

import (
	"database/sql/driver"
	"encoding"
	"errors"
	"fmt"
	"math"
	"reflect"
	"time"
	"unicode/utf8"
)

// Types of values. The numbers are those of SQLite.
const (
	typeInteger = 1
	typeReal    = 2
	typeText    = 3
	typeBlob    = 4
	typeNull    = 5
)

// value has the layout of a litepress_value. Texts and blobs have their place in the bytes of their batch in place of an address.
type value struct {
	kind   int32
	_      int32
	bits   uint64
	length uint64
}

// batch holds rows, one after another.
type batch struct {
	values []value
	bytes  []byte
	rows   int
	width  int
	// whole is the number of bytes of whole rows.
	whole int
}

func (b *batch) clear() {
	b.values, b.bytes, b.rows, b.whole = b.values[:0], b.bytes[:0], 0, 0
}

// cut takes back the values of a row that is not whole.
func (b *batch) cut() {
	b.values, b.bytes = b.values[:b.rows*b.width], b.bytes[:b.whole]
}

// end makes the values behind the last row a row.
func (b *batch) end() {
	b.rows++
	b.whole = len(b.bytes)
}

func (b *batch) null() { b.values = append(b.values, value{kind: typeNull}) }

func (b *batch) integer(integer int64) {
	b.values = append(b.values, value{kind: typeInteger, bits: uint64(integer)})
}

// real adds a number. NaN is NULL, as SQLite stores it.
func (b *batch) real(real float64) {
	if math.IsNaN(real) {
		b.null()
		return
	}
	b.values = append(b.values, value{kind: typeReal, bits: math.Float64bits(real)})
}

// text adds a text. One that is not UTF-8 is refused here, with its row, and not by the library with the rows of its batch.
func (b *batch) text(text string) error {
	if !utf8.ValidString(text) {
		return errors.New("the text is not UTF-8")
	}
	b.ascii(text)
	return nil
}

// ascii adds a text that is known to be UTF-8.
func (b *batch) ascii(text string) {
	b.values = append(b.values, value{kind: typeText, bits: uint64(len(b.bytes)), length: uint64(len(text))})
	b.bytes = append(b.bytes, text...)
}

func (b *batch) blob(blob []byte) {
	if blob == nil {
		b.null()
		return
	}
	b.values = append(b.values, value{kind: typeBlob, bits: uint64(len(b.bytes)), length: uint64(len(blob))})
	b.bytes = append(b.bytes, blob...)
}

func (b *batch) unsigned(integer uint64) error {
	if integer > math.MaxInt64 {
		return fmt.Errorf("the integer %d is beyond the 64 bits of SQLite", integer)
	}
	b.integer(int64(integer))
	return nil
}

// moment adds a time as a text in UTC, with as many digits of the second as it has: none, six or nine.
func (b *batch) moment(moment time.Time) {
	layout := "2006-01-02 15:04:05"
	switch nanoseconds := moment.Nanosecond(); {
	case nanoseconds%1000 != 0:
		layout += ".000000000"
	case nanoseconds != 0:
		layout += ".000000"
	}
	b.ascii(moment.UTC().Format(layout))
}

// add adds a value of any type that has a form in SQLite.
func (b *batch) add(given any) error {
	switch given := given.(type) {
	case nil:
		b.null()
	case string:
		return b.text(given)
	case int:
		b.integer(int64(given))
	case int64:
		b.integer(given)
	case float64:
		b.real(given)
	case bool:
		b.boolean(given)
	case []byte:
		b.blob(given)
	case time.Time:
		b.moment(given)
	default:
		return b.reflected(reflect.ValueOf(given))
	}
	return nil
}

func (b *batch) boolean(is bool) {
	if is {
		b.integer(1)
	} else {
		b.integer(0)
	}
}

var (
	timeType  = reflect.TypeFor[time.Time]()
	timePlace = reflect.TypeFor[*time.Time]()
	valuer    = reflect.TypeFor[driver.Valuer]()
	marshaler = reflect.TypeFor[encoding.TextMarshaler]()
)

// reflected adds a value by its kind: named types, pointers, driver.Valuer, encoding.TextMarshaler.
func (b *batch) reflected(given reflect.Value) error {
	kind := given.Kind()
	if (kind == reflect.Pointer || kind == reflect.Interface) && given.IsNil() {
		b.null()
		return nil
	}
	if own, isOwn := own(given); isOwn {
		return own(b)
	}
	switch kind {
	case reflect.Pointer, reflect.Interface:
		return b.reflected(given.Elem())
	case reflect.Bool:
		b.boolean(given.Bool())
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		b.integer(given.Int())
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
		return b.unsigned(given.Uint())
	case reflect.Float32, reflect.Float64:
		b.real(given.Float())
	case reflect.String:
		return b.text(given.String())
	case reflect.Slice:
		if given.Type().Elem().Kind() != reflect.Uint8 {
			return noForm(given)
		}
		b.blob(given.Bytes())
	default:
		return noForm(given)
	}
	return nil
}

// own returns how a type adds its values, if it says so itself.
func own(given reflect.Value) (func(*batch) error, bool) {
	switch typ := given.Type(); {
	case typ == timeType:
		return func(b *batch) error { b.moment(given.Interface().(time.Time)); return nil }, true
	case typ == timePlace:
		// A pointer has the methods of time.Time, too: its MarshalText would make another text of the same moment.
		return func(b *batch) error { b.moment(*given.Interface().(*time.Time)); return nil }, true
	case typ.Implements(valuer):
		return func(b *batch) error {
			value, err := given.Interface().(driver.Valuer).Value()
			if err != nil {
				return err
			}
			return b.add(value)
		}, true
	case typ.Implements(marshaler):
		return func(b *batch) error {
			text, err := given.Interface().(encoding.TextMarshaler).MarshalText()
			if err != nil {
				return err
			}
			return b.text(string(text))
		}, true
	}
	return nil, false
}

func noForm(given reflect.Value) error {
	return fmt.Errorf("%s is no type of SQLite", given.Type())
}
