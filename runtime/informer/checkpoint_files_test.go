// SPDX-License-Identifier: Apache-2.0

package informer_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/informer-gen/informer-gen/runtime/informer"
	"github.com/informer-gen/informer-gen/runtime/informer/factories"
	"github.com/informer-gen/informer-gen/runtime/object"
	"github.com/informer-gen/informer-gen/runtime/source"
)

// TestUnusableCheckpointIsIgnored shows that an unusable file is logged, ignored and replaced.
func TestUnusableCheckpointIsIgnored(t *testing.T) {
	for name, damage := range map[string]func(content []byte) []byte{
		"damaged": func(content []byte) []byte { content[len(content)/2] ^= 1; return content },
		"cut off": func(content []byte) []byte { return content[:len(content)-7] },
		"foreign": func([]byte) []byte { return []byte("hello") },
		"empty":   func([]byte) []byte { return nil },
		"too new": func([]byte) []byte { return []byte("informer checkpoint 9\nmore") },
	} {
		inBubble(t, name, func(t *testing.T) {
			dir, server := t.TempDir(), newShopOfTwenty()
			startSynced(t, server, dir).end(t)
			path := onlyFile(t, dir)
			content, err := os.ReadFile(path)
			if err == nil {
				err = os.WriteFile(path, damage(content), 0o600)
			}
			noError(t, err)
			l := startSynced(t, server, dir)
			same(t, "requests", l.requests(), []string{"watch-list"})
			if !l.logged("The checkpoint is ignored") {
				t.Error("no log line about the ignored checkpoint")
			}
			l.end(t)
			change(server)
			l = startSynced(t, server, dir) // from the new file
			same(t, "requests of the next process", l.requests(), []string{"watch"})
			l.end(t)
		})
	}
}

func onlyFile(t *testing.T, dir string) string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(dir, "*.checkpoint"))
	if err != nil || len(found) != 1 {
		t.Fatalf("files %q, %v", found, err)
	}
	return found[0]
}

// TestCheckpointOfOtherOptionsIsIgnored has each option that changes objects. Informers with and
// without it have different checkpoints.
func TestCheckpointOfOtherOptionsIsIgnored(t *testing.T) {
	strip := func(pod *corev1.Pod) (*corev1.Pod, error) { pod.Labels = nil; return pod, nil }
	other := func(pod *corev1.Pod) (*corev1.Pod, error) {
		pod.Labels = map[string]string{"other": "yes"}
		return pod, nil
	}
	for name, opts := range map[string][]informer.Option{
		"managed fields": {informer.WithoutManagedFields()},
		"annotations":    {informer.WithoutAnnotations("a")},
		"sharing":        {informer.WithoutSharing()},
		"namespace":      {informer.WithNamespace("shop")},
		"labels":         {informer.WithLabelSelector(labels.SelectorFromSet(labels.Set{"app": "web"}))},
		"transform":      {factories.WithKind(podResource, factories.KindOptions[*corev1.Pod]{Transform: strip})},
	} {
		inBubble(t, name, func(t *testing.T) {
			dir, server := t.TempDir(), newShopOfTwenty()
			startSynced(t, server, dir).end(t)
			startSynced(t, server, dir, opts...).end(t)
			server.Pods.Create(labelled("shop", "new", map[string]string{"app": "web"}))
			l := startSynced(t, server, dir, opts...)
			same(t, "requests with the same options", l.requests(), []string{"watch"})
			if got, _ := l.pods.Store().Snapshot().Get(object.Key{Namespace: "shop", Name: numbered(5)}); name == "transform" && len(got.Labels) > 0 {
				t.Error("the restored object is not transformed")
			}
			l.end(t)
			without := startSynced(t, server, dir)
			same(t, "requests without them", without.requests(), []string{"watch"})
			without.end(t)
			another := startSynced(t, server, dir, factories.WithKind(podResource, factories.KindOptions[*corev1.Pod]{Transform: other}))
			same(t, "requests with another transform", another.requests(), []string{"watch-list"})
			another.end(t)
		})
	}
}

// TestSecretsAreRefused shows that secrets have checkpoints only if the option names them.
func TestSecretsAreRefused(t *testing.T) {
	secrets := corev1.SchemeGroupVersion.WithResource("secrets")
	server := newShop()
	for name, try := range map[string]func(...informer.Option) error{
		"secrets":        func(o ...informer.Option) error { return startOf[*corev1.Secret](t, server, o) },
		"their metadata": func(o ...informer.Option) error { return startOf[*metav1.PartialObjectMetadata](t, server, o) },
		"of New": func(o ...informer.Option) error {
			src, err := source.New[*corev1.Secret](server.Client(t), secrets, source.Options{})
			if err == nil {
				_, err = informer.New(src, o...)
			}
			return err
		},
	} {
		err := try(informer.WithCheckpoint(t.TempDir()))
		if err == nil || !strings.Contains(err.Error(), `WithCheckpoint: objects of secrets would be written to disk in plain text; to allow it, name them: WithCheckpoint(dir, "secrets")`) {
			t.Errorf("%s: %v, want a refusal", name, err)
		}
		for _, o := range []informer.Option{informer.WithCheckpoint(t.TempDir(), "secrets"), informer.WithCheckpoint("")} {
			if err := try(o); err != nil {
				t.Errorf("%s: %v, want no error", name, err)
			}
		}
	}
	if err := startOf[*corev1.Secret](t, server, []informer.Option{informer.WithCheckpoint("x", "")}); err == nil {
		t.Error("WithCheckpoint with an empty resource name: no error")
	}
}

// startOf makes an informer of secrets, and returns the error of Start.
func startOf[T object.Object](t *testing.T, server *shop, opts []informer.Option) error {
	f := server.Factory(t, opts...)
	factories.For[T](f, corev1.SchemeGroupVersion.WithResource("secrets"))
	defer shutdown(t, f)
	return f.Start(t.Context())
}

// TestCheckpointNeedsASourceWithIdentity shows that New refuses WithCheckpoint for other sources.
func TestCheckpointNeedsASourceWithIdentity(t *testing.T) {
	server := newShop()
	if _, err := informer.New(server.Source(t), informer.WithCheckpoint(t.TempDir())); err != nil {
		t.Error(err)
	}
	type plain struct{ source.Source[*corev1.Pod] }
	_, err := informer.New[*corev1.Pod](plain{server.Source(t)}, informer.WithCheckpoint(t.TempDir()))
	if err == nil || !strings.Contains(err.Error(), "WithCheckpoint: ") || !strings.Contains(err.Error(), "Identity") {
		t.Errorf("New() = %v, want an error about Identity", err)
	}
}

// TestCheckpointDirectoryNotWritable has a file in the place of the directory, which is removed
// later. The informer works in either case.
func TestCheckpointDirectoryNotWritable(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir, server := filepath.Join(t.TempDir(), "file"), newShopOfTwenty()
		noError(t, os.WriteFile(dir, nil, 0o600))
		l := startSynced(t, server, dir)
		pass(time.Minute)
		if s := l.pods.Status().Streams[0]; !l.logged("The checkpoint can't be written") || s.CheckpointError == "" || s.CheckpointVersion != "" {
			t.Errorf("Status() = %+v, want a CheckpointError that was logged", s)
		}
		noError(t, os.Remove(dir))
		pass(time.Minute)
		if s := l.pods.Status().Streams[0]; !l.logged("The checkpoint can be written again") || s.CheckpointError != "" || s.CheckpointVersion != s.ResourceVersion {
			t.Errorf("Status() = %+v, want a new checkpoint", s)
		}
		l.end(t)
	})
}

// TestCheckpointIsWrittenInTheBackground checks when the file is written.
func TestCheckpointIsWrittenInTheBackground(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir, server := t.TempDir(), newShopOfTwenty()
		l := startSynced(t, server, dir)
		at := func() string { return l.pods.Status().Streams[0].CheckpointVersion }
		same(t, "at first", at(), "")
		pass(time.Second)
		first := at()
		same(t, "after a second", first, l.pods.Status().ResourceVersion)
		change(server)
		pass(time.Second)
		same(t, "after a change", at(), first)
		pass(20 * time.Second)
		same(t, "later", at(), l.pods.Status().ResourceVersion)
		written := l.pods.Status().Streams[0].CheckpointTime
		pass(5 * time.Minute)
		same(t, "without a change", l.pods.Status().Streams[0].CheckpointTime, written)
		moved := server.Move(numbered(4), "node-9")
		synctest.Wait()
		l.end(t)
		same(t, "at the end", l.pods.Status().Streams[0].CheckpointVersion, moved.ResourceVersion)
	})
}

// TestCheckpointFilePerNamespace shows that each namespace has its own file, also an added one.
func TestCheckpointFilePerNamespace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir, server := t.TempDir(), newShop(pod("a", "1", ""), pod("b", "2", ""), pod("c", "3", ""))
		first := startSynced(t, server, dir, informer.WithNamespace("a", "b"))
		noError(t, first.pods.AddNamespace("c"))
		pass(time.Minute)
		first.end(t)
		files, err := os.ReadDir(dir)
		if err != nil || len(files) != 3 {
			t.Fatal(files, err)
		}
		for _, namespace := range []string{"a", "b", "c"} {
			server.Pods.Create(pod(namespace, "new", ""))
		}
		l := startSynced(t, server, dir, informer.WithNamespace("a", "b"))
		noError(t, l.pods.AddNamespace("c"))
		pass(time.Minute)
		for _, verb := range l.requests() {
			if verb != "watch" {
				t.Errorf("a %s request, want watches only", verb)
			}
		}
		l.end(t)
	})
}
