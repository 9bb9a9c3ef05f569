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
		noWatchList bool
		watches     []scriptedWatch
		list        []thing // at version 1
		duration    time.Duration
		requests    []string
		content     string
		version     string        // "" until it is synced
		reason      reason.Reason // of the last failure
	}{
		"01 not synced without the bookmark": {
			watches:  []scriptedWatch{{events: events{ev(added, "p1", "1")}}},
			requests: []string{"watch-list rv="},
		},
		"02 list and watch if watch-lists are off": {
			noWatchList: true,
			watches:     []scriptedWatch{{events: events{ev(modified, "p1", "2"), ev(added, "p2", "3")}}},
			list:        []thing{newThing("p1", "1")},
			requests:    []string{"list rv=0 limit=500 token=", "watch rv=1"},
			content:     "p1@2 p2@3", version: "3",
		},
		// After an error that does not come from the server, no request is sent without a wait.
		"03 any other error leads to a list": {
			watches:  []scriptedWatch{{refuse: errors.New("dummy")}, {events: events{ev(added, "p2", "2")}}},
			list:     []thing{newThing("p1", "1")},
			duration: time.Second,
			requests: []string{"watch-list rv=", "list rv=0 limit=500 token=", "watch rv=1"},
			content:  "p1@1 p2@2", version: "2", reason: reason.Unreachable,
		},
		"03b an error of the server leads to a list at once": {
			watches:  []scriptedWatch{{refuse: statusError(500, 0)}, {events: events{ev(added, "p2", "2")}}},
			list:     []thing{newThing("p1", "1")},
			requests: []string{"watch-list rv=", "list rv=0 limit=500 token=", "watch rv=1"},
			content:  "p1@1 p2@2", version: "2", reason: reason.ServerError,
		},
		"04 a server without watch-lists": {
			watches:  []scriptedWatch{{refuse: apierrors.NewInvalid(schema.GroupKind{}, "streaming is not allowed", nil)}, {events: events{ev(added, "p2", "2")}}},
			list:     []thing{newThing("p1", "1")},
			requests: []string{"watch-list rv=", "list rv=0 limit=500 token=", "watch rv=1"},
			content:  "p1@1 p2@2", version: "2", reason: reason.Refused,
		},
		"04b a source without watch-lists has no failure": {
			watches:  []scriptedWatch{{refuse: fmt.Errorf("fake: %w", errors.ErrUnsupported)}, {events: events{ev(added, "p2", "2")}}},
			list:     []thing{newThing("p1", "1")},
			requests: []string{"watch-list rv=", "list rv=0 limit=500 token=", "watch rv=1"},
			content:  "p1@1 p2@2", version: "2",
		},
		"05 synced with the bookmark": {
			watches:  []scriptedWatch{{events: events{ev(added, "p1", "1"), ev(added, "p2", "2"), bookmark("2", true)}}},
			requests: []string{"watch-list rv="},
			content:  "p1@1 p2@2", version: "2",
		},
		"06 updates and deletes before the bookmark": {
			watches: []scriptedWatch{{events: events{ev(added, "p1", "1"), ev(added, "p2", "2"), ev(modified, "p1", "3"), ev(added, "p3", "4"),
				ev(deleted, "p3", "5"), bookmark("5", true)}}},
			requests: []string{"watch-list rv="},
			content:  "p1@3 p2@2", version: "5",
		},
		"07 429 is retried": {
			watches:  []scriptedWatch{{refuse: busy}, {refuse: busy}, {events: events{ev(added, "p1", "1"), bookmark("2", true)}}},
			duration: 2200 * time.Millisecond,
			requests: []string{"watch-list rv=", "watch-list rv=", "watch-list rv="},
			content:  "p1@1", version: "2", reason: reason.Throttled,
		},
		// After a failed watch-list the round reads a list, so a server that ends all watch-lists
		// can't delay it.
		"08 closed before the bookmark": {
			watches:  []scriptedWatch{{events: events{ev(added, "p1", "1")}, ends: true}},
			list:     []thing{newThing("p1", "1")},
			requests: []string{"watch-list rv=", "list rv=0 limit=500 token=", "watch rv=1"},
			content:  "p1@1", version: "1", reason: reason.NoBookmark,
		},
		"09 closed after the bookmark": {
			watches: []scriptedWatch{
				{events: events{ev(added, "p1", "1"), ev(added, "p2", "2"), bookmark("2", true), ev(added, "p3", "3")}, ends: true},
				{events: events{ev(added, "p4", "4")}},
			},
			requests: []string{"watch-list rv=", "watch rv=3"},
			content:  "p1@1 p2@2 p3@3 p4@4", version: "4",
		},
		// Run does not return the error as client-go does: it goes to OnError, and the next round
		// begins.
		"10 an established watch expires": {
			watches: []scriptedWatch{
				{events: events{ev(added, "p1", "1"), bookmark("2", true), ev(added, "p3", "3")}, ends: true},
				{refuse: errGone},
				{events: events{ev(added, "p3", "3")}},
			},
			duration: 2 * time.Second,
			requests: []string{"watch-list rv=", "watch rv=3", "watch-list rv=3"},
			content:  "p1@1 p3@3", version: "3", reason: reason.Expired,
		},
		"12 a bookmark after the one of the end": {
			watches:  []scriptedWatch{{events: events{ev(added, "p1", "1"), bookmark("2", true), bookmark("9", false)}}},
			requests: []string{"watch-list rv="},
			content:  "p1@1", version: "9",
		},
		"11 a bookmark other than the one of the end": {
			watches:  []scriptedWatch{{events: events{ev(added, "p1", "1"), ev(added, "p2", "2"), bookmark("2", false)}}},
			requests: []string{"watch-list rv="},
		},
	} {
		t.Run(name, func(t *testing.T) {
			src := &fake{list: listOf("1", tc.list...), watch: script(tc.watches...)}
			bubble(t, src, Config[thing]{Tuning: Tuning{DisableWatchList: tc.noWatchList}}, func(g *rig) {
				g.pass(tc.duration)
				g.wantRequests(tc.requests...)
				g.wantContent(tc.content)
				if s := g.Status(); s.Synced != (tc.version != "") || s.ResourceVersion != tc.version || reason.Of(s.LastError) != tc.reason {
					t.Errorf("Status() = %+v", s)
				}
			})
		})
	}
}
