package litepress

import (
	"context"
	"slices"
	"strconv"
	"strings"
)

// settings are the arguments of a writer.
type settings struct {
	ctx      context.Context
	path     string
	schema   *string
	exists   bool
	options  [][2]string
	progress func(Progress) error
}

// get returns the value of an option, or "". The last one counts.
func (s *settings) get(name string) string {
	for _, option := range slices.Backward(s.options) {
		if option[0] == name {
			return option[1]
		}
	}
	return ""
}

// refuseNul returns an error if a text for the library has a NUL.
func (s *settings) refuseNul() error {
	texts := [][2]string{{"the path", s.path}}
	if s.schema != nil {
		texts = append(texts, [2]string{"the schema", *s.schema})
	}
	for _, option := range s.options {
		texts = append(texts, [2]string{"the option " + option[0], option[1]}, [2]string{"the name of an option", option[0]})
	}
	for _, text := range texts {
		if err := refuseNul(text[0], text[1]); err != nil {
			return err
		}
	}
	return nil
}

// Option is an option of Create and Open.
type Option func(*settings)

// Set sets an option by its name in the program: Set("page-size", "8192"), Set("sync", "off"), Set("truncate", "true").
func Set(name, value string) Option {
	return func(s *settings) { s.options = append(s.options, [2]string{name, value}) }
}

// Overwrite replaces an existing database when the new one is complete.
func Overwrite() Option { return Set("overwrite", "true") }

// OnConflict says what becomes of rows whose key exists: "abort", "ignore", "replace" or "update".
func OnConflict(choice string) Option { return Set("on-conflict", choice) }

// Key names the columns of the unique key that decides which row is updated.
func Key(columns ...string) Option { return Set("key", strings.Join(columns, ",")) }

// UpdateColumns names the columns that an update changes.
func UpdateColumns(columns ...string) Option {
	return Set("update-columns", strings.Join(columns, ","))
}

// PageSize sets the bytes of a page: 512 to 65536.
func PageSize(bytes int) Option { return Set("page-size", strconv.Itoa(bytes)) }

// Threads sets the number of threads that build pages.
func Threads(number int) Option { return Set("threads", strconv.Itoa(number)) }

// Memory limits the memory for sorts and pages in flight: "512MiB".
func Memory(size string) Option { return Set("memory", size) }

// Progress of a writer.
type Progress struct {
	Rows  uint64 // Rows that were taken from the program.
	Bytes uint64 // Bytes of pages that were handed to the file.
	Phase string // "rows of metric", "index metric_name"
}

// OnProgress calls a function at most ten times a second, in the goroutine that uses the writer. An error of it stops the writer and
// is returned by the call that runs. The function cannot use the writer, except that Abort stops it.
func OnProgress(function func(Progress) error) Option {
	return func(s *settings) { s.progress = function }
}
