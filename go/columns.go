package litepress

// Column is a column of rows that are appended at once. Integers, Reals, Texts and Blobs make one.
type Column struct {
	kind     int32
	integers []int64
	reals    []float64
	texts    []string
	blobs    [][]byte
	valid    []bool
	rows     int
}

// Integers returns a column of integers. They are not copied, and must stay as they are until Append returns.
func Integers(values []int64) Column {
	return Column{kind: typeInteger, integers: values, rows: len(values)}
}

// Reals returns a column of numbers.
func Reals(values []float64) Column {
	return Column{kind: typeReal, reals: values, rows: len(values)}
}

// Texts returns a column of texts.
func Texts(values []string) Column {
	return Column{kind: typeText, texts: values, rows: len(values)}
}

// Blobs returns a column of blobs. A nil slice is an empty blob: Valid says which rows are NULL.
func Blobs(values [][]byte) Column {
	return Column{kind: typeBlob, blobs: values, rows: len(values)}
}

// Valid returns the column with NULL in all rows for which `valid` is false.
func (c Column) Valid(valid []bool) Column {
	c.valid = valid
	return c
}

// add adds the value of a row to a batch.
func (c *Column) add(b *batch, row int) error {
	switch {
	case c.valid != nil && !c.valid[row]:
		b.null()
	case c.kind == typeInteger:
		b.integer(c.integers[row])
	case c.kind == typeReal:
		b.real(c.reals[row])
	case c.kind == typeText:
		return b.text(c.texts[row])
	case c.blobs[row] == nil:
		b.blob([]byte{})
	default:
		b.blob(c.blobs[row])
	}
	return nil
}
