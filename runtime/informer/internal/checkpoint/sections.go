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

// What a file begins with. Another format of the sections has another number.
const (
	magicWords = "informer checkpoint "
	magic      = magicWords + "4\n"
)

// The kinds of sections.
const (
	headSection    = 'h'
	objectsSection = 'o'
	versionSection = 'v'
	endSection     = 'e'
)

const (
	sectionSize = 256 << 10 // from which on a section of objects ends
	maxSection  = 64 << 20  // the largest section that is written or read
	headerSize  = 1 + 4 + 4 // of a section: kind, length, checksum
)

// Errors about files.
var (
	errDamaged = errors.New("the file is damaged")
	errForeign = errors.New("the file is no checkpoint")
	errFormat  = errors.New("the file was written by another version of this program's informers")
	errOther   = errors.New("the file is about another cluster, collection or Go type, or of another program")
)

var table = crc32.MakeTable(crc32.Castagnoli)

// sections is a file of sections, which is written or read from its beginning.
type sections struct {
	file *os.File
	n    int    // sections so far
	sum  uint32 // checksum of the last one
	left int64  // bytes to be read
	size int64  // bytes written
	buf  []byte
	err  error // of writing; the first one
}

// header returns the header of the next section. Its checksum goes on with that of the section
// before, so it differs in every file, as the random number in the first section does.
func (s *sections) header(kind byte, content []byte) (h [headerSize]byte) {
	h[0] = kind
	binary.LittleEndian.PutUint32(h[1:], uint32(len(content)))
	sum := crc32.Update(s.sum, table, h[:5])
	binary.LittleEndian.PutUint32(h[5:], crc32.Update(sum, table, content))
	return h
}

// pass goes on to the section after the one with the header h.
func (s *sections) pass(h [headerSize]byte) {
	s.n++
	s.sum = binary.LittleEndian.Uint32(h[5:])
}

// put writes a section.
func (s *sections) put(kind byte, content []byte) {
	switch {
	case s.err != nil:
		return
	case len(content) > maxSection:
		s.err = fmt.Errorf("a section of %d bytes; an object is too large", len(content))
		return
	}
	h := s.header(kind, content)
	s.write(h[:])
	s.write(content)
	s.pass(h)
}

func (s *sections) write(b []byte) {
	if s.err == nil {
		_, s.err = s.file.Write(b)
		s.size += int64(len(b))
	}
}

// open opens a file and reads its magic.
func open(path string) (*sections, error) {
	if info, err := os.Stat(path); err != nil {
		return nil, err
	} else if !info.Mode().IsRegular() {
		return nil, errForeign // to open a named pipe would wait for a writer
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	s := &sections{file: file}
	if err := s.readMagic(); err != nil {
		s.close()
		return nil, err
	}
	return s, nil
}

func (s *sections) readMagic() error {
	info, err := s.file.Stat()
	if err != nil {
		return err
	}
	s.left = info.Size()
	begin, err := s.take(len(magic))
	switch {
	case err != nil:
		return err
	case string(begin) == magic:
		return nil
	case strings.HasPrefix(string(begin), magicWords):
		return errFormat
	}
	return errForeign
}

// take reads n bytes, which are valid until the next call.
func (s *sections) take(n int) ([]byte, error) {
	if int64(n) > s.left {
		return nil, fmt.Errorf("%w: it ends too early", errDamaged)
	}
	s.left -= int64(n)
	if cap(s.buf) < n {
		s.buf = make([]byte, n)
	}
	b := s.buf[:n]
	if _, err := io.ReadFull(s.file, b); err != nil {
		return nil, fmt.Errorf("read: %w", err)
	}
	return b, nil
}

// next reads the next section, which has to be of a kind. At the end of the file it returns nil, if
// kind is that of objects or of the end. The content is valid until the next call.
func (s *sections) next(kind byte) ([]byte, error) {
	b, err := s.take(headerSize)
	if err != nil {
		return nil, err
	}
	// An int of 32 bits could not hold every size.
	h, size := [headerSize]byte(b), binary.LittleEndian.Uint32(b[1:])
	if size > maxSection {
		return nil, fmt.Errorf("%w: section %d has %d bytes", errDamaged, s.n, size)
	}
	content, err := s.take(int(size))
	if err != nil {
		return nil, err
	}
	if s.header(h[0], content) != h {
		return nil, fmt.Errorf("%w: section %d has another checksum", errDamaged, s.n)
	}
	s.pass(h)
	switch end := h[0] == endSection && (kind == objectsSection || kind == endSection); {
	case end && s.left == 0:
		return nil, nil
	case end, h[0] != kind:
		return nil, fmt.Errorf("%w: section %d is of another kind", errDamaged, s.n)
	}
	return content, nil
}

// objectReader reads the contents of all sections of objects, each of which has the right checksum.
type objectReader struct {
	sections *sections
	content  []byte // the rest of a section
}

func (r *objectReader) Read(p []byte) (int, error) {
	for len(r.content) == 0 {
		content, err := r.sections.next(objectsSection)
		if err == nil && content == nil {
			err = io.EOF
		}
		if err != nil {
			return 0, err
		}
		r.content = content
	}
	n := copy(p, r.content)
	r.content = r.content[n:]
	return n, nil
}

func (s *sections) close() { _ = s.file.Close() } // nothing was written
