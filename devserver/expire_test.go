// SPDX-License-Identifier: Apache-2.0

package devserver_test

import (
	"fmt"
	"net/http"
	"strconv"
	"sync"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/informer-gen/informer-gen/devserver"
)

// past is the knowledge of a client from before an expiry.
type past struct {
	first    string // resourceVersion of the first object
	newest   string // resourceVersion of the newest object
	token    string // continue token of the first page
	watching watch.Interface
}

func makePast(t *testing.T, s *devserver.Server) past {
	t.Helper()
	first := create(t, s, "first", "a")
	create(t, s, "second", "a")
	newest := create(t, s, "third", "a")
	page, err := client(t, s).Resource(boats).List(t.Context(), metav1.ListOptions{Limit: 1})
	if err != nil {
		t.Fatal(err)
	}
	p := past{first: first.GetResourceVersion(), newest: newest.GetResourceVersion(), token: page.GetContinue()}
	p.watching = openWatch(t, s, metav1.ListOptions{ResourceVersion: p.newest})
	// The page's resourceVersion must be older than the compaction's.
	create(t, s, "fourth", "a")
	wantEvent(t, p.watching, watch.Added, "fourth")
	return p
}

func list(t *testing.T, s *devserver.Server, opts metav1.ListOptions) error {
	t.Helper()
	_, err := client(t, s).Resource(boats).Namespace("default").List(t.Context(), opts)
	return err
}

func exactly(rv string) metav1.ListOptions {
	return metav1.ListOptions{ResourceVersion: rv, ResourceVersionMatch: metav1.ResourceVersionMatchExact}
}

func TestCompactWithoutWatchCache(t *testing.T) {
	t.Parallel()
	s := start(t, devserver.Options{CRDs: crds{boatCRD()}, DisableWatchCache: true})
	p := makePast(t, s)
	if err := list(t, s, exactly(p.first)); err != nil {
		t.Fatalf("exact list before the compaction: %v", err)
	}
	rev, err := s.Compact(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	wantExpired(t, openWatch(t, s, metav1.ListOptions{ResourceVersion: p.first}))
	if err := list(t, s, exactly(p.first)); !apierrors.IsResourceExpired(err) {
		t.Errorf("an exact list returns %v, want Expired", err)
	}
	if err := list(t, s, metav1.ListOptions{Limit: 1, Continue: p.token}); !apierrors.IsResourceExpired(err) {
		t.Errorf("a continue token returns %v, want Expired", err)
	}
	atRev := openWatch(t, s, metav1.ListOptions{ResourceVersion: strconv.FormatInt(rev, 10)})
	create(t, s, "fifth", "a")
	wantEvent(t, atRev, watch.Added, "fifth")
	wantEvent(t, p.watching, watch.Added, "fifth")
	if _, err := s.Compact(t.Context()); err != nil {
		t.Errorf("second Compact: %v", err)
	}
}

func TestCompactWithWatchCache(t *testing.T) {
	t.Parallel()
	s := start(t, devserver.Options{CRDs: crds{boatCRD()}})
	p := makePast(t, s)
	if _, err := s.Compact(t.Context()); err != nil {
		t.Fatal(err)
	}
	old := openWatch(t, s, metav1.ListOptions{ResourceVersion: p.first})
	for _, name := range []string{"second", "third", "fourth"} {
		wantEvent(t, old, watch.Added, name)
	}
	eventually(t, func() error {
		if err := list(t, s, exactly(p.first)); !apierrors.IsResourceExpired(err) {
			return fmt.Errorf("an exact list returns %v, want Expired", err)
		}
		if err := list(t, s, metav1.ListOptions{Limit: 1, Continue: p.token}); !apierrors.IsResourceExpired(err) {
			return fmt.Errorf("a continue token returns %v, want Expired", err)
		}
		return nil
	})
}

func TestExpireWatches(t *testing.T) {
	t.Parallel()
	for _, cache := range []bool{true, false} {
		t.Run(fmt.Sprintf("watchCache=%v", cache), func(t *testing.T) {
			t.Parallel()
			s := start(t, devserver.Options{CRDs: crds{boatCRD()}, DisableWatchCache: !cache})
			p := makePast(t, s)
			if err := s.ExpireWatches(t.Context()); err != nil {
				t.Fatal(err)
			}
			if e, ok := next(t, p.watching); ok {
				t.Errorf("the open watch got %s %v, want its end", e.Type, e.Object)
			}
			for _, rv := range []string{p.first, p.newest} {
				wantExpired(t, openWatch(t, s, metav1.ListOptions{ResourceVersion: rv}))
			}

			eventually(t, func() error {
				if err := list(t, s, exactly(p.first)); !apierrors.IsResourceExpired(err) {
					return fmt.Errorf("an exact list returns %v, want Expired", err)
				}
				return nil
			})

			fresh, err := client(t, s).Resource(boats).List(t.Context(), metav1.ListOptions{})
			if err != nil {
				t.Fatal(err)
			}
			w := openWatch(t, s, metav1.ListOptions{ResourceVersion: fresh.GetResourceVersion()})
			create(t, s, "fifth", "a")
			wantEvent(t, w, watch.Added, "fifth")

			if err := s.ExpireWatches(t.Context()); err != nil {
				t.Fatalf("second ExpireWatches: %v", err)
			}
			wantExpired(t, openWatch(t, s, metav1.ListOptions{ResourceVersion: fresh.GetResourceVersion()}))
		})
	}
}

// TestEndWatchesOfAllForms shows that each request ends that the API server takes for one to watch.
func TestEndWatchesOfAllForms(t *testing.T) {
	t.Parallel()
	s := start(t, devserver.Options{CRDs: crds{boatCRD()}})
	group := "/apis/" + boats.GroupVersion().String()
	for _, path := range []string{"/boats?watch", "/boats?watch=1", "/boats?watch=maybe", "/watch/boats"} {
		resp, err := http.Get(s.URL() + group + path)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		if n, err := s.EndWatches(t.Context()); n != 1 || err != nil {
			t.Errorf("%s: %s; EndWatches returns %d, %v, want 1", path, resp.Status, n, err)
		}
	}
}

// TestCompactAtOnce shows that calls of Compact don't disturb each other.
func TestCompactAtOnce(t *testing.T) {
	t.Parallel()
	s := start(t, devserver.Options{})
	var calls sync.WaitGroup
	for range 20 {
		calls.Go(func() {
			if _, err := s.Compact(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
	calls.Wait()
}
