// SPDX-License-Identifier: Apache-2.0

package rbac

import (
	"bufio"
	"cmp"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Folder is the environment variable with the name of the folder for records. Tests write them, and
// the command that has set it reads them.
const Folder = "INFORMER_GEN_RBAC"

// Request is an access needed by a program, as its API server's authorizer sees it.
type Request struct {
	Verb        string `json:"verb"`
	Group       string `json:"group,omitempty"`
	Resource    string `json:"resource,omitempty"`
	Subresource string `json:"subresource,omitempty"`
	Name        string `json:"name,omitempty"`
	Namespaced  bool   `json:"namespaced,omitempty"` // within one namespace
	Path        string `json:"path,omitempty"`       // if there is no resource
}

// Record is a request with the first occasion for it.
type Record struct {
	Request
	Program string `json:"program,omitempty"` // one of several in a project, otherwise ""
	First   string `json:"first"`             // the HTTP request, and who sent it
}

// target names the resource, or the path, like kubectl.
func (r Request) target() string {
	if r.Resource == "" {
		return r.Path
	}
	return describe(r.Group, r.resource())
}

// resource returns the resource as rules write it.
func (r Request) resource() string {
	if r.Subresource == "" {
		return r.Resource
	}
	return r.Resource + "/" + r.Subresource
}

// describe returns RESOURCE.GROUP/SUBRESOURCE.
func describe(group, resource string) string {
	if group == "" {
		return resource
	}
	resource, sub, ok := strings.Cut(resource, "/")
	if ok {
		sub = "/" + sub
	}
	return resource + "." + group + sub
}

// Append adds a record to a file.
func Append(file *os.File, r Record) error {
	line, err := json.Marshal(r)
	if err != nil {
		return err
	}
	_, err = file.Write(append(line, '\n'))
	return err
}

// ReadRecords returns the records of all files of a folder, without duplicates, in a stable order.
func ReadRecords(folder string) ([]Record, error) {
	var all []Record
	err := filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		file, err := os.Open(path)
		if err != nil {
			return err
		}
		defer file.Close()
		lines := bufio.NewScanner(file)
		lines.Buffer(nil, 1<<20)
		for lines.Scan() {
			var r Record
			if err := json.Unmarshal(lines.Bytes(), &r); err != nil {
				return fmt.Errorf("%s: %q: %w", path, lines.Bytes(), err)
			}
			all = append(all, r)
		}
		return lines.Err()
	})
	if err != nil {
		return nil, fmt.Errorf("read the recorded requests: %w", err)
	}
	return Distinct(all), nil
}

// Distinct sorts records, and keeps the first of each request.
func Distinct(records []Record) []Record {
	records = slices.SortedStableFunc(slices.Values(records), func(a, b Record) int {
		return cmp.Or(
			cmp.Compare(a.Program, b.Program),
			cmp.Compare(a.Path, b.Path),
			cmp.Compare(a.Group, b.Group),
			cmp.Compare(a.resource(), b.resource()),
			cmp.Compare(a.Verb, b.Verb),
			cmp.Compare(a.Name, b.Name),
			cmp.Compare(a.First, b.First),
		)
	})
	return slices.CompactFunc(records, func(a, b Record) bool { return a.Program == b.Program && a.Request == b.Request })
}
