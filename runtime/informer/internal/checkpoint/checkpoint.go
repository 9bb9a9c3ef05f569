// SPDX-License-Identifier: Apache-2.0

package checkpoint

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/informer-gen/informer-gen/runtime/internal/decode"
	"github.com/informer-gen/informer-gen/runtime/object"
)

// Config determines a File.
type Config struct {
	// Dir is the directory. Write makes it if necessary, for the user of the process only.
	Dir string
	// Name is the collection's name for people. Its first letters begin the name of the file.
	Name string
	// Identity has everything else that determines the objects and their content.
	Identity []string
	// Build is the part of the identity that changes with each build of the program. A file of
	// another build is ignored, and replaced.
	Build string
	// Codec encodes and decodes the objects.
	Codec *decode.Codec
	// Unshared means that objects share no parts, and may be changed.
	Unshared bool
}

// File is a checkpoint on disk. Its methods may be called by several goroutines.
type File struct {
	// Set once at construction.
	path     string
	identity [sha256.Size]byte
	codec    *decode.Codec
	unshared bool

	mu   sync.Mutex
	last fileID // of the file read or written last; mu guards it
}

// State describes the content of a File.
type State struct {
	ResourceVersion string
	// Saved is when ResourceVersion was written.
	Saved   time.Time
	Objects int
	// Bytes is the size of the file. Only Read and Write set it.
	Bytes int64
}

// New returns the File of a collection, which need not exist.
func New(c Config) *File {
	elem := c.Codec.Type().Elem()
	pathHash := hash(append([]string{c.Name, strconv.FormatBool(c.Unshared), elem.PkgPath(), elem.String()}, c.Identity...)...)
	return &File{
		path:     filepath.Join(c.Dir, fileName(c.Name)+"-"+hex.EncodeToString(pathHash[:16])+extension),
		identity: hash(string(pathHash[:]), describe(elem), c.Codec.StoredAs().String(), c.Build),
		codec:    c.Codec,
		unshared: c.Unshared,
	}
}

const extension = ".checkpoint"

// fileName returns the first letters of a name, without characters that file systems may refuse.
func fileName(name string) string {
	const maxLen = 40
	name = strings.Map(func(r rune) rune {
		if r == '.' || r == '-' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' {
			return r
		}
		return '_'
	}, strings.ToLower(name))
	return name[:min(len(name), maxLen)]
}

// hash returns a hash of texts and of their boundaries.
func hash(texts ...string) (sum [sha256.Size]byte) {
	h := sha256.New()
	for _, text := range texts {
		fmt.Fprintf(h, "%d %s\n", len(text), text)
	}
	h.Sum(sum[:0])
	return sum
}

// Path returns the path of the file.
func (f *File) Path() string { return f.path }

// Write replaces the file, and returns state with its size. all yields state.Objects objects of the
// Codec's type. An error names the step, and the key of an object that can't be written; the file
// is then unchanged, or can't be read.
func (f *File) Write(state State, all iter.Seq[object.Object]) (State, error) {
	id := newFileID()
	size, err := replace(f.path, func(w io.Writer) error {
		buf := f.appendHead(nil, &head{state, id})
		for obj := range all {
			var err error
			if buf, err = f.codec.AppendStored(buf, obj); err != nil {
				return fmt.Errorf("object %s: %w", object.KeyOf(obj), err)
			}
			if len(buf) >= writeSize {
				if _, err := w.Write(buf); err != nil {
					return err
				}
				buf = buf[:0]
			}
		}
		_, err := w.Write(buf)
		return err
	})
	if err != nil {
		return State{}, err
	}
	// A version is about the previous file. Anything else there would keep this file from being
	// read.
	if err := os.Remove(f.path + versionExtension); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return State{}, err
	}
	f.setLast(id)
	state.Bytes = size
	return state, nil
}

// writeSize is the size of the buffer from which it is written.
const writeSize = 256 << 10

func (f *File) setLast(id fileID) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.last = id
}

// Read calls item with each object of the file, in an unspecified order. The objects are new, and
// share equal parts like those of a list. The error wraps fs.ErrNotExist if there is no file,
// describes a fault of the file, or is item's; the objects passed to item by then are not the whole
// state.
func (f *File) Read(item func(object.Object) error) (State, error) {
	r, err := open(f.path)
	if err != nil {
		return State{}, err
	}
	defer r.close()
	h, err := f.readHead(r)
	if err == nil {
		err = f.readVersion(h)
	}
	if err != nil {
		return State{}, err
	}
	n := 0
	err = f.codec.ReadStored(r, !f.unshared, func(obj object.Object) error {
		n++
		return item(obj)
	})
	var decodeErr *decode.Error
	switch {
	case errors.As(err, &decodeErr):
		return State{}, fmt.Errorf("object %d: %w", decodeErr.Item, err)
	case err != nil:
		return State{}, err
	case n != h.state.Objects:
		return State{}, fmt.Errorf("%w: it has %d objects instead of %d", errDamaged, n, h.state.Objects)
	}
	f.setLast(h.id)
	h.state.Bytes = r.size
	return h.state, nil
}
