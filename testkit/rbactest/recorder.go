// SPDX-License-Identifier: Apache-2.0

package rbactest

import (
	"fmt"
	"net/http"
	"os"
	"slices"
	"sync"

	"k8s.io/client-go/rest"

	"github.com/informer-gen/informer-gen/internal/rbac"
)

// Recorder records the requests of a program. The zero value is ready to use. Its methods are safe
// for concurrent use, also by several tests and in bubbles of testing/synctest.
type Recorder struct {
	// Program names the program if a project has several, each with a role of its own. The command
	// informer-gen rbac --program NAME then takes its requests only. Set it before the first
	// request.
	Program string

	mu      sync.Mutex // mu guards the fields below
	known   map[rbac.Request]bool
	records []rbac.Record
	folder  string   // where file lies
	file    *os.File // of records, if informer-gen rbac runs the tests
	depends []string // files that Checked will read
}

// Config returns a copy of config for the program under test: requests of its clients are recorded.
func (r *Recorder) Config(config *rest.Config) *rest.Config {
	config = rest.CopyConfig(config)
	config.Wrap(func(next http.RoundTripper) http.RoundTripper { return &transport{r, next} })
	return config
}

type transport struct {
	recorder *Recorder
	next     http.RoundTripper
}

// RoundTrip implements http.RoundTripper.
func (t *transport) RoundTrip(req *http.Request) (*http.Response, error) {
	needs := needs(req)
	if err := t.recorder.record(needs, req); err != nil {
		if req.Body != nil {
			_ = req.Body.Close()
		}
		return nil, err
	}
	resp, err := t.next.RoundTrip(req)
	if err == nil && resp.StatusCode == http.StatusCreated && len(needs) > 0 && needs[0].Verb != "create" {
		created := needs[0]
		created.Verb = "create"
		if err := t.recorder.record([]rbac.Request{created}, req); err != nil {
			_ = resp.Body.Close()
			return nil, err
		}
	}
	return resp, err
}

// WrappedRoundTripper implements net.RoundTripperWrapper of k8s.io/apimachinery/pkg/util.
func (t *transport) WrappedRoundTripper() http.RoundTripper { return t.next }

func (r *Recorder) record(needs []rbac.Request, req *http.Request) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, need := range needs {
		if r.known[need] {
			continue
		}
		record := rbac.Record{Request: need, Program: r.Program, First: describe(req)}
		if err := r.writeLocked(record); err != nil {
			return fmt.Errorf("rbactest: write a record for informer-gen rbac, to the folder %s=%s: %w", rbac.Folder, os.Getenv(rbac.Folder), err)
		}
		if r.known == nil {
			r.known = map[rbac.Request]bool{}
		}
		r.known[need] = true
		r.records = append(r.records, record)
	}
	return nil
}

// writeLocked writes a record if informer-gen rbac runs the tests. It reads the environment, and
// looks at the roles, while tests run: only then the go command notes that results depend on these.
func (r *Recorder) writeLocked(record rbac.Record) error {
	for _, name := range r.depends {
		_, _ = os.Stat(name)
	}
	folder := os.Getenv(rbac.Folder)
	if folder == "" {
		return nil
	}
	if r.file == nil || r.folder != folder {
		file, err := os.CreateTemp(folder, "*.jsonl")
		if err != nil {
			return err
		}
		r.folder, r.file = folder, file
	}
	return rbac.Append(r.file, record)
}

// all returns the records up to now.
func (r *Recorder) all() []rbac.Record {
	r.mu.Lock()
	defer r.mu.Unlock()
	return rbac.Distinct(slices.Clone(r.records))
}
