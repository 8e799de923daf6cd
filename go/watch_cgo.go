//go:build cgo && !litepress_exec

package litepress

// #include <stdint.h>
import "C"

import (
	"runtime/cgo"
)

// litepressGoWatch is called by the library, in the goroutine that uses the writer. It returns 1 to stop.
//
//export litepressGoWatch
func litepressGoWatch(context C.uintptr_t, rows, bytes C.uint64_t, phase *C.char) (stop C.int) {
	watch := cgo.Handle(context).Value().(*watch)
	// A panic must not pass through the library: it goes on when the call has returned.
	defer func() {
		if watch.panicked = recover(); watch.panicked != nil {
			stop = 1
		}
	}()
	if watch.ctx.Err() != nil {
		return 1
	}
	if watch.progress == nil {
		return 0
	}
	watch.err = watch.progress(Progress{Rows: uint64(rows), Bytes: uint64(bytes), Phase: C.GoString(phase)})
	if watch.err != nil {
		return 1
	}
	return 0
}
