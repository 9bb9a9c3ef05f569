// SPDX-License-Identifier: Apache-2.0

package upstream_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"

	"github.com/informer-gen/informer-gen/runtime/source"
	"github.com/informer-gen/informer-gen/server/protobuf"
	"github.com/informer-gen/informer-gen/server/upstream"
	"github.com/informer-gen/informer-gen/server/watchcache"
	"github.com/informer-gen/informer-gen/testkit/sourcetest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var resource = corev1.SchemeGroupVersion.WithResource("pods")

// rig is an API server with Pods, and a storage of them.
type rig struct {
	*testing.T
	server  *sourcetest.Server
	pods    *sourcetest.Collection[*corev1.Pod]
	storage *upstream.Storage
}

// inBubble runs a test in a bubble.
func inBubble(t *testing.T, opts upstream.Options, test func(r *rig)) {
	synctest.Test(t, func(t *testing.T) {
		r := &rig{T: t, server: sourcetest.New()}
		r.pods = sourcetest.Serve[*corev1.Pod](r.server, resource, "Pod", "spec.nodeName")
		client, err := source.NewClient(r.server.Config())
		if err != nil {
			t.Fatal(err)
		}
		opts.Kind = "Pod"
		if r.storage, err = upstream.New(client, resource, opts); err != nil {
			t.Fatal(err)
		}
		test(r)
	})
}

func pod(namespace, name, node string) *corev1.Pod {
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}, Spec: corev1.PodSpec{NodeName: node}}
}

// run returns a filled cache of the storage, which runs until the test ends.
func (r *rig) run() *watchcache.Cache {
	r.Helper()
	c, err := watchcache.New(watchcache.Config{Storage: r.storage})
	if err != nil {
		r.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = c.Run(ctx) // the cause of ctx
	}()
	r.Cleanup(func() {
		stop()
		<-ended
	})
	if err := c.WaitReady(r.Context()); err != nil {
		r.Fatal(err)
	}
	return c
}

// keys returns the keys of the cache's objects, each followed by spec.nodeName.
func (r *rig) keys(c *watchcache.Cache) (keys []string) {
	r.Helper()
	list, err := c.List(r.Context(), watchcache.ListOptions{})
	if err != nil {
		r.Fatal(err)
	}
	for _, o := range list.Objects {
		keys = append(keys, o.Key+" "+o.Fields.Get("spec.nodeName"))
	}
	return keys
}

func (r *rig) wantKeys(c *watchcache.Cache, keys ...string) {
	r.Helper()
	synctest.Wait()
	if got := r.keys(c); !slices.Equal(got, keys) {
		r.Errorf("the cache has %q, want %q", got, keys)
	}
}

func TestNewRejectsInvalidOptions(t *testing.T) {
	client, err := source.NewClient(sourcetest.New().Config())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := upstream.New(client, resource, upstream.Options{}); err == nil || !strings.Contains(err.Error(), "Options.Kind") {
		t.Errorf("New without a kind: got %v, want an error about Options.Kind", err)
	}
	if _, err := upstream.New(client, resource, upstream.Options{Kind: "Pod", Drop: []string{"spec"}}); err == nil || !strings.Contains(err.Error(), `"spec" to drop`) {
		t.Errorf("New with a malformed path: got %v, want an error about the path", err)
	}
	opts := upstream.Options{Kind: "Pod", Fields: []string{"spec.x"}, Protobuf: protobuf.Schema{}}
	if _, err := upstream.New(client, resource, opts); err == nil || !strings.Contains(err.Error(), "spec.x has no number") {
		t.Errorf("New with a field missing in the schema: got %v, want an error about the field", err)
	}
	if _, err := upstream.New(nil, resource, upstream.Options{Kind: "Pod"}); err == nil {
		t.Error("New without a client returned no error")
	}
}

func TestCacheFollowsTheServer(t *testing.T) {
	for _, schema := range []protobuf.Schema{nil, protobuf.BuiltIn(corev1.SchemeGroupVersion.WithKind("Pod"))} {
		inBubble(t, upstream.Options{Fields: []string{"spec.nodeName"}, Protobuf: schema}, func(r *rig) {
			r.pods.Create(pod("a", "one", "n1"))
			c := r.run()
			r.wantKeys(c, "a/one n1")
			r.pods.Create(pod("b", "two", "n1"))
			r.pods.Update(pod("a", "one", "n2"))
			r.wantKeys(c, "a/one n2", "b/two n1")
			last := r.pods.Delete("a", "one")
			r.wantKeys(c, "b/two n1")
			if got := fmt.Sprint(c.Status().Version); got != last.ResourceVersion {
				r.Errorf("the cache is at version %s, want %s", got, last.ResourceVersion)
			}
			time.Sleep(time.Hour) // for many watches
			r.pods.Create(pod("c", "three", ""))
			r.wantKeys(c, "b/two n1", "c/three ")
			if relists := c.Status().Relists; relists != 0 {
				r.Errorf("Status().Relists = %d, want 0", relists)
			}
		})
	}
}

// TestObjectsHaveTheirKind shows that objects from lists and watches have kind and apiVersion once.
// Items of lists of built-in kinds lack them at the server.
func TestObjectsHaveTheirKind(t *testing.T) {
	inBubble(t, upstream.Options{}, func(r *rig) {
		r.pods.Create(pod("a", "listed", ""))
		c := r.run()
		r.pods.Create(pod("a", "watched", ""))
		synctest.Wait()
		list, err := c.List(r.Context(), watchcache.ListOptions{})
		if err != nil || len(list.Objects) != 2 {
			r.Fatalf("List() = %v, %v; want two objects", list, err)
		}
		for _, o := range list.Objects {
			for _, want := range []string{`"kind":"Pod"`, `"apiVersion":"v1"`} {
				if strings.Count(string(o.Bytes), want) != 1 {
					r.Errorf("%s doesn't have %s exactly once", o.Bytes, want)
				}
			}
		}
	})
}

// TestDrop shows that dropped parts are missing in objects from lists and watches, and that clients
// may still select by them.
func TestDrop(t *testing.T) {
	decoders := map[string]func([]byte, *corev1.Pod) error{
		"JSON":     func(data []byte, pod *corev1.Pod) error { return json.Unmarshal(data, pod) },
		"protobuf": func(data []byte, pod *corev1.Pod) error { return pod.Unmarshal(data) },
	}
	for format, decode := range decoders {
		opts := upstream.Options{
			Fields: []string{"spec.nodeName"},
			Drop:   []string{".metadata.managedFields", `.metadata.annotations["a/hidden"]`, ".spec"},
		}
		if format == "protobuf" {
			opts.Protobuf = protobuf.BuiltIn(corev1.SchemeGroupVersion.WithKind("Pod"))
		}
		t.Run(format, func(t *testing.T) {
			inBubble(t, opts, func(r *rig) {
				create := func(name string) {
					p := pod("a", name, "n1")
					p.Annotations = map[string]string{"a/hidden": "hidden", "a/shown": "shown"}
					p.ManagedFields = []metav1.ManagedFieldsEntry{{Manager: "hidden"}}
					r.pods.Create(p)
				}
				create("listed")
				c := r.run()
				create("watched")
				r.wantKeys(c, "a/listed n1", "a/watched n1")
				list, err := c.List(r.Context(), watchcache.ListOptions{})
				if err != nil {
					r.Fatal(err)
				}
				for _, o := range list.Objects {
					var got corev1.Pod
					if err := decode(o.Bytes, &got); err != nil || got.Name != o.Name() || got.Annotations["a/shown"] != "shown" {
						r.Errorf("decoding %q: got %+v, %v; want the rest of the Pod", o.Bytes, got, err)
					}
					for _, hidden := range []string{"hidden", "managedFields", "n1"} {
						if strings.Contains(string(o.Bytes), hidden) {
							r.Errorf("%q still has %s", o.Bytes, hidden)
						}
					}
				}
			})
		})
	}
}

// TestMissingBoolIsFalse shows that clients may select by a false value, although JSON omits it.
func TestMissingBoolIsFalse(t *testing.T) {
	const field = "spec.hostNetwork"
	for _, schema := range []protobuf.Schema{nil, protobuf.BuiltIn(corev1.SchemeGroupVersion.WithKind("Pod"))} {
		inBubble(t, upstream.Options{Fields: []string{field}, Protobuf: schema}, func(r *rig) {
			on := pod("a", "on", "")
			on.Spec.HostNetwork = true
			r.pods.Create(on)
			r.pods.Create(pod("a", "off", ""))
			c := r.run()
			for value, want := range map[string]string{"true": "a/on", "false": "a/off"} {
				list, err := c.List(r.Context(), watchcache.ListOptions{Filter: watchcache.Filter{Fields: fields.OneTermEqualSelector(field, value)}})
				if err != nil || len(list.Objects) != 1 || list.Objects[0].Key != want {
					r.Errorf("List with %s=%s = %+v, %v; want %s", field, value, list, err, want)
				}
			}
		})
	}
}

// TestSilentServerTimesOut shows that requests fail after three minutes without an answer, and that
// an open watch ends after three silent minutes.
func TestSilentServerTimesOut(t *testing.T) {
	inBubble(t, upstream.Options{}, func(r *rig) {
		wantSilent := func(began time.Time, err error) {
			r.Helper()
			if took := time.Since(began); err == nil || !strings.Contains(err.Error(), "has sent nothing") || took != 3*time.Minute {
				r.Errorf("the request failed with %v after %v, want the silence after 3m", err, took)
			}
		}
		nothing := func(watchcache.Event) error { return nil }
		r.server.Inject(sourcetest.Fault{Times: 2, Do: sourcetest.Fail(sourcetest.ErrHang)})
		began := time.Now()
		_, _, err := r.storage.List(r.Context())
		wantSilent(began, err)
		began = time.Now()
		wantSilent(began, r.storage.Watch(r.Context(), 1, nothing))

		time.AfterFunc(2*time.Minute, func() { r.pods.Create(pod("a", "one", "")) })
		began = time.Now()
		if err := r.storage.Watch(r.Context(), 1, nothing); err != nil || time.Since(began) != 5*time.Minute {
			r.Errorf("the watch returned %v after %v, want nil after 5m", err, time.Since(began))
		}
	})
}

func TestSelectorsAreSent(t *testing.T) {
	opts := upstream.Options{Namespace: "a", FieldSelector: "spec.nodeName=n1", Fields: []string{"spec.nodeName"}}
	inBubble(t, opts, func(r *rig) {
		r.pods.Create(pod("a", "one", "n1"))
		r.pods.Create(pod("a", "two", "n2"))
		r.pods.Create(pod("b", "three", "n1"))
		c := r.run()
		r.wantKeys(c, "a/one n1")
		r.pods.Update(pod("a", "one", "n2"))
		r.pods.Update(pod("a", "two", "n1"))
		r.wantKeys(c, "a/two n1")
	})
}

// TestPages lists several pages, also if the version expires after the first one.
func TestPages(t *testing.T) {
	for _, expires := range []bool{false, true} {
		t.Run(fmt.Sprintf("the version expires %t", expires), func(t *testing.T) {
			inBubble(t, upstream.Options{}, func(r *rig) {
				const n = 1100
				for i := range n {
					r.pods.Create(pod("a", fmt.Sprint("pod-", i), ""))
				}
				if expires {
					r.server.Inject(sourcetest.Fault{On: sourcetest.Continue, Times: 1, Do: sourcetest.Refuse(http.StatusGone)})
				}
				if got := len(r.keys(r.run())); got != n {
					r.Errorf("the cache has %d objects, want %d", got, n)
				}
			})
		})
	}
}

// TestExpired shows that the cache lists again if the server has compacted the changes missed by
// its watch.
func TestExpired(t *testing.T) {
	inBubble(t, upstream.Options{}, func(r *rig) {
		first := r.pods.Create(pod("a", "one", ""))
		r.pods.Create(pod("a", "two", ""))
		c := r.run()
		serve := r.server.Inject(sourcetest.Fault{On: sourcetest.Watch, Times: sourcetest.Always, Do: sourcetest.Refuse(http.StatusServiceUnavailable)})
		r.server.EndWatches()
		r.pods.Delete("a", "one")
		r.pods.Create(pod("a", "three", ""))
		r.server.Compact()
		serve()
		time.Sleep(time.Minute)
		r.wantKeys(c, "a/three ", "a/two ")

		err := r.storage.Watch(r.Context(), 1, func(watchcache.Event) error { return nil })
		if expired := new(watchcache.ExpiredError); !errors.As(err, &expired) || expired.Version != 1 {
			r.Errorf("Watch after version 1 returned %v, want an ExpiredError; the first object has version %s", err, first.ResourceVersion)
		}
	})
}

// TestRestoredBackup restores the server to an older version. The server accepts the cache's next
// watch, although it is from a future version.
func TestRestoredBackup(t *testing.T) {
	inBubble(t, upstream.Options{Fields: []string{"spec.nodeName"}}, func(r *rig) {
		r.pods.Create(pod("a", "one", "n1"))
		backup := r.pods.Create(pod("a", "two", "n1")).ResourceVersion
		c := r.run()
		r.pods.Update(pod("a", "one", "n2"))
		r.pods.Create(pod("a", "three", "n2"))
		last := r.pods.Delete("a", "two").ResourceVersion
		r.wantKeys(c, "a/one n2", "a/three n2")
		w, err := c.Watch(r.Context(), watchcache.WatchOptions{})
		if err != nil {
			r.Fatal(err)
		}
		defer w.Close()

		r.server.Restore(backup)
		time.Sleep(time.Second)
		r.wantKeys(c, "a/one n1", "a/two n1")
		want := &watchcache.ExpiredError{}
		ctx, cancel := context.WithTimeout(r.Context(), time.Second)
		defer cancel()
		if _, err := w.Next(ctx); !errors.As(err, &want) || fmt.Sprint(want.Version, want.Oldest) != last+" "+backup {
			r.Errorf("the watch ended with %v, want an ExpiredError from %s to %s", err, last, backup)
		}
		r.pods.Create(pod("a", "four", "n1"))
		r.wantKeys(c, "a/four n1", "a/one n1", "a/two n1")
	})
}
