// SPDX-License-Identifier: Apache-2.0

package serve_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"sync"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/informer-gen/informer-gen/server/serve"
	"github.com/informer-gen/informer-gen/server/watchcache"
)

const watchList = "?watch=true&allowWatchBookmarks=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan"

// join reads a watch-list up to the bookmark that ends the initial events. It returns the
// bookmark's version, and the versions of the objects by name.
func join(t *testing.T, resp *http.Response) (string, map[string]string) {
	version, state := follow(t, resp, func(e metav1.PartialObjectMetadata) bool {
		return e.Annotations[metav1.InitialEventsAnnotationKey] == "true"
	})
	if version == "" {
		t.Error("the watch-list ended before its bookmark")
	}
	return version, state
}

// follow reads a watch up to a bookmark for which last returns true, or to the end. It returns the
// bookmark's version, and the versions of the objects by name.
func follow(t *testing.T, resp *http.Response, last func(bookmark metav1.PartialObjectMetadata) bool) (string, map[string]string) {
	state := map[string]string{}
	lines := bufio.NewScanner(resp.Body)
	for lines.Scan() {
		var e struct {
			Type   string
			Object metav1.PartialObjectMetadata
		}
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
			t.Errorf("%s: %v", lines.Text(), err)
		}
		switch name, version := e.Object.Name, e.Object.ResourceVersion; {
		case e.Type == "BOOKMARK":
			if last(e.Object) {
				return version, state
			}
		case e.Type == "DELETED":
			delete(state, name)
		default:
			if _, known := state[name]; known != (e.Type == "MODIFIED") {
				t.Errorf("got %s of %s, which the client knows: %v", e.Type, name, known)
			}
			state[name] = version
		}
	}
	if lines.Err() != nil {
		t.Error(lines.Err())
	}
	return "", state
}

// TestWatchListStateAtBookmark shows that watch-lists under concurrent changes have exactly
// the objects of their bookmark's version.
func TestWatchListStateAtBookmark(t *testing.T) {
	const joiners, rounds = 20, 3
	r := newRig(t, serve.Config{}, true)
	for i := range 500 {
		r.create(t, "a", fmt.Sprint("w", i), `,"data":"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"`)
	}
	stop := make(chan struct{})
	var changes, running sync.WaitGroup
	changes.Go(func() {
		for i := 0; ; i++ {
			name := fmt.Sprint("new", i%50)
			r.create(t, "a", name, "")
			if _, err := r.storage.Delete(t.Context(), "a/"+name, watchcache.Preconditions{}); err != nil {
				t.Error(err)
			}
			select {
			case <-stop:
				return
			case <-time.After(time.Millisecond):
			}
		}
	})
	for range joiners {
		running.Go(func() {
			for range rounds {
				resp, err := r.client.Get(r.server.URL + widgets + watchList)
				if err != nil {
					t.Error(err)
					return
				}
				version, got := join(t, resp)
				resp.Body.Close()
				if want := r.versions(t, version); !maps.Equal(got, want) {
					t.Errorf("at the bookmark of version %s the client has %d objects, want %d", version, len(got), len(want))
				}
			}
		})
	}
	running.Wait()
	close(stop)
	changes.Wait()
}

// versions lists the objects at a version, and returns their versions by name.
func (r *rig) versions(t *testing.T, version string) map[string]string {
	resp, err := r.client.Get(r.server.URL + widgets + "?resourceVersionMatch=Exact&resourceVersion=" + version)
	if err != nil {
		t.Error(err)
		return nil
	}
	defer resp.Body.Close()
	var list metav1.PartialObjectMetadataList
	if err := json.NewDecoder(resp.Body).Decode(&list); err != nil {
		t.Error(err)
	}
	versions := map[string]string{}
	for _, item := range list.Items {
		versions[item.Name] = item.ResourceVersion
	}
	return versions
}
