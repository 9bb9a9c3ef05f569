// SPDX-License-Identifier: Apache-2.0

package checkpoint

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"strings"
)

// The beginning of a file. Another format has another number.
const (
	magicPrefix = "informer checkpoint "
	magic       = magicPrefix + "4\n"
)

var (
	errDamaged       = errors.New("the file is damaged")
	errNotCheckpoint = errors.New("the file is not a checkpoint")
	errFormat        = errors.New("the file was written by another version of this program's informers")
	errOtherIdentity = errors.New("the file belongs to another cluster, collection, Go type or program")
)

var table = crc32.MakeTable(crc32.Castagnoli)

const checksumSize = 4 // of the checksum, at a file's end

type writer struct {
	file *os.File
	sum  uint32
	size int64
}

func (w *writer) Write(b []byte) (int, error) {
	n, err := w.file.Write(b)
	w.sum = crc32.Update(w.sum, table, b[:n])
	w.size += int64(n)
	return n, err
}

func (w *writer) end() error {
	_, err := w.Write(binary.LittleEndian.AppendUint32(nil, w.sum))
	return err
}

// reader reads a file from its beginning. It returns io.EOF only if the checksum is right.
type reader struct {
	file      *os.File
	size      int64
	remaining int64 // bytes before the checksum
	sum       uint32
}

// open opens a file and reads its magic.
func open(path string) (*reader, error) {
	if info, err := os.Stat(path); err != nil {
		return nil, err
	} else if !info.Mode().IsRegular() {
		return nil, errNotCheckpoint // opening a named pipe would wait for a writer
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	r := &reader{file: file}
	if err := r.readMagic(); err != nil {
		r.close()
		return nil, err
	}
	return r, nil
}

func (r *reader) readMagic() error {
	info, err := r.file.Stat()
	if err != nil {
		return err
	}
	r.size, r.remaining = info.Size(), info.Size()-checksumSize
	start, err := r.take(len(magic))
	switch {
	case err != nil:
		return err
	case string(start) == magic:
		return nil
	case strings.HasPrefix(string(start), magicPrefix):
		return errFormat
	}
	return errNotCheckpoint
}

func (r *reader) Read(p []byte) (int, error) {
	if r.remaining <= 0 {
		return 0, r.verify()
	}
	n, err := r.file.Read(p[:min(int64(len(p)), r.remaining)])
	r.remaining -= int64(n)
	r.sum = crc32.Update(r.sum, table, p[:n])
	if err == io.EOF {
		err = errTruncated
	}
	return n, err
}

var errTruncated = fmt.Errorf("%w: it ends too early", errDamaged)

// verify returns io.EOF if the checksum is right.
func (r *reader) verify() error {
	var sum [checksumSize]byte
	if _, err := io.ReadFull(r.file, sum[:]); err != nil {
		return errTruncated
	}
	if binary.LittleEndian.Uint32(sum[:]) != r.sum {
		return fmt.Errorf("%w: its checksum is wrong", errDamaged)
	}
	return io.EOF
}

// take reads n bytes. It fails if there are fewer before the checksum.
func (r *reader) take(n int) ([]byte, error) {
	if int64(n) > r.remaining {
		return nil, errTruncated
	}
	b := make([]byte, n)
	_, err := io.ReadFull(r, b)
	return b, err
}

func (r *reader) close() { _ = r.file.Close() } // nothing was written
