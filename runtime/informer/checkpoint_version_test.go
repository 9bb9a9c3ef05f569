// SPDX-License-Identifier: Apache-2.0

package informer_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/informer-gen/informer-gen/runtime/informer"
	"github.com/informer-gen/informer-gen/testkit/sourcetest"
)

// elsewhere returns a function that writes to another resource, so that the server's version goes
// on.
func elsewhere(server *shop) func() {
	secrets, n := sourcetest.Serve[*corev1.Secret](server.Server, corev1.SchemeGroupVersion.WithResource("secrets"), "Secret"), 0
	return func() {
		n++
		secrets.Create(&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: fmt.Sprint(n)}})
	}
}

// contentOf returns the files with objects, by name.
func contentOf(t *testing.T, dir string) map[string]string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*.checkpoint"))
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	content := map[string]string{}
	for _, path := range files {
		b, err := os.ReadFile(path)
		noError(t, err)
		content[filepath.Base(path)] = string(b)
	}
	return content
}

// TestABookmarkDoesNotWriteTheObjects again, neither in the process that has written them nor in
// those that begin with them. Yet a process that starts again watches from the last bookmark.
func TestABookmarkDoesNotWriteTheObjects(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir, server := t.TempDir(), twenty()
		write := elsewhere(server)
		l := live(t, server, dir)
		pass(2 * time.Second)
		first := contentOf(t, dir)
		for process := range 3 {
			for range 3 {
				write()
				pass(2 * time.Minute) // a bookmark comes each minute
				same(t, "version", l.pods.Status().Streams[0].CheckpointVersion, server.ResourceVersion())
			}
			l.end(t)
			same(t, "objects on disk", contentOf(t, dir), first)
			server.Compact()
			l = live(t, server, dir)
			same(t, fmt.Sprint("requests of process ", process), l.requests(), []string{"watch", "version", "watch"})
		}
		change(server)
		pass(time.Minute)
		if contentOf(t, dir)[filepath.Base(onlyFile(t, dir))] == first[filepath.Base(onlyFile(t, dir))] {
			t.Error("a change of objects is not written")
		}
		write()
		pass(2 * time.Minute)
		l.end(t)
		live(t, server, dir).end(t)
	})
}

// TestAChangeWritesOneNamespaceOnly, and a change that came before the process began is written by
// it.
func TestAChangeWritesOneNamespaceOnly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir, server := t.TempDir(), newShop(pod("a", "1", ""), pod("b", "2", ""))
		namespaces := informer.WithNamespace("a", "b")
		live(t, server, dir, namespaces).end(t)
		before := contentOf(t, dir)
		server.Pods.Create(pod("a", "new", ""))
		l := live(t, server, dir, namespaces)
		pass(2 * time.Minute)
		changed := 0
		for name, content := range contentOf(t, dir) {
			if before[name] != content {
				changed++
			}
		}
		same(t, "files that were written", changed, 1)
		l.end(t)
	})
}
