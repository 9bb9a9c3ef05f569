// SPDX-License-Identifier: Apache-2.0

package sourcetest_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/informer-gen/informer-gen/testkit/sourcetest"
)

// history returns a server with a history: version 2 creates a, 3 b and 4 c, 5 updates b, 6 deletes
// a.
func history(t *testing.T) (*sourcetest.Server, *sourcetest.Collection[*corev1.Pod]) {
	t.Helper()
	server := sourcetest.New()
	pods := sourcetest.Serve[*corev1.Pod](server, podResource, "Pod", "spec.nodeName")
	for _, name := range []string{"a", "b", "c"} {
		pods.Create(pod("shop", name, label("color", name)))
	}
	pods.Update(pod("shop", "b", label("color", "red")))
	pods.Delete("shop", "a")
	return server, pods
}

func TestListVersions(t *testing.T) { synctest.Test(t, listVersions) }

func listVersions(t *testing.T) {
	server, _ := history(t)
	const expired, tooLarge, invalid, bad = "Expired", "Timeout", "Invalid", "BadRequest"
	for query, want := range map[string]string{
		"":                            "[b c] at 6",
		"resourceVersion=4":           "[b c] at 6",
		"resourceVersion=4&limit=500": "[a b c] at 4",
		"resourceVersion=4&resourceVersionMatch=Exact": "[a b c] at 4",
		"resourceVersion=1&resourceVersionMatch=Exact": "[] at 1",
		"limit=1":           "[b] at 6 and more",
		"resourceVersion=7": tooLarge,
		"resourceVersion=7&resourceVersionMatch=Exact":                tooLarge,
		"labelSelector=color%3Dred":                                   "[b] at 6",
		"fieldSelector=spec.nodeName%3Dn":                             "[] at 6",
		"fieldSelector=spec.hostname%3Dn":                             bad,
		"continue=x":                                                  bad,
		"watch=1&resourceVersion=3&resourceVersionMatch=NotOlderThan": invalid,
	} {
		a := get(t, server, "/api/v1/namespaces/shop/pods?"+query)
		got := string(a.status.Reason)
		if a.code == http.StatusOK {
			got = fmt.Sprintf("%v at %s", a.names, a.meta.ResourceVersion)
			if a.meta.Continue != "" {
				got += " and more"
			}
		}
		if got != want {
			t.Errorf("%q: got %q, want %q", query, got, want)
		}
	}
	if a := get(t, server, "/api/v1/namespaces/other/pods"); a.names != nil || a.kind != "PodList" {
		t.Errorf("another namespace: %v", a)
	}
	for path, want := range map[string]int{
		"/api/v1/nodes": 404, "/": 404, "/version": 404, "/api/v1/pods/a": 404, "/api/v1/namespaces/shop/pods/a/status": 404, "/api/v1/namespaces/shop/pods/a/log/x": 404, "/apis/apps/v1/deployments": 404,
	} {
		if a := get(t, server, path); a.code != want {
			t.Errorf("%s: %d, want %d", path, a.code, want)
		}
	}
}

func TestPagesHaveTheFirstVersion(t *testing.T) {
	server, pods := history(t)
	first := get(t, server, "/api/v1/pods?limit=1")
	if first.meta.RemainingItemCount == nil || *first.meta.RemainingItemCount != 1 {
		t.Errorf("remainingItemCount is %v, want 1", first.meta.RemainingItemCount)
	}
	pods.Delete("shop", "c")
	pods.Create(pod("shop", "d"))
	second := get(t, server, "/api/v1/pods?limit=1&continue="+first.meta.Continue)
	if diff := cmp.Diff([]string{"c"}, second.names); diff != "" || second.meta.ResourceVersion != "6" || second.meta.Continue != "" {
		t.Errorf("the second page is %+v", second)
	}
	server.Compact()
	late := get(t, server, "/api/v1/pods?limit=1&continue="+first.meta.Continue)
	if late.code != http.StatusGone || late.status.Reason != "Expired" {
		t.Errorf("a page after a compaction: %+v", late)
	}
	rest := get(t, server, "/api/v1/pods?limit=1&continue="+late.status.Continue)
	if diff := cmp.Diff([]string{"d"}, rest.names); diff != "" || rest.meta.ResourceVersion != "8" {
		t.Errorf("the rest at the newest version: %+v", rest)
	}
}

func TestCompactForgetsExactVersions(t *testing.T) {
	server, pods := history(t)
	server.Compact()
	for query, want := range map[string]int{"5&resourceVersionMatch=Exact": 410, "6&resourceVersionMatch=Exact": 200, "5": 200} {
		if a := get(t, server, "/api/v1/pods?resourceVersion="+query); a.code != want {
			t.Errorf("version %s: %d, want %d", query, a.code, want)
		}
	}
	w := watch(t.Context(), t, server, "/api/v1/pods?watch=1&resourceVersion=6")
	watch(t.Context(), t, server, "/api/v1/pods?watch=1&resourceVersion=5").want("ERROR Expired", "EOF")
	pods.Delete("shop", "b")
	w.want("DELETED b 7")
}

func TestWatchBegins(t *testing.T) {
	server, pods := history(t)
	server.BookmarkInterval = -1
	open := func(query string) *events { return watch(t.Context(), t, server, "/api/v1/pods?watch=1&"+query) }
	from3, now, zero := open("resourceVersion=3"), open(""), open("resourceVersion=0")
	nowMarked, zeroMarked := open("allowWatchBookmarks=true"), open("resourceVersion=0&allowWatchBookmarks=true")
	from3Marked := open("resourceVersion=3&allowWatchBookmarks=true")
	list := open("allowWatchBookmarks=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&resourceVersion=3")
	noMarks := open("sendInitialEvents=true&resourceVersionMatch=NotOlderThan")
	none := open("allowWatchBookmarks=true&sendInitialEvents=false&resourceVersionMatch=NotOlderThan&resourceVersion=6")
	fromNow := open("sendInitialEvents=false&resourceVersionMatch=NotOlderThan&resourceVersion=0")
	pods.Delete("shop", "c")
	fromNow.want("DELETED c 7")
	from3.want("ADDED c 4", "MODIFIED b 5", "DELETED a 6", "DELETED c 7")
	now.want("ADDED b 5", "ADDED c 4", "DELETED c 7")
	zero.want("ADDED b 5", "ADDED c 4", "DELETED c 7")
	for _, w := range []*events{nowMarked, zeroMarked, list} {
		w.want("ADDED b 5", "ADDED c 4", "BOOKMARK 6 true", "DELETED c 7")
	}
	from3Marked.want("ADDED c 4", "MODIFIED b 5", "DELETED a 6", "DELETED c 7")
	server.Bookmark()
	for _, w := range []*events{nowMarked, zeroMarked, list, from3Marked} {
		w.want("BOOKMARK 7")
	}
	noMarks.want("ADDED b 5", "ADDED c 4", "DELETED c 7")
	none.want("DELETED c 7")
	future := open("resourceVersion=8")
	pods.Create(pod("shop", "d"))
	pods.Update(pod("shop", "d"))
	future.want("MODIFIED d 9")
}

func TestBookmarksAndTimeouts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, pods := history(t)
		start := time.Now()
		at := func(want time.Duration) {
			t.Helper()
			if got := time.Since(start); got != want {
				t.Errorf("the watch got there after %v, want %v", got, want)
			}
		}
		unmarked := watch(t.Context(), t, server, "/api/v1/pods?watch=1&resourceVersion=6&timeoutSeconds=100")
		marked := watch(t.Context(), t, server, "/api/v1/pods?watch=1&resourceVersion=6&allowWatchBookmarks=true&labelSelector=x%3Dy&timeoutSeconds=150")
		pods.Delete("shop", "b")
		marked.want("BOOKMARK 7") // for a change that is not selected
		at(60 * time.Second)
		server.Bookmark()
		marked.want("BOOKMARK 7") // sent by the test
		at(60 * time.Second)
		pods.Delete("shop", "c")
		marked.want("BOOKMARK 8")
		at(120 * time.Second)
		pods.Create(pod("shop", "z"))
		marked.want("BOOKMARK 9") // before the end
		at(148 * time.Second)
		marked.want("EOF")
		at(150 * time.Second)
		unmarked.want("DELETED b 7", "DELETED c 8", "ADDED z 9", "EOF")

		watch(t.Context(), t, server, "/api/v1/pods?watch=1&resourceVersion=9").want("EOF")
		at(150*time.Second + 30*time.Minute)
	})
}

// TestVersionsToCome: a list and a watch-list wait 3 s for a version.
func TestVersionsToCome(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, pods := history(t)
		const watchList = "&watch=1&allowWatchBookmarks=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan"
		time.AfterFunc(2*time.Second, func() { pods.Delete("shop", "b") })
		start := time.Now()
		if a := get(t, server, "/api/v1/pods?resourceVersion=7"); fmt.Sprint(a.names) != "[c]" || time.Since(start) != 2*time.Second {
			t.Errorf("%v after %v", a, time.Since(start))
		}
		start = time.Now()
		watch(t.Context(), t, server, "/api/v1/pods?resourceVersion=99"+watchList).want("ERROR Timeout", "EOF")
		resp := send(t.Context(), t, server, "/api/v1/pods?resourceVersion=99", "")
		defer resp.Body.Close()
		if got := resp.Header.Get("Retry-After"); resp.StatusCode != http.StatusGatewayTimeout || got != "1" || time.Since(start) != 6*time.Second {
			t.Errorf("%s, Retry-After %q, after %v", resp.Status, got, time.Since(start))
		}
	})
}

func TestEndWatches(t *testing.T) {
	server, pods := history(t)
	w := watch(t.Context(), t, server, "/api/v1/pods?watch=1&resourceVersion=5")
	pods.Delete("shop", "b")
	server.EndWatches()
	w.want("DELETED a 6", "DELETED b 7", "EOF")
	later := watch(t.Context(), t, server, "/api/v1/pods?watch=1&resourceVersion=7")
	pods.Delete("shop", "c")
	later.want("DELETED c 8")
}

func TestRestoreGoesBackToAVersion(t *testing.T) {
	server, pods := history(t)
	w := watch(t.Context(), t, server, "/api/v1/pods?watch=1&resourceVersion=6")
	server.Restore("4")
	w.want("EOF")
	if a := get(t, server, "/api/v1/pods"); fmt.Sprint(a.names, " at ", a.meta.ResourceVersion) != "[a b c] at 4" {
		t.Errorf("%v at %s", a.names, a.meta.ResourceVersion)
	}
	pods.Delete("shop", "c")
	watch(t.Context(), t, server, "/api/v1/pods?watch=1&resourceVersion=4").want("DELETED c 5")
	watch(t.Context(), t, server, "/api/v1/pods?watch=1&resourceVersion=3").want("ERROR Expired")
}

// TestWaitingWatchEnds checks that a waiting watch ends with its context or its body. The bubble
// finds leaked goroutines.
func TestWaitingWatchEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, _ := history(t)
		ctx, cancel := context.WithCancel(t.Context())
		canceled := watch(ctx, t, server, "/api/v1/pods?watch=1&resourceVersion=6")
		closed := watch(t.Context(), t, server, "/api/v1/pods?watch=1&resourceVersion=6")
		time.AfterFunc(time.Second, cancel)
		time.AfterFunc(2*time.Second, func() { closed.body.Close() })
		canceled.want("context canceled")
		closed.want("http: invalid Read on closed Body")
	})
}

func TestWrites(t *testing.T) {
	server := sourcetest.New()
	pods := sourcetest.Serve[*corev1.Pod](server, podResource, "")
	mine := pod("shop", "a", label("color", "red"))
	created := pods.Create(mine)
	if created.UID == "" || created.CreationTimestamp.IsZero() || created.ResourceVersion != "2" || created.Kind != "Pod" || created.APIVersion != "v1" {
		t.Errorf("created %+v", created)
	}
	if mine.UID != "" || mine.Kind != "" {
		t.Error("Create changed its argument")
	}
	mine.Labels["color"], created.Labels["color"] = "black", "white"
	if stored, ok := pods.Get("shop", "a"); !ok || stored.Labels["color"] != "red" {
		t.Error("the stored object is shared with the test")
	}
	updated := pods.Update(pod("shop", "a"))
	if updated.UID != created.UID || updated.CreationTimestamp != created.CreationTimestamp || updated.ResourceVersion != "3" || updated.Labels != nil {
		t.Errorf("updated %+v", updated)
	}
	if deleted := pods.Delete("shop", "a"); deleted.ResourceVersion != "4" || deleted.UID != created.UID {
		t.Errorf("deleted %+v", deleted)
	}
	if again := pods.Create(pod("shop", "a")); again.UID == created.UID {
		t.Error("a recreated object has the old uid")
	}
	if made := pods.Create(pod("shop", "", func(p *corev1.Pod) { p.GenerateName = "web-" })); !strings.HasPrefix(made.Name, "web-0") {
		t.Errorf("generated name %q", made.Name)
	}
	if _, ok := pods.Get("shop", "nobody"); ok {
		t.Error("Get(nobody) found an object")
	}
}

func TestFinalizers(t *testing.T) {
	server := sourcetest.New()
	pods := sourcetest.Serve[*corev1.Pod](server, podResource, "Pod")
	w := watch(t.Context(), t, server, "/api/v1/pods?watch=1&resourceVersion=1")
	held := func(p *corev1.Pod) { p.Finalizers = []string{"samples.io/hold"} }
	pods.Create(pod("shop", "a", held))
	if obj := pods.Delete("shop", "a"); obj.DeletionTimestamp == nil {
		t.Error("the deleted object has no deletionTimestamp")
	}
	pods.Delete("shop", "a")
	if obj := pods.Update(pod("shop", "a", held)); obj.DeletionTimestamp == nil {
		t.Error("an update removed the deletionTimestamp")
	}
	pods.Update(pod("shop", "a"))
	w.want("ADDED a 2", "MODIFIED a 3", "MODIFIED a 4", "DELETED a 5")
	if all := pods.All(); len(all) != 0 {
		t.Errorf("%d objects are left", len(all))
	}
}

func TestMisusePanics(t *testing.T) {
	server := sourcetest.New()
	pods := sourcetest.Serve[*corev1.Pod](server, podResource, "Pod")
	pods.Create(pod("shop", "a"))
	for want, call := range map[string]func(){
		`Create pods "shop/a": it exists`:             func() { pods.Create(pod("shop", "a")) },
		`Create pods "shop/": it has no name`:         func() { pods.Create(pod("shop", "")) },
		`Update pods "shop/b": it does not exist`:     func() { pods.Update(pod("shop", "b")) },
		`Delete pods "shop/b": it does not exist`:     func() { pods.Delete("shop", "b") },
		`it is served already`:                        func() { sourcetest.Serve[*corev1.Pod](server, podResource, "Pod") },
		`version or resource is empty`:                func() { sourcetest.Serve[*corev1.Pod](server, corev1.SchemeGroupVersion.WithResource(""), "Pod") },
		`Do is nil`:                                   func() { server.Inject(sourcetest.Fault{}) },
		`Restore: no version 9; the present one is 2`: func() { server.Restore("9") },
		`Restore: version 1 was compacted`:            func() { server.Compact(); server.Restore("1") },
	} {
		func() {
			defer func() {
				if r := recover(); !strings.Contains(fmt.Sprint(r), want) {
					t.Errorf("panic %v, want %q", r, want)
				}
			}()
			call()
		}()
	}
}
