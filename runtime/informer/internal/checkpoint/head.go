// SPDX-License-Identifier: Apache-2.0

package checkpoint

import (
	"crypto/rand"
	"encoding/binary"
	"errors"
	"io/fs"
	"time"
)

// fileID identifies one file with objects, among all that were ever written.
type fileID [16]byte

func newFileID() (id fileID) {
	_, _ = rand.Read(id[:]) // it never fails
	return id
}

// head is what a file begins with.
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

// readHead reads the first section of the file.
func (f *File) readHead(s *sections) (*head, error) {
	const fixed = len(f.identity) + len(fileID{}) + 8
	b, err := s.next(headSection)
	switch {
	case err != nil:
		return nil, err
	case len(b) <= fixed:
		return nil, errDamaged
	case [len(f.identity)]byte(b) != f.identity:
		return nil, errOther
	}
	b = b[len(f.identity):]
	h := &head{id: fileID(b)}
	b = b[len(h.id):]
	h.state.Objects = int(binary.LittleEndian.Uint64(b))
	return h, h.state.setVersion(b[8:])
}

func appendVersion(b []byte, state State) []byte {
	b = binary.LittleEndian.AppendUint64(b, uint64(state.Saved.UnixNano()))
	return append(b, state.ResourceVersion...)
}

// setVersion sets what appendVersion has written.
func (s *State) setVersion(b []byte) error {
	if len(b) <= 8 {
		return errDamaged
	}
	s.Saved, s.ResourceVersion = time.Unix(0, int64(binary.LittleEndian.Uint64(b))), string(b[8:])
	return nil
}

// versionExtension is what the name of a version's file has besides that of the file with the
// objects.
const versionExtension = ".version"

// Advance records that the objects that this File has read or written last are those of a later
// state, too. That takes a small file of its own. It returns false if there is another file by now,
// or none: the objects have to be written again.
func (f *File) Advance(state State) (bool, error) {
	f.mu.Lock()
	last := f.last
	f.mu.Unlock()
	if last != f.present() || last == (fileID{}) {
		return false, nil
	}
	_, err := replace(f.path+versionExtension, func(s *sections) error {
		s.put(versionSection, appendVersion(last[:], state))
		s.put(endSection, nil)
		return s.err
	})
	return err == nil, err
}

// present returns which file there is; zero if there is none, or none that can be believed.
func (f *File) present() (id fileID) {
	s, err := open(f.path)
	if err != nil {
		return id
	}
	defer s.close()
	if h, err := f.readHead(s); err == nil {
		id = h.id
	}
	return id
}

// readVersion sets the version and the time of a file to those that Advance has recorded of it, if
// it has.
func (f *File) readVersion(h *head) error {
	s, err := open(f.path + versionExtension)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	} else if err != nil {
		return err
	}
	defer s.close()
	b, err := s.next(versionSection)
	switch {
	case err != nil:
		return err
	case len(b) < len(h.id):
		return errDamaged
	case fileID(b) != h.id: // the file was written after it
		return nil
	}
	if err := h.state.setVersion(b[len(h.id):]); err != nil {
		return err
	}
	_, err = s.next(endSection)
	return err
}
