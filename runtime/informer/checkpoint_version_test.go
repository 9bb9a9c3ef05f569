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

// otherWrites returns a function that writes to another resource, which increases the server's
// version.
func otherWrites(server *shop) func() {
	secrets, n := sourcetest.Serve[*corev1.Secret](server.Server, corev1.SchemeGroupVersion.WithResource("secrets"), "Secret"), 0
	return func() {
		n++
		secrets.Create(&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: fmt.Sprint(n)}})
	}
}

// contentOf returns the content of the files with objects, by file name.
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

// TestCheckpointBookmarkWritesOnlyTheVersion shows that bookmarks don't write the objects again, in
// the process that wrote them and in later ones. A new process watches from the last bookmark.
func TestCheckpointBookmarkWritesOnlyTheVersion(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir, server := t.TempDir(), newShopOfTwenty()
		write := otherWrites(server)
		l := startSynced(t, server, dir)
		pass(2 * time.Second)
		first := contentOf(t, dir)
		for n := range 3 {
			for range 3 {
				write()
				pass(2 * time.Minute) // a bookmark comes each minute
				same(t, "version", l.pods.Status().Streams[0].CheckpointVersion, server.ResourceVersion())
			}
			l.end(t)
			same(t, "objects on disk", contentOf(t, dir), first)
			server.Compact()
			l = startSynced(t, server, dir)
			same(t, fmt.Sprint("requests of process ", n), l.requests(), []string{"watch", "version", "watch"})
		}
		change(server)
		pass(time.Minute)
		if contentOf(t, dir)[filepath.Base(onlyFile(t, dir))] == first[filepath.Base(onlyFile(t, dir))] {
			t.Error("a change of objects was not written")
		}
		write()
		pass(2 * time.Minute)
		l.end(t)
		startSynced(t, server, dir).end(t)
	})
}

// TestCheckpointWritesOnlyChangedNamespaces shows that a process writes only the files of
// namespaces that have changed, also before its start.
func TestCheckpointWritesOnlyChangedNamespaces(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir, server := t.TempDir(), newShop(pod("a", "1", ""), pod("b", "2", ""))
		namespaces := informer.WithNamespace("a", "b")
		startSynced(t, server, dir, namespaces).end(t)
		before := contentOf(t, dir)
		server.Pods.Create(pod("a", "new", ""))
		l := startSynced(t, server, dir, namespaces)
		pass(2 * time.Minute)
		changed := 0
		for name, content := range contentOf(t, dir) {
			if before[name] != content {
				changed++
			}
		}
		same(t, "written files", changed, 1)
		l.end(t)
	})
}
