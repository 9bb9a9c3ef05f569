// SPDX-License-Identifier: Apache-2.0

package reflector

import (
	"errors"
	"fmt"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/informer-gen/informer-gen/runtime/reason"
	"github.com/informer-gen/informer-gen/runtime/source"
)

// TestMirrorWatchList has the scenarios of client-go's TestWatchList under their numbers there.
// Where the requests after them differ from client-go's, a comment says so.
func TestMirrorWatchList(t *testing.T) {
	const (
		added    = source.Added
		modified = source.Modified
		deleted  = source.Deleted
	)
	type events = []source.Event[thing]
	busy := apierrors.NewTooManyRequests("busy, check again later", 1)
	for name, tc := range map[string]struct {
		noStream bool
		turns    []turn
		list     []thing // at version 1
		lasts    time.Duration
		asked    []string
		content  string
		version  string        // "" until it is synced
		reason   reason.Reason // of the last failure
	}{
		"01 not synced without the bookmark": {
			turns: []turn{{events: events{ev(added, "p1", "1")}}},
			asked: []string{"stream rv="},
		},
		"02 list and watch if watch-lists are off": {
			noStream: true,
			turns:    []turn{{events: events{ev(modified, "p1", "2"), ev(added, "p2", "3")}}},
			list:     []thing{newThing("p1", "1")},
			asked:    []string{"list rv=0 limit=500 token=", "watch rv=1"},
			content:  "p1@2 p2@3", version: "3",
		},
		// After an error that does not come from the server, no request is sent without a wait.
		"03 any other error leads to a list": {
			turns:   []turn{{refuse: errors.New("dummy")}, {events: events{ev(added, "p2", "2")}}},
			list:    []thing{newThing("p1", "1")},
			lasts:   time.Second,
			asked:   []string{"stream rv=", "list rv=0 limit=500 token=", "watch rv=1"},
			content: "p1@1 p2@2", version: "2", reason: reason.Unreachable,
		},
		"03b an error of the server leads to a list at once": {
			turns:   []turn{{refuse: statusError(500, 0)}, {events: events{ev(added, "p2", "2")}}},
			list:    []thing{newThing("p1", "1")},
			asked:   []string{"stream rv=", "list rv=0 limit=500 token=", "watch rv=1"},
			content: "p1@1 p2@2", version: "2", reason: reason.ServerError,
		},
		"04 a server without watch-lists": {
			turns:   []turn{{refuse: apierrors.NewInvalid(schema.GroupKind{}, "streaming is not allowed", nil)}, {events: events{ev(added, "p2", "2")}}},
			list:    []thing{newThing("p1", "1")},
			asked:   []string{"stream rv=", "list rv=0 limit=500 token=", "watch rv=1"},
			content: "p1@1 p2@2", version: "2", reason: reason.Refused,
		},
		"04b a source without watch-lists has no failure": {
			turns:   []turn{{refuse: fmt.Errorf("fake: %w", errors.ErrUnsupported)}, {events: events{ev(added, "p2", "2")}}},
			list:    []thing{newThing("p1", "1")},
			asked:   []string{"stream rv=", "list rv=0 limit=500 token=", "watch rv=1"},
			content: "p1@1 p2@2", version: "2",
		},
		"05 synced with the bookmark": {
			turns:   []turn{{events: events{ev(added, "p1", "1"), ev(added, "p2", "2"), mark("2", true)}}},
			asked:   []string{"stream rv="},
			content: "p1@1 p2@2", version: "2",
		},
		"06 updates and deletes before the bookmark": {
			turns: []turn{{events: events{ev(added, "p1", "1"), ev(added, "p2", "2"), ev(modified, "p1", "3"), ev(added, "p3", "4"),
				ev(deleted, "p3", "5"), mark("5", true)}}},
			asked:   []string{"stream rv="},
			content: "p1@3 p2@2", version: "5",
		},
		"07 429 is asked again": {
			turns:   []turn{{refuse: busy}, {refuse: busy}, {events: events{ev(added, "p1", "1"), mark("2", true)}}},
			lasts:   2200 * time.Millisecond,
			asked:   []string{"stream rv=", "stream rv=", "stream rv="},
			content: "p1@1", version: "2", reason: reason.Throttled,
		},
		// A round whose watch-list has failed reads a list, so that a server that ends all
		// watch-lists can't delay it.
		"08 closed before the bookmark": {
			turns:   []turn{{events: events{ev(added, "p1", "1")}, ends: true}},
			list:    []thing{newThing("p1", "1")},
			asked:   []string{"stream rv=", "list rv=0 limit=500 token=", "watch rv=1"},
			content: "p1@1", version: "1", reason: reason.NoBookmark,
		},
		"09 closed after the bookmark": {
			turns: []turn{
				{events: events{ev(added, "p1", "1"), ev(added, "p2", "2"), mark("2", true), ev(added, "p3", "3")}, ends: true},
				{events: events{ev(added, "p4", "4")}},
			},
			asked:   []string{"stream rv=", "watch rv=3"},
			content: "p1@1 p2@2 p3@3 p4@4", version: "4",
		},
		// Run goes on by itself: OnError gets the error that client-go returns, and the next round
		// begins.
		"10 an established watch expires": {
			turns: []turn{
				{events: events{ev(added, "p1", "1"), mark("2", true), ev(added, "p3", "3")}, ends: true},
				{refuse: errGone},
				{events: events{ev(added, "p3", "3")}},
			},
			lasts:   2 * time.Second,
			asked:   []string{"stream rv=", "watch rv=3", "stream rv=3"},
			content: "p1@1 p3@3", version: "3", reason: reason.Expired,
		},
		"12 a bookmark after that of the end": {
			turns:   []turn{{events: events{ev(added, "p1", "1"), mark("2", true), mark("9", false)}}},
			asked:   []string{"stream rv="},
			content: "p1@1", version: "9",
		},
		"11 a bookmark that is not that of the end": {
			turns: []turn{{events: events{ev(added, "p1", "1"), ev(added, "p2", "2"), mark("2", false)}}},
			asked: []string{"stream rv="},
		},
	} {
		t.Run(name, func(t *testing.T) {
			src := &fake{list: listOf("1", tc.list...), watch: turns(tc.turns...)}
			bubble(t, src, Config[thing]{Tuning: Tuning{DisableWatchList: tc.noStream}}, func(g *rig) {
				g.pass(tc.lasts)
				g.wantCalls(tc.asked...)
				g.wantContent(tc.content)
				if s := g.Status(); s.Synced != (tc.version != "") || s.ResourceVersion != tc.version || reason.Of(s.LastError) != tc.reason {
					t.Errorf("status %+v", s)
				}
			})
		})
	}
}
