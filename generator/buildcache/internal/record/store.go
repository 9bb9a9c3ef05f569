// SPDX-License-Identifier: Apache-2.0

package record

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// record is the content of a file.
type record struct {
	// Key is the hash of the parts, in hexadecimal digits.
	Key string
	// Sets are in the order that they are compared in.
	Sets []recorded
	// Note is the caller's.
	Note []byte
}

type recorded struct {
	FileSet
	Hash string
}

const (
	// format changes with what is written to files and with what looking at a set of files means.
	format = "2"
	ending = ".json"
	// temporary begins the names of files that are being written.
	temporary = ".new-"
	// most is how many records are kept.
	most = 128
)

func read(name string) (record, error) {
	var r record
	data, err := os.ReadFile(name)
	if err != nil {
		return r, err
	}
	check, text, _ := bytes.Cut(data, []byte("\n"))
	if string(check) != checkOf(text) {
		return r, errors.New("it is damaged")
	}
	err = json.Unmarshal(text, &r)
	return r, err
}

// checkOf stands before text in a file.
func checkOf(text []byte) string { return fmt.Sprintf("%x", sha256.Sum256(text)) }

func write(name string, r record) error {
	text, err := json.Marshal(r)
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
	return evict(folder)
}

// evict removes the records that were used longest ago, and what interrupted runs have left.
func evict(folder string) error {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return err
	}
	type file struct {
		name string
		used time.Time
	}
	var records []file
	for _, entry := range entries {
		info, err := entry.Info()
		if err != nil {
			continue // another run has removed it
		}
		switch name := filepath.Join(folder, entry.Name()); {
		case strings.HasSuffix(name, ending):
			records = append(records, file{name, info.ModTime()})
		case strings.HasPrefix(entry.Name(), temporary) && time.Since(info.ModTime()) > time.Hour:
			_ = os.Remove(name)
		}
	}
	slices.SortFunc(records, func(a, b file) int { return b.used.Compare(a.used) })
	for _, r := range records[min(most, len(records)):] {
		_ = os.Remove(r.name)
	}
	return nil
}
