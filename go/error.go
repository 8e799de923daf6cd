package litepress

import "fmt"

// Kind is the kind of an Error. It is an error itself, so that errors.Is(err, litepress.Exists) asks for it.
type Kind int

// Kinds of errors. The numbers are those of the C library.
const (
	Usage       Kind = 1  // The call itself is wrong: an argument, an option, a combination of them.
	Schema      Kind = 2  // SQLite refuses the schema, or it does more than define.
	Unsupported Kind = 3  // litepress does not support this part of the schema.
	Constraint  Kind = 4  // A row breaks a rule of its table.
	Data        Kind = 5  // A value has no form in SQLite.
	Limit       Kind = 6  // A limit of the file format is exceeded.
	Exists      Kind = 7  // The target exists, and replacing it was not allowed.
	Target      Kind = 8  // The target cannot be written.
	NoSpace     Kind = 9  // Not enough room on the disk.
	IO          Kind = 10 // The operating system failed a call.
	Corrupt     Kind = 11 // A database file is damaged.
	Interrupted Kind = 12 // The context was cancelled, or the progress function asked to stop.
	Internal    Kind = 99 // A mistake of litepress itself.
)

var kindNames = map[Kind]string{
	Usage: "usage", Schema: "schema", Unsupported: "unsupported", Constraint: "constraint", Data: "data", Limit: "limit", Exists: "exists",
	Target: "target", NoSpace: "no_space", IO: "io", Corrupt: "corrupt", Interrupted: "interrupted", Internal: "internal",
}

// Error returns the name of the kind.
func (k Kind) Error() string {
	if name, known := kindNames[k]; known {
		return "litepress: " + name
	}
	return fmt.Sprintf("litepress: kind %d", int(k))
}

// Error tells what is wrong, where, and what to do about it. Parts of the place that do not apply are empty.
type Error struct {
	Kind    Kind
	Message string // Place and message in one sentence.
	Advice  string
	File    string
	Table   string
	Column  string
	Value   string
	Record  uint64 // Number of the record in its table, from 1, or 0.
}

// Error returns the message and the advice.
func (e *Error) Error() string {
	if e.Advice == "" {
		return e.Message
	}
	return e.Message + "; " + e.Advice
}

// Is reports whether the target is the kind of the error.
func (e *Error) Is(target error) bool {
	kind, isKind := target.(Kind)
	return isKind && kind == e.Kind
}

// usage returns an error of a wrong call.
func usage(format string, arguments ...any) *Error {
	return &Error{Kind: Usage, Message: fmt.Sprintf(format, arguments...)}
}
