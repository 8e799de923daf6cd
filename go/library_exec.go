//go:build !cgo || litepress_exec

package litepress

import (
	"bufio"
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"unicode/utf8"
)

// program collects the rows of each table as lines of JSON in a temporary folder, and gives them to `litepress load` at the end.
//
// A table has one set of columns: the program would take a key that a line lacks for NULL. Blobs and infinite numbers have no form in JSON.
type program struct {
	settings *settings
	folder   string
	files    []*tableFile
	lists    []fileList
	rows     uint64
	// failure is the error that left a part of the rows of a call in a file.
	failure error
}

// tableFile is the file with the rows of a table.
type tableFile struct {
	name string
	set  string
	file *os.File
	out  *bufio.Writer
	rows uint64
}

// fileList is a list of columns of the rows of a file.
type fileList struct {
	*tableFile
	columns []string
	// keys are the columns as JSON writes them, each with its colon.
	keys [][]byte
}

// command returns the name of the program.
func command() string {
	if given := os.Getenv("LITEPRESS_PROGRAM"); given != "" {
		return given
	}
	return "litepress"
}

// start makes the folder, and lets the program look at target, schema and options before rows are made.
func start(settings *settings) (library, error) {
	if _, err := exec.LookPath(command()); err != nil {
		return nil, &Error{Kind: Usage, Message: "the program litepress is not installed: " + err.Error(),
			Advice: "install it, name it with LITEPRESS_PROGRAM, or build with cgo and without the tag litepress_exec"}
	}
	if err := settings.check(); err != nil {
		return nil, err
	}
	folder, err := os.MkdirTemp(settings.get("temp-dir"), "litepress-rows-")
	if err != nil {
		return nil, &Error{Kind: IO, Message: err.Error()}
	}
	begun := &program{settings: settings, folder: folder}
	if err := begun.prepare(); err != nil {
		begun.abort()
		return nil, err
	}
	return begun, nil
}

// check refuses a target that the program would refuse at the end.
func (s *settings) check() error {
	_, err := os.Stat(s.path)
	switch isThere := err == nil; {
	case isThere && !s.exists && s.get("overwrite") != "true":
		return &Error{Kind: Exists, File: s.path, Message: s.path + " exists", Advice: "replace it with litepress.Overwrite(), or use litepress.Open"}
	case !isThere && s.exists && s.schema == nil:
		return usage("%s does not exist, and there is no schema to make it", s.path)
	}
	return nil
}

// prepare writes the schema into the folder, and makes an empty database of it there: SQLite judges it.
func (p *program) prepare() error {
	if p.settings.schema == nil {
		return nil
	}
	if err := os.WriteFile(p.path("schema.sql"), []byte(*p.settings.schema), 0o600); err != nil {
		return &Error{Kind: IO, Message: err.Error()}
	}
	_, err := p.run("generate", p.path("empty.db"), p.path("schema.sql"), "--rows", "0")
	return err
}

func (p *program) path(name string) string { return filepath.Join(p.folder, name) }

// run runs the program, and returns what it prints. A cancelled context interrupts it, and it cleans up.
func (p *program) run(arguments ...string) ([]byte, error) {
	run := exec.CommandContext(p.settings.ctx, command(), append(arguments, "--json")...)
	run.Cancel = func() error { return run.Process.Signal(os.Interrupt) }
	var printed, said bytes.Buffer
	run.Stdout, run.Stderr = &printed, &said
	err := run.Run()
	var status *exec.ExitError
	switch {
	case err == nil:
		return printed.Bytes(), nil
	case p.settings.ctx.Err() != nil:
		return nil, context.Cause(p.settings.ctx)
	case errors.As(err, &status):
		return printed.Bytes(), told(said.Bytes())
	default:
		return nil, &Error{Kind: IO, Message: err.Error()}
	}
}

// told returns the error that the program printed.
func told(said []byte) error {
	var printed struct {
		Kind, Message, Help, File, Table, Column, Value string
		Record                                          uint64
	}
	lines := bytes.Split(bytes.TrimSpace(said), []byte("\n"))
	if err := json.Unmarshal(lines[len(lines)-1], &printed); err != nil {
		return &Error{Kind: Internal, Message: "litepress failed: " + string(said)}
	}
	kind := Internal
	for number, name := range kindNames {
		if name == printed.Kind {
			kind = number
		}
	}
	message := printed.Message
	if printed.Table != "" && printed.Record > 0 {
		message = fmt.Sprintf("table %s: record %d, column %s: %s (value %s)", printed.Table, printed.Record, printed.Column, message, printed.Value)
	}
	return &Error{
		Kind: kind, Message: message, Advice: printed.Help, File: printed.File, Table: printed.Table, Column: printed.Column,
		Value: printed.Value, Record: printed.Record,
	}
}

func (p *program) table(name string, columns []string) (int, []string, error) {
	all, err := p.columns(name)
	if err != nil {
		return 0, nil, err
	}
	if columns == nil {
		columns = all
	}
	list := fileList{columns: columns}
	for _, column := range columns {
		known := false
		for _, one := range all {
			known = known || strings.EqualFold(one, column)
		}
		if !known {
			return 0, nil, &Error{Kind: Schema, Table: name, Column: column, Message: fmt.Sprintf("table %s has no column %s", name, column)}
		}
		list.keys = append(list.keys, append(quoted(nil, column), ':'))
	}
	if list.tableFile, err = p.file(name, setOf(columns)); err != nil {
		return 0, nil, err
	}
	p.lists = append(p.lists, list)
	return len(p.lists) - 1, columns, nil
}

// file returns the file of the rows of a table.
func (p *program) file(name, set string) (*tableFile, error) {
	for _, file := range p.files {
		switch {
		case folded(file.name) != folded(name):
		case file.set == set:
			return file, nil
		default:
			return nil, &Error{Kind: Unsupported, Table: name, Message: "table " + name + ": all rows have values for the same columns without cgo",
				Advice: "give them the same keys, or build with cgo and without the tag litepress_exec"}
		}
	}
	file, err := os.Create(p.path(name + ".ndjson"))
	if err != nil {
		return nil, &Error{Kind: IO, Message: err.Error()}
	}
	p.files = append(p.files, &tableFile{name: name, set: set, file: file, out: bufio.NewWriterSize(file, 1<<16)})
	return p.files[len(p.files)-1], nil
}

// columns asks the program for the columns of a table that are not computed.
func (p *program) columns(table string) ([]string, error) {
	if strings.ContainsAny(table, `/\`) {
		return nil, &Error{Kind: Unsupported, Table: table, Message: "table " + table + ": its name is none of a file", Advice: "build with cgo"}
	}
	database := p.path("empty.db")
	if p.settings.schema == nil {
		database = p.settings.path
	}
	probe := p.path(table + ".ndjson")
	if err := os.WriteFile(probe, []byte("{}\n"), 0o600); err != nil {
		return nil, &Error{Kind: IO, Message: err.Error()}
	}
	printed, err := p.run("plan", database, probe, "--append")
	var plan struct {
		Tables []struct {
			Name    string
			Columns []struct{ Name string }
		}
	}
	if unreadable := json.Unmarshal(printed, &plan); unreadable != nil || len(plan.Tables) != 1 {
		if p.settings.ctx.Err() != nil || err == nil {
			return nil, errors.Join(err, unreadable)
		}
		return nil, &Error{Kind: Usage, Table: table, Message: fmt.Sprintf("there is no table %s: %v", table, err)}
	}
	var columns []string
	for _, column := range plan.Tables[0].Columns {
		columns = append(columns, column.Name)
	}
	return columns, nil
}

func (p *program) insertRows(table int, rows *batch) error {
	file := p.lists[table]
	if rows.width != len(file.keys) {
		return &Error{Kind: Data, Table: file.name, Record: file.rows + 1,
			Message: fmt.Sprintf("table %s: record %d: the row has %d values for %d columns", file.name, file.rows+1, rows.width, len(file.keys))}
	}
	var line []byte
	for row := range rows.rows {
		line = append(line[:0], '{')
		for at, value := range rows.values[row*rows.width:][:rows.width] {
			if at > 0 {
				line = append(line, ',')
			}
			line = append(line, file.keys[at]...)
			var err error
			if line, err = written(line, value, rows.bytes); err != nil {
				return &Error{Kind: Unsupported, Table: file.name, Column: file.columns[at], Record: file.rows + 1, Advice: "build with cgo",
					Message: fmt.Sprintf("table %s: record %d, column %s: %v", file.name, file.rows+1, file.columns[at], err)}
			}
		}
		if _, err := file.out.Write(append(line, '}', '\n')); err != nil {
			return &Error{Kind: IO, Message: err.Error()}
		}
		file.rows++
	}
	return p.watch(uint64(rows.rows))
}

// watch counts rows, and calls the progress function.
func (p *program) watch(rows uint64) error {
	p.rows += rows
	if p.settings.progress == nil {
		return nil
	}
	return p.settings.progress(Progress{Rows: p.rows, Phase: "rows"})
}

// written appends a value as JSON.
func written(line []byte, value value, texts []byte) ([]byte, error) {
	switch value.kind {
	case typeInteger:
		return strconv.AppendInt(line, int64(value.bits), 10), nil
	case typeReal:
		return realWritten(line, math.Float64frombits(value.bits))
	case typeText:
		text := texts[value.bits:][:value.length]
		if !utf8.Valid(text) {
			return line, fmt.Errorf("the text is not UTF-8 (value %q)", text)
		}
		return quoted(line, string(text)), nil
	case typeBlob:
		return line, errors.New("a blob has no form in JSON")
	default:
		return append(line, "null"...), nil
	}
}

// realWritten appends a number in the form of SQLite, which a TEXT column keeps: always with a fraction, and with an exponent from 1.0e+17 on.
func realWritten(line []byte, real float64) ([]byte, error) {
	if math.IsInf(real, 0) {
		return line, errors.New("an infinite number has no form in JSON")
	}
	mantissa, exponent, _ := strings.Cut(strconv.FormatFloat(real, 'e', -1, 64), "e")
	if power, _ := strconv.Atoi(exponent); -5 < power && power < 17 {
		mantissa, exponent = strconv.FormatFloat(real, 'f', -1, 64), ""
	} else {
		exponent = "e" + exponent
	}
	if !strings.Contains(mantissa, ".") {
		mantissa += ".0"
	}
	return append(line, mantissa+exponent...), nil
}

func quoted(line []byte, text string) []byte {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	// A string has a form in JSON.
	_ = encoder.Encode(text)
	return append(line, bytes.TrimRight(out.Bytes(), "\n")...)
}

func (p *program) appendColumns(table int, columns []Column, rows int) error {
	err := p.insertColumns(table, columns, rows)
	if err != nil {
		p.failure = err
	}
	return err
}

func (p *program) insertColumns(table int, columns []Column, rows int) error {
	list, batch := p.lists[table], batch{width: len(columns)}
	for row := range rows {
		for at := range columns {
			if err := columns[at].add(&batch, row); err != nil {
				return &Error{Kind: Data, Table: list.name, Column: list.columns[at], Record: uint64(row + 1),
					Message: fmt.Sprintf("table %s: record %d, column %s: %v", list.name, row+1, list.columns[at], err)}
			}
		}
		batch.end()
		if batch.rows == batchRows || row == rows-1 {
			if err := p.insertRows(table, &batch); err != nil {
				return err
			}
			batch.clear()
		}
	}
	return nil
}

func (p *program) finish() (Summary, error) {
	defer p.abort()
	if p.failure != nil {
		return Summary{}, p.failure
	}
	arguments, err := p.arguments()
	if err != nil {
		return Summary{}, err
	}
	printed, err := p.run(arguments...)
	if err != nil {
		return Summary{}, err
	}
	var told struct {
		Summary
		Append *struct{ Tables []struct{ Added uint64 } }
	}
	if err := json.Unmarshal(printed, &told); err != nil {
		return Summary{}, &Error{Kind: Internal, Message: "litepress printed no summary: " + err.Error()}
	}
	if told.Append != nil {
		// Rows that were updated or ignored are not counted.
		told.Summary.Rows = 0
		for _, table := range told.Append.Tables {
			told.Summary.Rows += table.Added
		}
	}
	return told.Summary, nil
}

// arguments closes the files with rows, and returns the command line.
func (p *program) arguments() ([]string, error) {
	arguments := []string{"load", p.settings.path}
	for _, file := range p.files {
		if err := errors.Join(file.out.Flush(), file.file.Close()); err != nil {
			return nil, &Error{Kind: IO, Message: err.Error()}
		}
		if file.rows > 0 {
			arguments = append(arguments, file.file.Name())
		} else if p.settings.get("truncate") == "true" {
			header, err := p.header(file)
			if err != nil {
				return nil, err
			}
			arguments = append(arguments, header)
		}
	}
	if len(arguments) == 2 {
		if p.settings.exists {
			return nil, usage("there are no rows to add to %s", p.settings.path)
		}
		arguments = []string{"generate", p.settings.path, p.path("schema.sql"), "--rows", "0"}
	} else if p.settings.schema != nil {
		arguments = append(arguments, "--schema", p.path("schema.sql"))
	}
	if p.settings.exists {
		arguments = append(arguments, "--append")
	}
	for _, option := range p.settings.options {
		switch name, value := option[0], option[1]; value {
		case "false":
		case "true":
			arguments = append(arguments, "--"+name)
		default:
			arguments = append(arguments, "--"+name, value)
		}
	}
	return arguments, nil
}

// header writes a file without rows, so that the program empties the table.
func (p *program) header(file *tableFile) (string, error) {
	var header bytes.Buffer
	out := csv.NewWriter(&header)
	err := errors.Join(out.Write(strings.Split(file.set, "\x00")), out.Error())
	out.Flush()
	path := p.path(file.name + ".csv")
	if err = errors.Join(err, os.WriteFile(path, header.Bytes(), 0o600)); err != nil {
		return "", &Error{Kind: IO, Message: err.Error()}
	}
	return path, nil
}

func (p *program) abort() {
	for _, file := range p.files {
		// It may be closed already, and goes with the folder.
		_ = file.file.Close()
	}
	_ = os.RemoveAll(p.folder)
}
