// SPDX-License-Identifier: Apache-2.0

package server

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"sync"
)

// file is a sequence of byte strings, on disk. The zero value is empty.
type file struct {
	file *os.File
	// removed means that the open file has no name any more, where the system allows that, so
	// nothing is left if the program is killed.
	removed bool
	ends    []int64 // the end of each byte string
}

// render writes n byte strings, made by several goroutines.
func (f *file) render(n int, encode func(i int) ([]byte, error)) (err error) {
	if n == 0 {
		return nil
	}
	if f.file, err = os.CreateTemp("", "informer-gen-bench-"); err != nil {
		return err
	}
	f.removed = os.Remove(f.file.Name()) == nil
	out := bufio.NewWriterSize(f.file, 1<<20) // remembers its first error for Flush
	end := int64(0)
	const atOnce = 1000
	things, errs := make([][]byte, atOnce), make([]error, atOnce)
	for from := 0; from < n; from += atOnce {
		to := min(n, from+atOnce)
		var wg sync.WaitGroup
		workers := runtime.GOMAXPROCS(0)
		for w := range workers {
			wg.Go(func() {
				for i := from + w; i < to; i += workers {
					things[i-from], errs[i-from] = encode(i)
				}
			})
		}
		wg.Wait()
		for i := range to - from {
			if errs[i] != nil {
				return fmt.Errorf("rendering object %d: %w", from+i, errs[i])
			}
			_, _ = out.Write(things[i])
			end += int64(len(things[i]))
			f.ends = append(f.ends, end)
		}
	}
	return out.Flush()
}

func (f *file) len() int { return len(f.ends) }

func (f *file) begin(i int) int64 {
	if i == 0 {
		return 0
	}
	return f.ends[i-1]
}

func (f *file) size(from, to int) int64 { return f.begin(to) - f.begin(from) }

// between returns the byte strings with indexes in [from, to).
func (f *file) between(from, to int) io.Reader {
	return io.NewSectionReader(f.file, f.begin(from), f.size(from, to))
}

func (f *file) close() error {
	if f.file == nil {
		return nil
	}
	err := f.file.Close()
	if !f.removed {
		err = errors.Join(err, os.Remove(f.file.Name()))
	}
	return err
}
