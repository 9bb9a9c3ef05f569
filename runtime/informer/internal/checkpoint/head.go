// SPDX-License-Identifier: Apache-2.0

package checkpoint

import (
	"crypto/rand"
	"encoding/binary"
	"errors"
	"io"
	"io/fs"
	"time"
)

// fileID identifies one file with objects, among all ever written.
type fileID [16]byte

func newFileID() (id fileID) {
	_, _ = rand.Read(id[:]) // it never fails
	return id
}

type head struct {
	state State // without Bytes
	id    fileID
}

func (f *File) appendHead(b []byte, h *head) []byte {
	b = append(b, f.identity[:]...)
	b = append(b, h.id[:]...)
	b = binary.LittleEndian.AppendUint64(b, uint64(h.state.Objects))
	return appendVersion(b, h.state)
}

func (f *File) readHead(r *reader) (*head, error) {
	b, err := r.take(len(f.identity) + len(fileID{}) + 8)
	switch {
	case err != nil:
		return nil, err
	case [len(f.identity)]byte(b) != f.identity:
		return nil, errOtherIdentity
	}
	b = b[len(f.identity):]
	h := &head{id: fileID(b)}
	h.state.Objects = int(binary.LittleEndian.Uint64(b[len(h.id):]))
	return h, h.state.readVersion(r)
}

func appendVersion(b []byte, state State) []byte {
	b = binary.LittleEndian.AppendUint64(b, uint64(state.Saved.UnixNano()))
	b = binary.LittleEndian.AppendUint32(b, uint32(len(state.ResourceVersion)))
	return append(b, state.ResourceVersion...)
}

// readVersion is the inverse of appendVersion.
func (s *State) readVersion(r *reader) error {
	b, err := r.take(8 + 4)
	if err != nil {
		return err
	}
	size := binary.LittleEndian.Uint32(b[8:])
	if int64(size) > r.remaining || size == 0 {
		return errDamaged
	}
	version, err := r.take(int(size))
	s.Saved, s.ResourceVersion = time.Unix(0, int64(binary.LittleEndian.Uint64(b))), string(version)
	return err
}

// versionExtension is appended to the path of a file to name its version's file.
const versionExtension = ".version"

// Advance records that the objects this File last read or wrote are also those of a later state, in
// a small file of its own. It returns false if there is another file by now, or none: the objects
// have to be written again.
func (f *File) Advance(state State) (bool, error) {
	f.mu.Lock()
	last := f.last
	f.mu.Unlock()
	if last != f.currentID() || last == (fileID{}) {
		return false, nil
	}
	_, err := replace(f.path+versionExtension, func(w io.Writer) error {
		_, err := w.Write(appendVersion(last[:], state))
		return err
	})
	return err == nil, err
}

// currentID returns the id of the current file; zero if there is none, or none to trust.
func (f *File) currentID() (id fileID) {
	r, err := open(f.path)
	if err != nil {
		return id
	}
	defer r.close()
	if h, err := f.readHead(r); err == nil {
		id = h.id
	}
	return id
}

// readVersion sets h's version and time to those recorded by Advance, if any.
func (f *File) readVersion(h *head) error {
	r, err := open(f.path + versionExtension)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	} else if err != nil {
		return err
	}
	defer r.close()
	id, err := r.take(len(h.id))
	if err != nil {
		return err
	}
	var later State
	if err := later.readVersion(r); err != nil {
		return err
	}
	if n, err := r.Read(make([]byte, 1)); n > 0 || err != io.EOF {
		return errors.Join(errDamaged, err)
	}
	if fileID(id) == h.id { // otherwise the file is newer
		h.state.ResourceVersion, h.state.Saved = later.ResourceVersion, later.Saved
	}
	return nil
}
