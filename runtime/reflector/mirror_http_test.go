// SPDX-License-Identifier: Apache-2.0

package reflector

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"
	"weak"

	"github.com/informer-gen/informer-gen/runtime/reason"
	"github.com/informer-gen/informer-gen/runtime/source"
)

// countedBody counts open bodies.
type countedBody struct {
	io.ReadCloser
	open *atomic.Int64
}

func (c countedBody) Close() error {
	c.open.Add(-1)
	return c.ReadCloser.Close()
}

// TestMirrorErrorEvent: client-go's TestCloseWatchChannelOnError. An ERROR event closes the
// connection; one that has no Status is a failure of its own.
func TestMirrorErrorEvent(t *testing.T) {
	for name, tc := range map[string]struct {
		object string
		reason reason.Reason
	}{
		"a Status":  {`{"kind":"Status","apiVersion":"v1","status":"Failure","code":500}`, reason.ServerError},
		"an object": {wireThing("bar", 3), reason.BadData},
	} {
		t.Run(name, func(t *testing.T) {
			var connections atomic.Int64
			src := httpSource(t, func(n int, req *http.Request) (int, http.Header, io.ReadCloser) {
				if n == 1 {
					return 200, nil, text(wireList(1))
				}
				connections.Add(1)
				body := ""
				if n == 2 {
					body = wireEvent("ERROR", tc.object) + wireEvent("ADDED", wireThing("late", 9))
				}
				return 200, nil, countedBody{open(req, body), &connections}
			})
			inBubble(t, Config[thing]{Source: src, Tuning: Tuning{DisableWatchList: true}}, func(g *rig) {
				g.pass(time.Second)
				if got := connections.Load(); got != 1 {
					t.Errorf("%d connections are open, want 1, of the second watch", got)
				}
				if len(g.errs) != 1 || reason.Of(g.errs[0]) != tc.reason {
					t.Errorf("OnError got %v", g.errs)
				}
				g.wantSinkCalls("begin, end 1")
			})
			if got := connections.Load(); got != 0 {
				t.Errorf("%d connections are open after Run, want 0", got)
			}
		})
	}
}

// TestMirrorBookmarkOfTheEndOnly: the last scenario of client-go's TestWatchList, on the wire.
func TestMirrorBookmarkOfTheEndOnly(t *testing.T) {
	for value, synced := range map[string]bool{"true": true, "false": false} {
		src := httpSource(t, func(_ int, req *http.Request) (int, http.Header, io.ReadCloser) {
			return 200, nil, open(req, wireEvent("ADDED", wireThing("p1", 1))+wireBookmark(2, value))
		})
		inBubble(t, Config[thing]{Source: src}, func(g *rig) {
			if s := g.Status(); s.Synced != synced {
				t.Errorf("Status() with the value %q = %+v", value, s)
			}
		})
	}
}

// TestMirrorWatchHandler: client-go's TestReflectorWatchHandler. An object of another kind is not
// dropped silently: it is reported, the watch is repeated, and then a full state is read. A version
// that goes back is no progress.
func TestMirrorWatchHandler(t *testing.T) {
	rejected := `{"kind":"Service","apiVersion":"v1","metadata":{"name":"rejected","resourceVersion":"20"}}`
	src := httpSource(t, func(n int, req *http.Request) (int, http.Header, io.ReadCloser) {
		switch n {
		case 1:
			return 200, nil, text(wireList(10, wireThing("foo", 1), wireThing("bar", 2)))
		case 2, 3:
			return 200, nil, text(wireEvent("ADDED", rejected))
		case 4:
			return 200, nil, text(wireList(21, wireThing("foo", 1), wireThing("bar", 2)))
		case 5:
			return 200, nil, open(req, wireEvent("DELETED", wireThing("foo", 22))+wireEvent("MODIFIED", wireThing("bar", 55))+wireEvent("ADDED", wireThing("baz", 32)))
		case 6:
			return 200, nil, text(wireList(32, wireThing("bar", 30), wireThing("baz", 32)))
		}
		return 200, nil, open(req, "")
	})
	inBubble(t, Config[thing]{Source: src, Tuning: Tuning{DisableWatchList: true}}, func(g *rig) {
		g.pass(3 * time.Second)
		g.wantSinkCalls("begin, replace foo, replace bar, end 10, begin, replace foo, replace bar, end 21, delete foo, update bar, begin, replace bar, replace baz, end 32")
		if s := g.Status(); s.BadData != 2 || s.ResourceVersion != "32" {
			t.Errorf("Status() = %+v", s)
		}
	})
}

// TestMirrorTables: client-go's TestIsUnsupportedTableObject. A Table of meta.k8s.io is not
// accepted as an answer. A resource of kind Table in another group is like any other.
func TestMirrorTables(t *testing.T) {
	for _, version := range []string{"meta.k8s.io/v1", "meta.k8s.io/v1beta1"} {
		table := `{"kind":"Table","apiVersion":"` + version + `","metadata":{"resourceVersion":"5","name":"a"},"columnDefinitions":[],"rows":[]}`
		for _, noWatchList := range []bool{false, true} {
			src := httpSource(t, func(_ int, req *http.Request) (int, http.Header, io.ReadCloser) {
				if req.URL.Query().Has("watch") {
					return 200, nil, text(wireEvent("ADDED", table))
				}
				return 200, nil, text(table)
			})
			inBubble(t, Config[thing]{Source: src, Tuning: Tuning{DisableWatchList: noWatchList}}, func(g *rig) {
				g.pass(time.Minute)
				if s := g.Status(); s.Synced || s.Reason != reason.BadData || !errors.Is(s.LastError, source.ErrWrongKind) && !errors.Is(s.LastError, source.ErrMalformed) {
					t.Errorf("Status() with %s, DisableWatchList %v = %v", version, noWatchList, s)
				}
			})
		}
	}
}

// TestMirrorListPinsNothing: client-go's TestReflectorListExtract. An object of a list keeps no
// other object alive.
func TestMirrorListPinsNothing(t *testing.T) {
	const all = 100
	var items []string
	for i := range all {
		items = append(items, wireThing(fmt.Sprint("pod-", i), 1))
	}
	src := httpSource(t, func(int, *http.Request) (int, http.Header, io.ReadCloser) {
		return 200, nil, text(wireList(5, items...))
	})
	var kept thing
	var others []func() bool
	if _, err := src.List(context.Background(), source.ListOptions{}, func(obj thing) error {
		if obj.Name == "pod-25" {
			kept = obj
			return nil
		}
		p := weak.Make(obj)
		others = append(others, func() bool { return p.Value() == nil })
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	runtime.GC()
	for i, collected := range others {
		if !collected() {
			t.Errorf("object %d of the list was not collected", i)
		}
	}
	if len(others) != all-1 || !strings.HasPrefix(kept.Name, "pod-") {
		t.Errorf("%d other objects, kept %q", len(others), kept.Name)
	}
	runtime.KeepAlive(kept)
}
