// SPDX-License-Identifier: Apache-2.0

// Package record lets a program that turns files into files see, without doing its work, that there
// is none to do.
//
// After a run, [Run.Save] records the files on disk that the run depended on, those that it has
// written among them, and what was in them. When all of them are the same again, and so is the
// key, which stands for everything else, the next run of the same kind would change nothing, and
// [Run.Unchanged] reports so.
//
//	run := record.Begin(folder, key)
//	if _, ok := run.Unchanged(); ok {
//		return
//	}
//	run.Watch(file sets that are known already)
//	… the work …
//	err := run.Save(file sets, note)
//
// A record is a file of its own, named after the key. Runs side by side can't harm it: it is
// replaced at once, and a file that isn't whole or that another program has written is as good as
// none.
package record

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// ErrMoving means that a file has changed, or may have changed, while the run was under way, so
// that it is unknown which content of it the run has seen.
var ErrMoving = errors.New("changed during the run")

// Run is one run of a program. It isn't safe for use by several goroutines.
type Run struct {
	file    string
	begun   time.Time
	last    record            // of an earlier run; only its Key is set if there is none
	watched map[string]string // hashes from before the work, by id
}

// Begin begins a run. folder is where records are kept; it need not exist. parts are everything
// that a run depends on apart from files on disk.
func Begin(folder string, parts ...string) *Run {
	hash := sha256.New()
	for _, part := range append([]string{format}, parts...) {
		fmt.Fprintf(hash, "%d\n%s\n", len(part), part)
	}
	key := hex.EncodeToString(hash.Sum(nil))
	r := &Run{file: filepath.Join(folder, key+ending), begun: time.Now(), watched: map[string]string{}}
	if last, err := read(r.file); err == nil && last.Key == key {
		r.last = last
	}
	r.last.Key = key
	return r
}

// Unchanged reports whether all files are as they were after the run that is recorded, and returns
// its note.
func (r *Run) Unchanged() (note []byte, ok bool) {
	if len(r.last.Sets) == 0 {
		return nil, false
	}
	for _, s := range r.last.Sets {
		if now, _, err := s.look(time.Time{}); err != nil || now != s.Hash {
			return nil, false
		}
	}
	// the order in which records are removed isn't worth an error
	_ = os.Chtimes(r.file, time.Time{}, r.begun)
	return r.last.Note, true
}

// Note returns the note of the run that is recorded, whatever has changed since; nil if there is
// none.
func (r *Run) Note() []byte { return r.last.Note }

// Watch looks at files before the work begins, so that Save can tell whether they have changed
// since. Those that an earlier run has depended on are looked at too; those that are Written
// aren't. Without it Save goes by times, and doesn't trust a file that was written right before the
// run began.
func (r *Run) Watch(sets ...FileSet) {
	for _, s := range r.last.Sets {
		sets = append(sets, s.FileSet)
	}
	for _, s := range sets {
		if s.Written {
			continue
		}
		if now, _, err := s.look(time.Time{}); err == nil {
			r.watched[s.id()] = now
		}
	}
}

// Save records what the run depended on and has left behind, and a note for the next one. It
// records nothing if it returns an error, which wraps ErrMoving if it can't be sure of what was in
// a file when the run has read it.
func (r *Run) Save(sets []FileSet, note []byte) error {
	next := record{Key: r.last.Key, Note: note}
	for _, s := range sets {
		now, moved, err := s.look(r.begun)
		if err != nil {
			return fmt.Errorf("recording a run: %w", err)
		}
		if before, ok := r.watched[s.id()]; ok {
			moved = ""
			if before != now {
				moved = s.Path
			}
		}
		if moved != "" {
			return fmt.Errorf("recording a run: %s %w", moved, ErrMoving)
		}
		next.Sets = append(next.Sets, recorded{s, now})
	}
	return write(r.file, next)
}
