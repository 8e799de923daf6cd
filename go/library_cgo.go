//go:build cgo && !litepress_exec

package litepress

/*
#cgo LDFLAGS: -llitepress
#include <stdlib.h>
#include <litepress.h>

extern int litepressGoWatch(uintptr_t context, uint64_t rows, uint64_t bytes, char *phase);

static int litepress_go_watch(void *context, const litepress_progress *progress) {
	return litepressGoWatch((uintptr_t)context, progress->rows, progress->bytes, (char *)progress->phase);
}

static void litepress_go_watch_with(litepress_options *options, uintptr_t context) {
	litepress_options_watch(options, litepress_go_watch, (void *)context);
}
*/
import "C"

import (
	"context"
	"runtime"
	"runtime/cgo"
	"unsafe"
)

// The layouts of value and C.litepress_value are one: this does not compile on a machine on which they are not.
var _ [C.sizeof_litepress_value]byte = [unsafe.Sizeof(value{})]byte{}

// cLibrary is a litepress_writer.
type cLibrary struct {
	writer *C.litepress_writer
	watch  *watch
	handle cgo.Handle
}

// watch hears of the progress.
type watch struct {
	ctx      context.Context
	progress func(Progress) error
	err      error
	panicked any
}

// start begins a writer of the C library.
func start(settings *settings) (library, error) {
	options := C.litepress_options_new()
	defer C.litepress_options_free(options)
	for _, option := range settings.options {
		name, value := C.CString(option[0]), C.CString(option[1])
		var failure *C.litepress_error
		status := C.litepress_options_set(options, name, value, &failure)
		C.free(unsafe.Pointer(name))
		C.free(unsafe.Pointer(value))
		if status != C.LITEPRESS_OK {
			return nil, failed(failure)
		}
	}
	begun := &cLibrary{watch: &watch{ctx: settings.ctx, progress: settings.progress}}
	begun.handle = cgo.NewHandle(begun.watch)
	C.litepress_go_watch_with(options, C.uintptr_t(begun.handle))

	path := C.CString(settings.path)
	defer C.free(unsafe.Pointer(path))
	var schema *C.char
	if settings.schema != nil {
		schema = C.CString(*settings.schema)
		defer C.free(unsafe.Pointer(schema))
	}
	var failure *C.litepress_error
	var status C.litepress_status
	if settings.exists {
		status = C.litepress_open(path, schema, options, &begun.writer, &failure)
	} else {
		status = C.litepress_create(path, schema, options, &begun.writer, &failure)
	}
	if status != C.LITEPRESS_OK {
		begun.handle.Delete()
		return nil, failed(failure)
	}
	return begun, nil
}

func (l *cLibrary) table(name string, columns []string) (int, []string, error) {
	cName := C.CString(name)
	defer C.free(unsafe.Pointer(cName))
	var names **C.char
	if columns != nil {
		all := make([]*C.char, len(columns)+1)
		for at, column := range columns {
			all[at] = C.CString(column)
			defer C.free(unsafe.Pointer(all[at]))
		}
		names = &all[0]
	}
	var number C.size_t
	var failure *C.litepress_error
	if C.litepress_table(l.writer, cName, names, C.size_t(len(columns)), &number, &failure) != C.LITEPRESS_OK {
		return 0, nil, failed(failure)
	}
	var all []string
	for name := C.litepress_column_name(l.writer, number, 0); name != nil; {
		all = append(all, C.GoString(name))
		name = C.litepress_column_name(l.writer, number, C.size_t(len(all)))
	}
	return int(number), all, nil
}

func (l *cLibrary) insertRows(table int, rows *batch) error {
	// Texts are found by their addresses, so that the bytes may not move until the call returns.
	var pinner runtime.Pinner
	defer pinner.Unpin()
	base := address(&pinner, rows.bytes)
	for at := range rows.values {
		if one := &rows.values[at]; one.kind == typeText || one.kind == typeBlob {
			one.bits += uint64(base)
		}
	}
	var failure *C.litepress_error
	values := (*C.litepress_value)(unsafe.Pointer(unsafe.SliceData(rows.values)))
	status := C.litepress_insert_rows(l.writer, C.size_t(table), values, C.size_t(rows.width), C.size_t(rows.rows), &failure)
	return l.outcome(status, failure)
}

// place is a litepress_bytes.
type place struct{ address, length uintptr }

func (l *cLibrary) appendColumns(table int, columns []Column, rows int) error {
	var pinner runtime.Pinner
	defer pinner.Unpin()
	given := make([]C.litepress_column, len(columns))
	for at := range columns {
		column := &columns[at]
		given[at]._type = C.int32_t(column.kind)
		given[at].values = column.pinned(&pinner)
		if column.valid != nil {
			bits := make([]uint8, (rows+7)/8)
			for row, valid := range column.valid {
				if valid {
					bits[row/8] |= 1 << (row % 8)
				}
			}
			given[at].valid = (*C.uint8_t)(pin(&pinner, bits))
		}
	}
	var failure *C.litepress_error
	status := C.litepress_append(l.writer, C.size_t(table), &given[0], C.size_t(len(given)), C.size_t(rows), &failure)
	return l.outcome(status, failure)
}

// pinned returns the address of the values, which stay where they are until they are unpinned.
func (c *Column) pinned(pinner *runtime.Pinner) unsafe.Pointer {
	switch c.kind {
	case typeInteger:
		return pin(pinner, c.integers)
	case typeReal:
		return pin(pinner, c.reals)
	case typeText:
		return places(pinner, c.texts)
	default:
		return places(pinner, c.blobs)
	}
}

// places copies texts or blobs one after another, and returns the address of their places.
func places[T string | []byte](pinner *runtime.Pinner, all []T) unsafe.Pointer {
	size := 0
	for _, one := range all {
		size += len(one)
	}
	joined := make([]byte, 0, size)
	found := make([]place, len(all))
	base := address(pinner, joined[:size])
	for at, one := range all {
		found[at] = place{base + uintptr(len(joined)), uintptr(len(one))}
		joined = append(joined, one...)
	}
	return pin(pinner, found)
}

func pin[T any](pinner *runtime.Pinner, values []T) unsafe.Pointer {
	if len(values) == 0 {
		return nil
	}
	pinner.Pin(&values[0])
	return unsafe.Pointer(&values[0])
}

func address(pinner *runtime.Pinner, bytes []byte) uintptr {
	return uintptr(pin(pinner, bytes))
}

func (l *cLibrary) finish() (Summary, error) {
	defer l.handle.Delete()
	summary := C.litepress_summary{size: C.sizeof_litepress_summary}
	var failure *C.litepress_error
	status := C.litepress_finish(l.writer, &summary, &failure)
	return Summary{Rows: uint64(summary.rows), Bytes: uint64(summary.bytes), Pages: uint64(summary.pages)}, l.outcome(status, failure)
}

func (l *cLibrary) abort() {
	C.litepress_abort(l.writer)
	l.handle.Delete()
}

// outcome returns the error of the progress function, or goes on with its panic, rather than that it stopped the writer.
func (l *cLibrary) outcome(status C.litepress_status, failure *C.litepress_error) error {
	if status == C.LITEPRESS_OK {
		return nil
	}
	err := failed(failure)
	if l.watch.panicked != nil {
		panic(l.watch.panicked)
	}
	if status == C.LITEPRESS_INTERRUPTED && l.watch.err != nil {
		return l.watch.err
	}
	return err
}

// failed returns an error of the library, and frees it.
func failed(failure *C.litepress_error) error {
	defer C.litepress_error_free(failure)
	return &Error{
		Kind:    Kind(C.litepress_error_status(failure)),
		Message: C.GoString(C.litepress_error_message(failure)),
		Advice:  C.GoString(C.litepress_error_advice(failure)),
		File:    C.GoString(C.litepress_error_file(failure)),
		Table:   C.GoString(C.litepress_error_table(failure)),
		Column:  C.GoString(C.litepress_error_column(failure)),
		Value:   C.GoString(C.litepress_error_value(failure)),
		Record:  uint64(C.litepress_error_record(failure)),
	}
}
