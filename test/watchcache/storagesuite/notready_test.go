// SPDX-License-Identifier: Apache-2.0

package storagesuite

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	examplev1 "k8s.io/apiserver/pkg/apis/example/v1"
	"k8s.io/apiserver/pkg/storage"
	"k8s.io/apiserver/pkg/storage/cacher"

	"github.com/informer-gen/informer-gen/server/serve"
	"github.com/informer-gen/informer-gen/server/watchcache"
)

// TestUnfilledCache compares an API server's cache and ours over storages that don't answer.
// Lists and watches get the same status, with the same delay before a retry.
func TestUnfilledCache(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		theirs, ours := newEmptyCacher(t), newEmptyHandler(t)
		for _, passed := range []time.Duration{0, 20 * time.Second, 20 * time.Second, 40 * time.Second} {
			time.Sleep(passed)
			_, watched := theirs.Watch(t.Context(), "/pods/", storage.ListOptions{Predicate: storage.Everything, Recursive: true})
			listed := theirs.GetList(t.Context(), "/pods/", storage.ListOptions{ResourceVersion: "0", Predicate: storage.Everything, Recursive: true}, &examplev1.PodList{})
			for query, err := range map[string]error{"watch=true": watched, "resourceVersion=0": listed} {
				if !apierrors.IsTooManyRequests(err) {
					t.Fatalf("%s: without its storage, the cacher answers %v", query, err)
				}
				want := err.(apierrors.APIStatus).Status()
				// as sent by API servers
				want.TypeMeta = metav1.TypeMeta{Kind: "Status", APIVersion: "v1"}
				var got metav1.Status
				answer := httptest.NewRecorder()
				ours.ServeHTTP(answer, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/apis/example.apiserver.k8s.io/v1/pods?"+query, nil))
				if err := json.Unmarshal(answer.Body.Bytes(), &got); err != nil {
					t.Fatal(err)
				}
				if !reflect.DeepEqual(got, want) || answer.Code != int(want.Code) {
					t.Errorf("%s: got  %d %+v\nwant %+v", query, answer.Code, got, want)
				}
				if got, want := answer.Header().Get("Retry-After"), strconv.Itoa(int(want.Details.RetryAfterSeconds)); got != want {
					t.Errorf("%s: Retry-After is %q, want %q", query, got, want)
				}
			}
		}
	})
}

// newEmptyCacher returns the cacher of k8s.io/apiserver over a silent storage.
func newEmptyCacher(t *testing.T) *cacher.Cacher {
	t.Helper()
	scheme := runtime.NewScheme()
	if err := examplev1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	c, err := cacher.NewCacherFromConfig(cacher.Config{
		Storage:             silentCacherStorage{ended: t.Context()},
		Versioner:           storage.APIObjectVersioner{},
		GroupResource:       examplev1.Resource("pods"),
		EventsHistoryWindow: cacher.DefaultEventFreshDuration,
		ResourcePrefix:      "/pods/",
		KeyFunc:             func(runtime.Object) (string, error) { return "", nil },
		GetAttrsFunc:        func(runtime.Object) (labels.Set, fields.Set, error) { return nil, nil, nil },
		NewFunc:             func() runtime.Object { return &examplev1.Pod{} },
		NewListFunc:         func() runtime.Object { return &examplev1.PodList{} },
		Codec:               serializer.NewCodecFactory(scheme).LegacyCodec(examplev1.SchemeGroupVersion),
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Stop)
	return c
}

// silentCacherStorage is a cacher's storage that doesn't answer lists until the test ends. The
// cacher doesn't call its other methods.
type silentCacherStorage struct {
	storage.Interface
	ended context.Context
}

// IsWatchListSemanticsUnSupported makes the cacher list.
func (silentCacherStorage) IsWatchListSemanticsUnSupported() bool { return true }

func (silentCacherStorage) Versioner() storage.Versioner                        { return storage.APIObjectVersioner{} }
func (silentCacherStorage) EnableResourceSizeEstimation(storage.KeysFunc) error { return nil }
func (silentCacherStorage) CompactRevision() int64                              { return 0 }

func (s silentCacherStorage) GetList(context.Context, string, storage.ListOptions, runtime.Object) error {
	<-s.ended.Done()
	return context.Cause(s.ended)
}

// newEmptyHandler returns a handler of a cache over a silent storage.
func newEmptyHandler(t *testing.T) http.Handler {
	t.Helper()
	cache, err := watchcache.New(watchcache.Config{Storage: silentStorage{}})
	if err != nil {
		t.Fatal(err)
	}
	var running sync.WaitGroup
	running.Go(func() { _ = cache.Run(t.Context()) }) // its error is the cause of the context
	t.Cleanup(running.Wait)
	h, err := serve.New(serve.Config{Resources: []serve.Resource{{
		GroupVersionResource: examplev1.SchemeGroupVersion.WithResource("pods"), Kind: "Pod", Namespaced: true, Cache: cache,
	}}})
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// silentStorage is a storage that doesn't answer.
type silentStorage struct{ watchcache.Storage }

func (silentStorage) List(ctx context.Context) ([]*watchcache.Object, uint64, error) {
	<-ctx.Done()
	return nil, 0, context.Cause(ctx)
}
