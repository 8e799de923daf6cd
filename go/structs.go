package litepress

import "reflect"

// field is a field of a struct: the name of its column, and where it is.
type field struct {
	column string
	index  []int
	add    func(*batch, reflect.Value) error
}

// fieldsOf returns the fields of a struct: exported ones by the tag `db`, or by their name; those of embedded structs, too.
func fieldsOf(typ reflect.Type) []field {
	var fields []field
	for at := range typ.NumField() {
		one := typ.Field(at)
		name, tagged := one.Tag.Lookup("db")
		if name == "-" {
			continue
		}
		if one.Anonymous && !tagged && one.Type.Kind() == reflect.Struct && one.Type != timeType && !one.Type.Implements(valuer) {
			for _, inner := range fieldsOf(one.Type) {
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
		return plain(func(b *batch, given reflect.Value) { b.text(given.String()) })
	default:
		return (*batch).reflected
	}
}
