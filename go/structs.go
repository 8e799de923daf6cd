package litepress

import (
	"reflect"
	"slices"
)

// field is a field of a struct: the name of its column, and where it is.
type field struct {
	column string
	index  []int
	add    func(*batch, reflect.Value) error
}

// fieldsOf returns the fields of a struct, one for each column. Of several for one column the one wins that is embedded less deep, as in Go.
func fieldsOf(typ reflect.Type) ([]field, error) {
	var fields []field
	at := map[string]int{}
	for _, one := range allFieldsOf(typ) {
		name := folded(one.column)
		known, isKnown := at[name]
		switch {
		case !isKnown:
			at[name] = len(fields)
			fields = append(fields, one)
		case len(one.index) < len(fields[known].index):
			fields[known] = one
		}
	}
	for _, one := range allFieldsOf(typ) {
		chosen := fields[at[folded(one.column)]]
		if len(one.index) == len(chosen.index) && !slices.Equal(one.index, chosen.index) {
			err := usage("%s has two fields for column %s", typ, one.column)
			err.Column, err.Advice = one.column, "leave one out with `db:\"-\"`"
			return nil, err
		}
	}
	return fields, nil
}

// allFieldsOf returns the fields of a struct: exported ones by the tag `db`, or by their name; those of embedded structs, too.
func allFieldsOf(typ reflect.Type) []field {
	var fields []field
	for at := range typ.NumField() {
		one := typ.Field(at)
		name, tagged := one.Tag.Lookup("db")
		if name == "-" {
			continue
		}
		if one.Anonymous && !tagged && one.Type.Kind() == reflect.Struct && one.Type != timeType && !one.Type.Implements(valuer) {
			for _, inner := range allFieldsOf(one.Type) {
				inner.index = append([]int{at}, inner.index...)
				fields = append(fields, inner)
			}
			continue
		}
		if !one.IsExported() {
			continue
		}
		if name == "" {
			name = one.Name
		}
		fields = append(fields, field{column: name, index: one.Index, add: adder(one.Type)})
	}
	return fields
}

// adder returns how values of a type are added, without a look at the type for every value.
func adder(typ reflect.Type) func(*batch, reflect.Value) error {
	plain := func(add func(*batch, reflect.Value)) func(*batch, reflect.Value) error {
		return func(b *batch, given reflect.Value) error { add(b, given); return nil }
	}
	if typ == timeType || typ.Implements(valuer) || typ.Implements(marshaler) {
		return (*batch).reflected
	}
	switch typ.Kind() {
	case reflect.Bool:
		return plain(func(b *batch, given reflect.Value) { b.boolean(given.Bool()) })
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return plain(func(b *batch, given reflect.Value) { b.integer(given.Int()) })
	case reflect.Float32, reflect.Float64:
		return plain(func(b *batch, given reflect.Value) { b.real(given.Float()) })
	case reflect.String:
		return func(b *batch, given reflect.Value) error { return b.text(given.String()) }
	default:
		return (*batch).reflected
	}
}
