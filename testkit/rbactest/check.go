// SPDX-License-Identifier: Apache-2.0

package rbactest

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"testing"

	"github.com/informer-gen/informer-gen/internal/rbac"
)

// Check fails the test if the roles of these files lack rules for the requests recorded up to now,
// or have rules that none of these needs. Call it when the program has ended.
func (r *Recorder) Check(t testing.TB, files ...string) {
	t.Helper()
	if err := r.check(true, files); err != nil {
		t.Error(err)
	}
}

// CheckMissing is like [Recorder.Check], but allows unused rules: other tests may need them.
func (r *Recorder) CheckMissing(t testing.TB, files ...string) {
	t.Helper()
	if err := r.check(false, files); err != nil {
		t.Error(err)
	}
}

// M runs tests. A *testing.M is one.
type M interface{ Run() int }

// Checked returns an M that runs the tests of m and then, if they have passed, checks the roles of
// these files like [Recorder.Check]. If not all tests ran, because of a flag like -run or -short,
// it checks like [Recorder.CheckMissing]. It returns an M for goleak.VerifyTestMain; otherwise call
// Run and os.Exit.
func (r *Recorder) Checked(m M, files ...string) M {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.depends = files
	return checked{r, m, files}
}

type checked struct {
	recorder *Recorder
	tests    M
	files    []string
}

// Run implements M.
func (c checked) Run() int {
	code := c.tests.Run()
	if code != 0 || isSet("test.list") {
		return code
	}
	if err := c.recorder.check(!isPartial(), c.files); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// isPartial reports whether flags of go test leave out tests.
func isPartial() bool {
	return testing.Short() || isSet("test.run") || isSet("test.skip") || isSet("test.fuzz")
}

func isSet(name string) bool {
	f := flag.Lookup(name)
	return f != nil && f.Value.String() != f.DefValue
}

func (r *Recorder) check(unused bool, files []string) error {
	if os.Getenv(rbac.Folder) != "" {
		return nil // informer-gen rbac does it, with all records
	}
	if len(files) == 0 {
		return errors.New("rbactest: name the files that have the role")
	}
	read, err := rbac.ReadFiles(files...)
	if err != nil {
		return fmt.Errorf("rbactest: %w", err)
	}
	c := rbac.Compare(read, r.all())
	found := c.Missing
	if unused {
		found = append(found, c.Unused...)
	}
	if len(found) == 0 {
		return nil
	}
	return fmt.Errorf("rbactest: the role doesn't fit the program's requests (informer-gen rbac --write FILE -- go test ./... writes it):\n%w", found)
}
