// SPDX-License-Identifier: Apache-2.0

// Package memo lets a program that turns files into files see, without doing its work, that there
// is none to do.
//
// After a run, Run.Remember notes the places on disk that the run depended on, those that it has
// written to among them, and what was there. When all of them are the same again, and so is the
// key, which stands for everything else, the next run of the same kind would change nothing, and
// Run.Unchanged says so.
//
//	run := memo.Begin(folder, key)
//	if _, ok := run.Unchanged(); ok {
//		return
//	}
//	run.Watch(places that are known already)
//	… the work …
//	err := run.Remember(places, note)
//
// A memory is a file of its own, named after the key. Runs side by side can't harm it: it is
// replaced at once, and a file that isn't whole or that someone else has written is as good as
// none.
package memo

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// ErrMoving means that a place has changed, or may have changed, while the run was under way, so
// that it is unknown which state of it the run has seen.
var ErrMoving = errors.New("changed during the run")

// Run is one run of a program. It isn't safe for use by several goroutines.
type Run struct {
	file    string
	begun   time.Time
	memory  memory
	watched map[string]string // what was there before the work, by id
}

// memory is the content of a file.
type memory struct {
	// Key is the hash of the parts, in hexadecimal digits.
	Key string
	// Places are in the order that they are compared in.
	Places []remembered
	// Note is the caller's.
	Note []byte
}

type remembered struct {
	Place
	Sum string
}

// Begin begins a run. folder is where memories are kept; it need not exist. parts are everything
// that a run depends on apart from places on disk.
func Begin(folder string, parts ...string) *Run {
	hash := sha256.New()
	for _, part := range append([]string{format}, parts...) {
		fmt.Fprintf(hash, "%d\n%s\n", len(part), part)
	}
	key := hex.EncodeToString(hash.Sum(nil))
	r := &Run{file: filepath.Join(folder, key+ending), begun: time.Now(), watched: map[string]string{}}
	if m, err := read(r.file); err == nil && m.Key == key {
		r.memory = m
	}
	r.memory.Key = key
	return r
}

// Unchanged reports whether all places are as they were after the run that is remembered, and
// returns its note.
func (r *Run) Unchanged() (note []byte, ok bool) {
	if len(r.memory.Places) == 0 {
		return nil, false
	}
	for _, p := range r.memory.Places {
		if found, _, err := p.look(time.Time{}); err != nil || found != p.Sum {
			return nil, false
		}
	}
	// the order in which memories are forgotten isn't worth an error
	_ = os.Chtimes(r.file, time.Time{}, r.begun)
	return r.memory.Note, true
}

// Note returns the note of the run that is remembered, whatever has changed since; nil if there is
// none.
func (r *Run) Note() []byte { return r.memory.Note }

// Watch looks at places before the work begins, so that Remember can tell whether they have changed
// since. Those that an earlier run has depended on are looked at too; those that are Written
// aren't. Without it Remember goes by times, and doesn't trust a file that was written right before
// the run began.
func (r *Run) Watch(places ...Place) {
	for _, p := range r.memory.Places {
		places = append(places, p.Place)
	}
	for _, p := range places {
		if p.Written {
			continue
		}
		if found, _, err := p.look(time.Time{}); err == nil {
			r.watched[p.id()] = found
		}
	}
}

// Remember keeps what the run depended on and has left behind, and a note for the next one. It
// keeps nothing if it returns an error, which wraps ErrMoving if it can't be sure of what a place
// was like when the run has read it.
func (r *Run) Remember(places []Place, note []byte) error {
	m := memory{Key: r.memory.Key, Note: note}
	for _, p := range places {
		found, moved, err := p.look(r.begun)
		if err != nil {
			return fmt.Errorf("remembering a run: %w", err)
		}
		if before, ok := r.watched[p.id()]; ok {
			moved = ""
			if before != found {
				moved = p.Path
			}
		}
		if moved != "" {
			return fmt.Errorf("remembering a run: %s %w", moved, ErrMoving)
		}
		m.Places = append(m.Places, remembered{p, found})
	}
	return write(r.file, m)
}

// --- private from here ---

const (
	// format changes with what is written to files and with what looking at a place means.
	format = "1"
	ending = ".json"
	// temporary begins the names of files that are being written.
	temporary = ".new-"
	// most is how many memories are kept.
	most = 128
)

func read(name string) (memory, error) {
	var m memory
	data, err := os.ReadFile(name)
	if err != nil {
		return m, err
	}
	check, text, _ := bytes.Cut(data, []byte("\n"))
	if string(check) != checkOf(text) {
		return m, errors.New("it is damaged")
	}
	err = json.Unmarshal(text, &m)
	return m, err
}

// checkOf stands before text in a file.
func checkOf(text []byte) string { return fmt.Sprintf("%x", sha256.Sum256(text)) }

func write(name string, m memory) error {
	text, err := json.Marshal(m)
	if err != nil {
		return err
	}
	folder := filepath.Dir(name)
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	file, err := os.CreateTemp(folder, temporary)
	if err != nil {
		return err
	}
	_, err = file.Write(slices.Concat([]byte(checkOf(text)), []byte("\n"), text))
	err = errors.Join(err, file.Close())
	if err == nil {
		err = os.Rename(file.Name(), name)
	}
	if err != nil {
		_ = os.Remove(file.Name()) // the error that led here is the one to tell
		return err
	}
	return forget(folder)
}

// forget removes the memories that were used longest ago, and what interrupted runs have left.
func forget(folder string) error {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return err
	}
	type memory struct {
		name string
		used time.Time
	}
	var memories []memory
	for _, entry := range entries {
		info, err := entry.Info()
		if err != nil {
			continue // another run has removed it
		}
		switch name := filepath.Join(folder, entry.Name()); {
		case strings.HasSuffix(name, ending):
			memories = append(memories, memory{name, info.ModTime()})
		case strings.HasPrefix(entry.Name(), temporary) && time.Since(info.ModTime()) > time.Hour:
			_ = os.Remove(name)
		}
	}
	slices.SortFunc(memories, func(a, b memory) int { return b.used.Compare(a.used) })
	for _, m := range memories[min(most, len(memories)):] {
		_ = os.Remove(m.name)
	}
	return nil
}
