// SPDX-License-Identifier: Apache-2.0

package reflector

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/informer-gen/informer-gen/runtime/reason"
	"github.com/informer-gen/informer-gen/runtime/source"
)

func TestStep(t *testing.T) {
	streams := rules{stream: true}
	failed := func(reason reason.Reason) input { return input{kind: inFailed, reason: reason} }
	for name, tc := range map[string]struct {
		from state
		in   input
		to   state
		do   action
	}{
		"start with a watch-list": {
			state{rules: streams}, input{kind: inStart},
			state{rules: streams, phase: StateStreaming}, action{op: opStream},
		},
		"start again with a watch-list": {
			state{rules: streams, version: "5"}, input{kind: inStart},
			state{rules: streams, version: "5", phase: StateStreaming}, action{op: opStream, version: "5"},
		},
		"start with the most recent watch-list": {
			state{rules: streams, version: "5", fresh: true}, input{kind: inStart},
			state{rules: streams, version: "5", fresh: true, phase: StateStreaming}, action{op: opStream},
		},
		"start with a list": {
			state{}, input{kind: inStart},
			state{phase: StateListing}, action{op: opList, version: "0", limit: 500},
		},
		"start with a list in pages": {
			state{rules: rules{pageSize: 7}}, input{kind: inStart},
			state{rules: rules{pageSize: 7}, phase: StateListing}, action{op: opList, limit: 7},
		},
		"start again with a list": {
			state{version: "5"}, input{kind: inStart},
			state{version: "5", phase: StateListing}, action{op: opList, version: "5", match: "NotOlderThan"},
		},
		"start again with a server that reads pages": {
			state{version: "5", paged: true}, input{kind: inStart},
			state{version: "5", paged: true, phase: StateListing}, action{op: opList, version: "5", match: "NotOlderThan", limit: 500},
		},

		"watch-list: object": {
			state{phase: StateStreaming}, input{kind: inEvent, event: source.Added, version: "3"},
			state{phase: StateStreaming}, action{call: callReplace},
		},
		"watch-list: object changes": {
			state{phase: StateStreaming}, input{kind: inEvent, event: source.Modified, version: "3"},
			state{phase: StateStreaming}, action{call: callReplace},
		},
		"watch-list: object disappears": {
			state{phase: StateStreaming}, input{kind: inEvent, event: source.Deleted, version: "3"},
			state{phase: StateStreaming}, action{call: callDelete},
		},
		"watch-list: some bookmark": {
			state{phase: StateStreaming}, input{kind: inEvent, event: source.Bookmark, version: "3"},
			state{phase: StateStreaming}, action{},
		},
		"watch-list: its end": {
			state{phase: StateStreaming, fresh: true, anew: true, listOnly: true, whole: true}, input{kind: inEvent, event: source.Bookmark, version: "3", initialEnd: true},
			state{phase: StateWatching, synced: true, version: "3"}, action{call: callEnd, told: "3"},
		},
		"watch-list: an older state than seen": {
			state{phase: StateStreaming, version: "9"}, input{kind: inEvent, event: source.Bookmark, version: "3", initialEnd: true},
			state{phase: StateStreaming, version: "9"}, action{op: opLeave, noticed: reason.WentBack},
		},
		"watch-list: the most recent state is older than seen": {
			state{phase: StateStreaming, version: "9", fresh: true}, input{kind: inEvent, event: source.Bookmark, version: "3", initialEnd: true},
			state{phase: StateStreaming, version: "9", fresh: true}, action{op: opLeave, noticed: reason.WentBack},
		},
		"watch-list: the most recent state is older than seen, and read anew": {
			state{phase: StateStreaming, version: "9", fresh: true, anew: true}, input{kind: inEvent, event: source.Bookmark, version: "3", initialEnd: true},
			state{phase: StateWatching, version: "3", synced: true}, action{call: callEnd, told: "3"},
		},
		"watch-list: unknown to the server": {
			state{rules: streams, phase: StateStreaming}, failed(reason.Refused),
			state{rules: streams, phase: StateListing, noStream: true}, action{call: callAbort, op: opList, version: "0", limit: 500},
		},
		"watch-list: no bookmark": {
			state{rules: streams, phase: StateStreaming, hasty: true}, failed(reason.NoBookmark),
			state{rules: streams, phase: StateListing, listOnly: true, hasty: true}, action{call: callAbort, op: opList, version: "0", limit: 500},
		},
		"watch-list: closed before its end": {
			state{rules: streams, phase: StateStreaming}, input{kind: inEnded, brief: true},
			state{rules: streams, phase: StateListing, listOnly: true}, action{call: callAbort, op: opList, version: "0", limit: 500, noticed: reason.NoBookmark},
		},
		"watch-list: expired": {
			state{rules: streams, phase: StateStreaming, version: "5"}, failed(reason.Expired),
			state{rules: streams, phase: StateListing, version: "5", fresh: true, listOnly: true}, action{call: callAbort, op: opList, limit: 500},
		},
		"watch-list: throttled": {
			state{rules: streams, phase: StateStreaming}, input{kind: inFailed, reason: reason.Throttled, after: 3 * time.Second},
			state{rules: streams, phase: StateWaiting, then: StateListing}, action{call: callAbort, op: opWait, after: 3 * time.Second},
		},
		"watch-list: cut off": {
			state{rules: streams, phase: StateStreaming}, failed(reason.Unreachable),
			state{rules: streams, phase: StateWaiting, then: StateListing, listOnly: true}, action{call: callAbort, op: opWait},
		},
		"watch-list: left because it is older than seen": {
			state{rules: streams, phase: StateStreaming, version: "9"}, failed(reason.WentBack),
			state{rules: streams, phase: StateStreaming, version: "9", fresh: true, anew: true, hasty: true}, action{call: callAbort, op: opStream},
		},
		"watch-list: bad data": {
			state{rules: streams, phase: StateStreaming}, failed(reason.BadData),
			state{rules: streams, phase: StateListing, listOnly: true, hasty: true}, action{call: callAbort, op: opList, version: "0", limit: 500},
		},
		"watch-list: bad data again": {
			state{rules: streams, phase: StateStreaming, hasty: true}, failed(reason.BadData),
			state{rules: streams, phase: StateWaiting, then: StateListing, listOnly: true, hasty: true}, action{call: callAbort, op: opWait},
		},
		"watch-list: forbidden": {
			state{rules: streams, phase: StateStreaming}, failed(reason.WatchForbidden),
			state{rules: streams, phase: StateListing, noWatch: true, hasty: true}, action{call: callAbort, op: opList, version: "0", limit: 500},
		},
		"watch-list: forbidden again": {
			state{rules: streams, phase: StateStreaming, hasty: true}, failed(reason.WatchForbidden),
			state{rules: streams, phase: StateWaiting, then: StateListing, noWatch: true, hasty: true}, action{call: callAbort, op: opWait},
		},

		"list: only page": {
			state{phase: StateListing}, input{kind: inPage, version: "5"},
			state{phase: StateConnecting, version: "5", synced: true}, action{call: callEnd, told: "5", op: opWatch, version: "5"},
		},
		"list: first page": {
			state{phase: StateListing}, input{kind: inPage, version: "5", token: "a", items: 500},
			state{phase: StateListing, paged: true, pages: pages{version: "5", token: "a", kept: "a", next: 1}}, action{op: opPage, token: "a", limit: 500},
		},
		"list: last page": {
			state{phase: StateListing, pages: pages{version: "5", token: "a", kept: "a", next: 1}}, input{kind: inPage, version: "6", items: 5},
			state{phase: StateConnecting, version: "5", synced: true}, action{call: callEnd, told: "5", op: opWatch, version: "5"},
		},
		"list: token repeats": {
			state{phase: StateListing, pages: pages{version: "5", token: "b", kept: "a", next: 2}}, input{kind: inPage, version: "5", token: "a", items: 5},
			state{phase: StateWaiting, then: StateListing, pages: pages{version: "5", token: "b", kept: "a", next: 2}}, action{call: callAbort, op: opWait, noticed: reason.EndlessList},
		},
		"list: older than seen": {
			state{phase: StateListing, version: "9"}, input{kind: inPage, version: "5"},
			state{phase: StateListing, version: "9", fresh: true, anew: true, hasty: true}, action{call: callAbort, op: opList, limit: 500, noticed: reason.WentBack},
		},
		"list: most recent one older than seen": {
			state{phase: StateListing, version: "9", fresh: true}, input{kind: inPage, version: "5"},
			state{phase: StateListing, version: "9", fresh: true, anew: true, hasty: true}, action{call: callAbort, op: opList, limit: 500, noticed: reason.WentBack},
		},
		"list: most recent one older than seen, and read anew": {
			state{phase: StateListing, version: "9", fresh: true, anew: true}, input{kind: inPage, version: "5"},
			state{phase: StateConnecting, version: "5", synced: true}, action{call: callEnd, told: "5", op: opWatch, version: "5"},
		},
		"list: versions that can't be compared": {
			state{phase: StateListing, version: "x9"}, input{kind: inPage, version: "x5"},
			state{phase: StateConnecting, version: "x5", synced: true}, action{call: callEnd, told: "x5", op: opWatch, version: "x5"},
		},
		"list: expired": {
			state{phase: StateListing, version: "9"}, failed(reason.Expired),
			state{phase: StateListing, version: "9", fresh: true, hasty: true}, action{call: callAbort, op: opList, limit: 500},
		},
		"list: expired again": {
			state{phase: StateListing, version: "9", fresh: true, hasty: true}, failed(reason.Expired),
			state{phase: StateWaiting, then: StateListing, version: "9", fresh: true, hasty: true}, action{call: callAbort, op: opWait},
		},
		"list: too new": {
			state{phase: StateListing, version: "9"}, failed(reason.TooNew),
			state{phase: StateListing, version: "9", fresh: true, anew: true, hasty: true}, action{call: callAbort, op: opList, limit: 500},
		},
		"list: token expired": {
			state{phase: StateListing, rules: rules{pageSize: 7}, pages: pages{version: "5", token: "a"}}, failed(reason.Expired),
			state{phase: StateListing, rules: rules{pageSize: 7}, whole: true, hasty: true}, action{call: callAbort, op: opList},
		},
		"list: fails in place of a watch-list": {
			state{phase: StateListing, rules: streams, listOnly: true}, failed(reason.ServerError),
			state{phase: StateWaiting, then: StateListing, rules: streams}, action{call: callAbort, op: opWait},
		},

		"list: forbidden, like the watch-list before": {
			state{phase: StateListing, rules: streams, noWatch: true, hasty: true}, failed(reason.Forbidden),
			state{phase: StateWaiting, then: StateListing, rules: streams, noWatch: true, hasty: true}, action{call: callAbort, op: opWait},
		},
		"list: forbidden in place of a watch": {
			state{phase: StateListing, rules: streams, version: "5", synced: true, noWatch: true, hasty: true}, failed(reason.Forbidden),
			state{phase: StateWaiting, then: StateConnecting, rules: streams, version: "5", synced: true, hasty: true}, action{call: callAbort, op: opWait},
		},
		"list: forbidden after versions that went back": {
			state{phase: StateListing, version: "5", synced: true, fresh: true, anew: true, noWatch: true}, failed(reason.Forbidden),
			state{phase: StateWaiting, then: StateListing, version: "5", synced: true, fresh: true, anew: true, noWatch: true}, action{call: callAbort, op: opWait},
		},
		"list: bad data in place of a watch-list": {
			state{phase: StateListing, rules: streams, listOnly: true, hasty: true}, failed(reason.BadData),
			state{phase: StateWaiting, then: StateListing, rules: streams, hasty: true}, action{call: callAbort, op: opWait},
		},

		"watch: opened": {
			state{phase: StateConnecting, version: "5"}, input{kind: inOpened},
			state{phase: StateWatching, version: "5"}, action{},
		},
		"watch: added": {
			state{phase: StateWatching, version: "5"}, input{kind: inEvent, event: source.Added, version: "6"},
			state{phase: StateWatching, version: "6"}, action{call: callAdd},
		},
		"watch: modified": {
			state{phase: StateWatching, version: "5"}, input{kind: inEvent, event: source.Modified, version: "6"},
			state{phase: StateWatching, version: "6"}, action{call: callUpdate},
		},
		"watch: deleted": {
			state{phase: StateWatching, version: "5"}, input{kind: inEvent, event: source.Deleted, version: "6"},
			state{phase: StateWatching, version: "6"}, action{call: callDelete},
		},
		"watch: bookmark": {
			state{phase: StateWatching, version: "5"}, input{kind: inEvent, event: source.Bookmark, version: "6"},
			state{phase: StateWatching, version: "6"}, action{call: callBookmark, told: "6"},
		},
		"watch: the same version twice": {
			state{phase: StateWatching, version: "6"}, input{kind: inEvent, event: source.Modified, version: "6"},
			state{phase: StateWatching, version: "6"}, action{call: callUpdate},
		},
		"watch: backwards": {
			state{phase: StateWatching, version: "10"}, input{kind: inEvent, event: source.Added, version: "9"},
			state{phase: StateWatching, version: "10"}, action{op: opLeave, noticed: reason.WentBack},
		},
		"watch: went back": {
			state{phase: StateWatching, version: "10"}, failed(reason.WentBack),
			state{phase: StateListing, version: "10", fresh: true, anew: true, hasty: true}, action{op: opList, limit: 500},
		},
		"watch: ended": {
			state{phase: StateWatching, version: "5", hasty: true}, input{kind: inEnded},
			state{phase: StateConnecting, version: "5", hasty: true}, action{op: opWatch, version: "5"},
		},
		"watch: ended after good times": {
			state{phase: StateWatching, version: "5", hasty: true}, input{kind: inEnded, healthy: true},
			state{phase: StateConnecting, version: "5"}, action{op: opWatch, version: "5"},
		},
		"watch: ended at once with events": {
			state{phase: StateWatching, version: "5"}, input{kind: inEnded, brief: true, events: true},
			state{phase: StateConnecting, version: "5", hasty: true}, action{op: opWatch, version: "5"},
		},
		"watch: ended at once with events again": {
			state{phase: StateWatching, version: "5", hasty: true}, input{kind: inEnded, brief: true, events: true},
			state{phase: StateWaiting, then: StateConnecting, version: "5", hasty: true}, action{op: opWait, noticed: reason.ShortWatch},
		},
		"watch: ended at once": {
			state{phase: StateWatching, version: "5"}, input{kind: inEnded, brief: true},
			state{phase: StateWaiting, then: StateConnecting, version: "5"}, action{op: opWait, noticed: reason.ShortWatch},
		},
		"watch: expired": {
			state{rules: streams, phase: StateWatching, version: "5"}, failed(reason.Expired),
			state{rules: streams, phase: StateStreaming, version: "5", hasty: true}, action{op: opStream, version: "5"},
		},
		"watch: expired again": {
			state{phase: StateConnecting, version: "5", hasty: true}, failed(reason.Expired),
			state{phase: StateWaiting, then: StateListing, version: "5", hasty: true}, action{op: opWait},
		},
		"watch: expired after good times": {
			state{phase: StateWatching, version: "5", hasty: true}, input{kind: inFailed, reason: reason.Expired, healthy: true},
			state{phase: StateListing, version: "5", hasty: true}, action{op: opList, version: "5", match: "NotOlderThan"},
		},
		"watch: silent": {
			state{phase: StateWatching, version: "5"}, failed(reason.Silent),
			state{phase: StateConnecting, version: "5", hasty: true}, action{op: opProbe},
		},
		"watch: silent again": {
			state{phase: StateWatching, version: "5", hasty: true}, failed(reason.Silent),
			state{phase: StateWaiting, then: StateConnecting, version: "5", hasty: true, doubt: true}, action{op: opWait},
		},
		"watch: waited after silence": {
			state{phase: StateWaiting, then: StateConnecting, version: "5", doubt: true}, input{kind: inElapsed},
			state{phase: StateConnecting, then: StateConnecting, version: "5"}, action{op: opProbe},
		},
		"watch: the server stands where it should": {
			state{phase: StateConnecting, version: "5", hasty: true}, input{kind: inProbed, version: "7"},
			state{phase: StateConnecting, version: "5", hasty: true}, action{op: opWatch, version: "5"},
		},
		"watch: the server does not say where it stands": {
			state{phase: StateConnecting, version: "5", hasty: true}, input{kind: inProbed},
			state{phase: StateConnecting, version: "5", hasty: true}, action{op: opWatch, version: "5"},
		},
		"watch: the server was put back": {
			state{phase: StateConnecting, version: "5"}, input{kind: inProbed, version: "3"},
			state{phase: StateListing, version: "5", fresh: true, anew: true, hasty: true}, action{op: opList, limit: 500, noticed: reason.WentBack},
		},
		"watch: no answer": {
			state{phase: StateConnecting, version: "5"}, failed(reason.Silent),
			state{phase: StateWaiting, then: StateConnecting, version: "5"}, action{op: opWait},
		},
		"watch: server error": {
			state{phase: StateWatching, version: "5", stuck: "5"}, failed(reason.ServerError),
			state{phase: StateWaiting, then: StateConnecting, version: "5", stuck: "5"}, action{op: opWait},
		},
		"watch: server error at once": {
			state{phase: StateWatching, version: "6", stuck: "5"}, input{kind: inFailed, reason: reason.ServerError, brief: true},
			state{phase: StateWaiting, then: StateConnecting, version: "6", stuck: "6"}, action{op: opWait},
		},
		"watch: server error at once again": {
			state{phase: StateWatching, version: "5", stuck: "5"}, input{kind: inFailed, reason: reason.ServerError, brief: true},
			state{phase: StateWaiting, then: StateListing, version: "5", stuck: "5"}, action{op: opWait},
		},
		"watch: not accepted": {
			state{phase: StateConnecting, version: "5", stuck: "5"}, input{kind: inFailed, reason: reason.ServerError, brief: true},
			state{phase: StateWaiting, then: StateConnecting, version: "5", stuck: "5"}, action{op: opWait},
		},
		"watch: bad data": {
			state{phase: StateWatching, version: "5"}, failed(reason.BadData),
			state{phase: StateConnecting, version: "5", hasty: true, stuck: "5"}, action{op: opWatch, version: "5"},
		},
		"watch: bad data again": {
			state{phase: StateWatching, version: "6", hasty: true, stuck: "5"}, failed(reason.BadData),
			state{phase: StateWaiting, then: StateConnecting, version: "6", hasty: true, stuck: "6"}, action{op: opWait},
		},
		"watch: bad data again in the same place": {
			state{phase: StateWatching, version: "5", hasty: true, stuck: "5"}, failed(reason.BadData),
			state{phase: StateWaiting, then: StateListing, version: "5", hasty: true, stuck: "5"}, action{op: opWait},
		},
		"watch: transform failed": {
			state{phase: StateWatching, version: "5"}, failed(reason.Transform),
			state{phase: StateConnecting, version: "5", hasty: true, stuck: "5"}, action{op: opWatch, version: "5"},
		},
		"watch: transform failed again in the same place": {
			state{phase: StateWatching, version: "5", hasty: true, stuck: "5"}, failed(reason.Transform),
			state{phase: StateWaiting, then: StateListing, version: "5", hasty: true, stuck: "5"}, action{op: opWait},
		},
		"watch: forbidden": {
			state{phase: StateConnecting, version: "5"}, failed(reason.WatchForbidden),
			state{phase: StateWaiting, then: StateConnecting, version: "5", noWatch: true}, action{op: opWait},
		},
		"watch: forbidden again": {
			state{phase: StateConnecting, version: "5", noWatch: true}, input{kind: inFailed, reason: reason.WatchForbidden, after: time.Second},
			state{phase: StateWaiting, then: StateListing, version: "5", noWatch: true}, action{op: opWait, after: time.Second},
		},
		"watch: waited for a list in its place": {
			state{rules: streams, phase: StateWaiting, then: StateListing, version: "5", noWatch: true}, input{kind: inElapsed},
			state{rules: streams, phase: StateListing, then: StateListing, version: "5", noWatch: true}, action{op: opList, version: "5", match: "NotOlderThan"},
		},
		"watch: no longer forbidden": {
			state{phase: StateConnecting, version: "5", noWatch: true}, input{kind: inOpened},
			state{phase: StateWatching, version: "5"}, action{},
		},
		"watch: version refused": {
			state{phase: StateConnecting, version: "5"}, failed(reason.Refused),
			state{phase: StateWaiting, then: StateListing, version: "5", fresh: true}, action{op: opWait},
		},

		"waited to watch": {
			state{phase: StateWaiting, then: StateConnecting, version: "5"}, input{kind: inElapsed},
			state{phase: StateConnecting, then: StateConnecting, version: "5"}, action{op: opWatch, version: "5"},
		},
		"waited for a round": {
			state{rules: streams, phase: StateWaiting, then: StateListing, version: "5"}, input{kind: inElapsed},
			state{rules: streams, phase: StateStreaming, then: StateListing, version: "5"}, action{op: opStream, version: "5"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			to, do := step(tc.from, tc.in)
			all := cmp.AllowUnexported(state{}, rules{}, pages{}, action{})
			if diff := cmp.Diff(tc.to, to, all); diff != "" {
				t.Errorf("state (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tc.do, do, all); diff != "" {
				t.Errorf("action (-want +got):\n%s", diff)
			}
		})
	}
}
