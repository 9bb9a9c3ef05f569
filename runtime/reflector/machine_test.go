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
	failed := func(reason reason.Reason) input { return input{typ: inFailed, reason: reason} }
	for name, tc := range map[string]struct {
		from machine
		in   input
		to   machine
		do   action
	}{
		"start with a watch-list": {
			machine{rules: streams}, input{typ: inStart},
			machine{rules: streams, state: StateStreaming}, action{task: taskStream},
		},
		"start again with a watch-list": {
			machine{rules: streams, version: "5"}, input{typ: inStart},
			machine{rules: streams, version: "5", state: StateStreaming}, action{task: taskStream, version: "5"},
		},
		"start with the most recent watch-list": {
			machine{rules: streams, version: "5", fresh: true}, input{typ: inStart},
			machine{rules: streams, version: "5", fresh: true, state: StateStreaming}, action{task: taskStream},
		},
		"start with a list": {
			machine{}, input{typ: inStart},
			machine{state: StateListing}, action{task: taskList, version: "0", limit: 500},
		},
		"start with a list in pages": {
			machine{rules: rules{pageSize: 7}}, input{typ: inStart},
			machine{rules: rules{pageSize: 7}, state: StateListing}, action{task: taskList, limit: 7},
		},
		"start again with a list": {
			machine{version: "5"}, input{typ: inStart},
			machine{version: "5", state: StateListing}, action{task: taskList, version: "5", match: "NotOlderThan"},
		},
		"start again with a server that reads pages": {
			machine{version: "5", paged: true}, input{typ: inStart},
			machine{version: "5", paged: true, state: StateListing}, action{task: taskList, version: "5", match: "NotOlderThan", limit: 500},
		},

		"watch-list: object": {
			machine{state: StateStreaming}, input{typ: inEvent, event: source.Added, version: "3"},
			machine{state: StateStreaming}, action{call: callReplaced},
		},
		"watch-list: object changes": {
			machine{state: StateStreaming}, input{typ: inEvent, event: source.Modified, version: "3"},
			machine{state: StateStreaming}, action{call: callReplaced},
		},
		"watch-list: object disappears": {
			machine{state: StateStreaming}, input{typ: inEvent, event: source.Deleted, version: "3"},
			machine{state: StateStreaming}, action{call: callDeleted},
		},
		"watch-list: some bookmark": {
			machine{state: StateStreaming}, input{typ: inEvent, event: source.Bookmark, version: "3"},
			machine{state: StateStreaming}, action{},
		},
		"watch-list: its end": {
			machine{state: StateStreaming, fresh: true, anew: true, listOnly: true, whole: true}, input{typ: inEvent, event: source.Bookmark, version: "3", initialEnd: true},
			machine{state: StateWatching, synced: true, version: "3"}, action{call: callEnd, told: "3"},
		},
		"watch-list: an older state than seen": {
			machine{state: StateStreaming, version: "9"}, input{typ: inEvent, event: source.Bookmark, version: "3", initialEnd: true},
			machine{state: StateStreaming, version: "9"}, action{task: taskLeave, noticed: reason.WentBack},
		},
		"watch-list: the most recent state is older than seen": {
			machine{state: StateStreaming, version: "9", fresh: true}, input{typ: inEvent, event: source.Bookmark, version: "3", initialEnd: true},
			machine{state: StateStreaming, version: "9", fresh: true}, action{task: taskLeave, noticed: reason.WentBack},
		},
		"watch-list: the most recent state is older than seen, and read anew": {
			machine{state: StateStreaming, version: "9", fresh: true, anew: true}, input{typ: inEvent, event: source.Bookmark, version: "3", initialEnd: true},
			machine{state: StateWatching, version: "3", synced: true}, action{call: callEnd, told: "3"},
		},
		"watch-list: unknown to the server": {
			machine{rules: streams, state: StateStreaming}, failed(reason.Refused),
			machine{rules: streams, state: StateListing, noStream: true}, action{call: callAbort, task: taskList, version: "0", limit: 500},
		},
		"watch-list: no bookmark": {
			machine{rules: streams, state: StateStreaming, hasty: true}, failed(reason.NoBookmark),
			machine{rules: streams, state: StateListing, listOnly: true, hasty: true}, action{call: callAbort, task: taskList, version: "0", limit: 500},
		},
		"watch-list: closed before its end": {
			machine{rules: streams, state: StateStreaming}, input{typ: inEnded, brief: true},
			machine{rules: streams, state: StateListing, listOnly: true}, action{call: callAbort, task: taskList, version: "0", limit: 500, noticed: reason.NoBookmark},
		},
		"watch-list: expired": {
			machine{rules: streams, state: StateStreaming, version: "5"}, failed(reason.Expired),
			machine{rules: streams, state: StateListing, version: "5", fresh: true, listOnly: true}, action{call: callAbort, task: taskList, limit: 500},
		},
		"watch-list: throttled": {
			machine{rules: streams, state: StateStreaming}, input{typ: inFailed, reason: reason.Throttled, after: 3 * time.Second},
			machine{rules: streams, state: StateWaiting, then: StateListing}, action{call: callAbort, task: taskWait, after: 3 * time.Second},
		},
		"watch-list: cut off": {
			machine{rules: streams, state: StateStreaming}, failed(reason.Unreachable),
			machine{rules: streams, state: StateWaiting, then: StateListing, listOnly: true}, action{call: callAbort, task: taskWait},
		},
		"watch-list: left because it is older than seen": {
			machine{rules: streams, state: StateStreaming, version: "9"}, failed(reason.WentBack),
			machine{rules: streams, state: StateStreaming, version: "9", fresh: true, anew: true, hasty: true}, action{call: callAbort, task: taskStream},
		},
		"watch-list: bad data": {
			machine{rules: streams, state: StateStreaming}, failed(reason.BadData),
			machine{rules: streams, state: StateListing, listOnly: true, hasty: true}, action{call: callAbort, task: taskList, version: "0", limit: 500},
		},
		"watch-list: bad data again": {
			machine{rules: streams, state: StateStreaming, hasty: true}, failed(reason.BadData),
			machine{rules: streams, state: StateWaiting, then: StateListing, listOnly: true, hasty: true}, action{call: callAbort, task: taskWait},
		},
		"watch-list: forbidden": {
			machine{rules: streams, state: StateStreaming}, failed(reason.WatchForbidden),
			machine{rules: streams, state: StateListing, noWatch: true, hasty: true}, action{call: callAbort, task: taskList, version: "0", limit: 500},
		},
		"watch-list: forbidden again": {
			machine{rules: streams, state: StateStreaming, hasty: true}, failed(reason.WatchForbidden),
			machine{rules: streams, state: StateWaiting, then: StateListing, noWatch: true, hasty: true}, action{call: callAbort, task: taskWait},
		},

		"list: only page": {
			machine{state: StateListing}, input{typ: inPage, version: "5"},
			machine{state: StateConnecting, version: "5", synced: true}, action{call: callEnd, told: "5", task: taskWatch, version: "5"},
		},
		"list: first page": {
			machine{state: StateListing}, input{typ: inPage, version: "5", token: "a", items: 500},
			machine{state: StateListing, paged: true, pages: pages{version: "5", token: "a", kept: "a", next: 1}}, action{task: taskPage, token: "a", limit: 500},
		},
		"list: last page": {
			machine{state: StateListing, pages: pages{version: "5", token: "a", kept: "a", next: 1}}, input{typ: inPage, version: "6", items: 5},
			machine{state: StateConnecting, version: "5", synced: true}, action{call: callEnd, told: "5", task: taskWatch, version: "5"},
		},
		"list: token repeats": {
			machine{state: StateListing, pages: pages{version: "5", token: "b", kept: "a", next: 2}}, input{typ: inPage, version: "5", token: "a", items: 5},
			machine{state: StateWaiting, then: StateListing, pages: pages{version: "5", token: "b", kept: "a", next: 2}}, action{call: callAbort, task: taskWait, noticed: reason.EndlessList},
		},
		"list: older than seen": {
			machine{state: StateListing, version: "9"}, input{typ: inPage, version: "5"},
			machine{state: StateListing, version: "9", fresh: true, anew: true, hasty: true}, action{call: callAbort, task: taskList, limit: 500, noticed: reason.WentBack},
		},
		"list: most recent one older than seen": {
			machine{state: StateListing, version: "9", fresh: true}, input{typ: inPage, version: "5"},
			machine{state: StateListing, version: "9", fresh: true, anew: true, hasty: true}, action{call: callAbort, task: taskList, limit: 500, noticed: reason.WentBack},
		},
		"list: most recent one older than seen, and read anew": {
			machine{state: StateListing, version: "9", fresh: true, anew: true}, input{typ: inPage, version: "5"},
			machine{state: StateConnecting, version: "5", synced: true}, action{call: callEnd, told: "5", task: taskWatch, version: "5"},
		},
		"list: versions that can't be compared": {
			machine{state: StateListing, version: "x9"}, input{typ: inPage, version: "x5"},
			machine{state: StateConnecting, version: "x5", synced: true}, action{call: callEnd, told: "x5", task: taskWatch, version: "x5"},
		},
		"list: expired": {
			machine{state: StateListing, version: "9"}, failed(reason.Expired),
			machine{state: StateListing, version: "9", fresh: true, hasty: true}, action{call: callAbort, task: taskList, limit: 500},
		},
		"list: expired again": {
			machine{state: StateListing, version: "9", fresh: true, hasty: true}, failed(reason.Expired),
			machine{state: StateWaiting, then: StateListing, version: "9", fresh: true, hasty: true}, action{call: callAbort, task: taskWait},
		},
		"list: too new": {
			machine{state: StateListing, version: "9"}, failed(reason.TooNew),
			machine{state: StateListing, version: "9", fresh: true, anew: true, hasty: true}, action{call: callAbort, task: taskList, limit: 500},
		},
		"list: token expired": {
			machine{state: StateListing, rules: rules{pageSize: 7}, pages: pages{version: "5", token: "a"}}, failed(reason.Expired),
			machine{state: StateListing, rules: rules{pageSize: 7}, whole: true, hasty: true}, action{call: callAbort, task: taskList},
		},
		"list: fails in place of a watch-list": {
			machine{state: StateListing, rules: streams, listOnly: true}, failed(reason.ServerError),
			machine{state: StateWaiting, then: StateListing, rules: streams}, action{call: callAbort, task: taskWait},
		},

		"list: forbidden, like the watch-list before": {
			machine{state: StateListing, rules: streams, noWatch: true, hasty: true}, failed(reason.Forbidden),
			machine{state: StateWaiting, then: StateListing, rules: streams, noWatch: true, hasty: true}, action{call: callAbort, task: taskWait},
		},
		"list: forbidden in place of a watch": {
			machine{state: StateListing, rules: streams, version: "5", synced: true, noWatch: true, hasty: true}, failed(reason.Forbidden),
			machine{state: StateWaiting, then: StateConnecting, rules: streams, version: "5", synced: true, hasty: true}, action{call: callAbort, task: taskWait},
		},
		"list: forbidden after versions that went back": {
			machine{state: StateListing, version: "5", synced: true, fresh: true, anew: true, noWatch: true}, failed(reason.Forbidden),
			machine{state: StateWaiting, then: StateListing, version: "5", synced: true, fresh: true, anew: true, noWatch: true}, action{call: callAbort, task: taskWait},
		},
		"list: bad data in place of a watch-list": {
			machine{state: StateListing, rules: streams, listOnly: true, hasty: true}, failed(reason.BadData),
			machine{state: StateWaiting, then: StateListing, rules: streams, hasty: true}, action{call: callAbort, task: taskWait},
		},

		"watch: opened": {
			machine{state: StateConnecting, version: "5"}, input{typ: inOpened},
			machine{state: StateWatching, version: "5"}, action{},
		},
		"watch: added": {
			machine{state: StateWatching, version: "5"}, input{typ: inEvent, event: source.Added, version: "6"},
			machine{state: StateWatching, version: "6"}, action{call: callAdded},
		},
		"watch: modified": {
			machine{state: StateWatching, version: "5"}, input{typ: inEvent, event: source.Modified, version: "6"},
			machine{state: StateWatching, version: "6"}, action{call: callModified},
		},
		"watch: deleted": {
			machine{state: StateWatching, version: "5"}, input{typ: inEvent, event: source.Deleted, version: "6"},
			machine{state: StateWatching, version: "6"}, action{call: callDeleted},
		},
		"watch: bookmark": {
			machine{state: StateWatching, version: "5"}, input{typ: inEvent, event: source.Bookmark, version: "6"},
			machine{state: StateWatching, version: "6"}, action{call: callBookmark, told: "6"},
		},
		"watch: the same version twice": {
			machine{state: StateWatching, version: "6"}, input{typ: inEvent, event: source.Modified, version: "6"},
			machine{state: StateWatching, version: "6"}, action{call: callModified},
		},
		"watch: backwards": {
			machine{state: StateWatching, version: "10"}, input{typ: inEvent, event: source.Added, version: "9"},
			machine{state: StateWatching, version: "10"}, action{task: taskLeave, noticed: reason.WentBack},
		},
		"watch: went back": {
			machine{state: StateWatching, version: "10"}, failed(reason.WentBack),
			machine{state: StateListing, version: "10", fresh: true, anew: true, hasty: true}, action{task: taskList, limit: 500},
		},
		"watch: ended": {
			machine{state: StateWatching, version: "5", hasty: true}, input{typ: inEnded},
			machine{state: StateConnecting, version: "5", hasty: true}, action{task: taskWatch, version: "5"},
		},
		"watch: ended after good times": {
			machine{state: StateWatching, version: "5", hasty: true}, input{typ: inEnded, healthy: true},
			machine{state: StateConnecting, version: "5"}, action{task: taskWatch, version: "5"},
		},
		"watch: ended at once with events": {
			machine{state: StateWatching, version: "5"}, input{typ: inEnded, brief: true, events: true},
			machine{state: StateConnecting, version: "5", hasty: true}, action{task: taskWatch, version: "5"},
		},
		"watch: ended at once with events again": {
			machine{state: StateWatching, version: "5", hasty: true}, input{typ: inEnded, brief: true, events: true},
			machine{state: StateWaiting, then: StateConnecting, version: "5", hasty: true}, action{task: taskWait, noticed: reason.ShortWatch},
		},
		"watch: ended at once": {
			machine{state: StateWatching, version: "5"}, input{typ: inEnded, brief: true},
			machine{state: StateWaiting, then: StateConnecting, version: "5"}, action{task: taskWait, noticed: reason.ShortWatch},
		},
		"watch: expired": {
			machine{rules: streams, state: StateWatching, version: "5"}, failed(reason.Expired),
			machine{rules: streams, state: StateStreaming, version: "5", hasty: true}, action{task: taskStream, version: "5"},
		},
		"watch: expired again": {
			machine{state: StateConnecting, version: "5", hasty: true}, failed(reason.Expired),
			machine{state: StateWaiting, then: StateListing, version: "5", hasty: true}, action{task: taskWait},
		},
		"watch: expired after good times": {
			machine{state: StateWatching, version: "5", hasty: true}, input{typ: inFailed, reason: reason.Expired, healthy: true},
			machine{state: StateListing, version: "5", hasty: true}, action{task: taskList, version: "5", match: "NotOlderThan"},
		},
		"watch: silent": {
			machine{state: StateWatching, version: "5"}, failed(reason.Silent),
			machine{state: StateConnecting, version: "5", hasty: true}, action{task: taskProbe},
		},
		"watch: silent again": {
			machine{state: StateWatching, version: "5", hasty: true}, failed(reason.Silent),
			machine{state: StateWaiting, then: StateConnecting, version: "5", hasty: true, doubt: true}, action{task: taskWait},
		},
		"watch: waited after silence": {
			machine{state: StateWaiting, then: StateConnecting, version: "5", doubt: true}, input{typ: inElapsed},
			machine{state: StateConnecting, then: StateConnecting, version: "5"}, action{task: taskProbe},
		},
		"watch: the server stands where it should": {
			machine{state: StateConnecting, version: "5", hasty: true}, input{typ: inProbed, version: "7"},
			machine{state: StateConnecting, version: "5", hasty: true}, action{task: taskWatch, version: "5"},
		},
		"watch: the server does not say where it stands": {
			machine{state: StateConnecting, version: "5", hasty: true}, input{typ: inProbed},
			machine{state: StateConnecting, version: "5", hasty: true}, action{task: taskWatch, version: "5"},
		},
		"watch: the server was put back": {
			machine{state: StateConnecting, version: "5"}, input{typ: inProbed, version: "3"},
			machine{state: StateListing, version: "5", fresh: true, anew: true, hasty: true}, action{task: taskList, limit: 500, noticed: reason.WentBack},
		},
		"watch: no answer": {
			machine{state: StateConnecting, version: "5"}, failed(reason.Silent),
			machine{state: StateWaiting, then: StateConnecting, version: "5"}, action{task: taskWait},
		},
		"watch: server error": {
			machine{state: StateWatching, version: "5", stuck: "5"}, failed(reason.ServerError),
			machine{state: StateWaiting, then: StateConnecting, version: "5", stuck: "5"}, action{task: taskWait},
		},
		"watch: server error at once": {
			machine{state: StateWatching, version: "6", stuck: "5"}, input{typ: inFailed, reason: reason.ServerError, brief: true},
			machine{state: StateWaiting, then: StateConnecting, version: "6", stuck: "6"}, action{task: taskWait},
		},
		"watch: server error at once again": {
			machine{state: StateWatching, version: "5", stuck: "5"}, input{typ: inFailed, reason: reason.ServerError, brief: true},
			machine{state: StateWaiting, then: StateListing, version: "5", stuck: "5"}, action{task: taskWait},
		},
		"watch: not accepted": {
			machine{state: StateConnecting, version: "5", stuck: "5"}, input{typ: inFailed, reason: reason.ServerError, brief: true},
			machine{state: StateWaiting, then: StateConnecting, version: "5", stuck: "5"}, action{task: taskWait},
		},
		"watch: bad data": {
			machine{state: StateWatching, version: "5"}, failed(reason.BadData),
			machine{state: StateConnecting, version: "5", hasty: true, stuck: "5"}, action{task: taskWatch, version: "5"},
		},
		"watch: bad data again": {
			machine{state: StateWatching, version: "6", hasty: true, stuck: "5"}, failed(reason.BadData),
			machine{state: StateWaiting, then: StateConnecting, version: "6", hasty: true, stuck: "6"}, action{task: taskWait},
		},
		"watch: bad data again in the same place": {
			machine{state: StateWatching, version: "5", hasty: true, stuck: "5"}, failed(reason.BadData),
			machine{state: StateWaiting, then: StateListing, version: "5", hasty: true, stuck: "5"}, action{task: taskWait},
		},
		"watch: transform failed": {
			machine{state: StateWatching, version: "5"}, failed(reason.Transform),
			machine{state: StateConnecting, version: "5", hasty: true, stuck: "5"}, action{task: taskWatch, version: "5"},
		},
		"watch: transform failed again in the same place": {
			machine{state: StateWatching, version: "5", hasty: true, stuck: "5"}, failed(reason.Transform),
			machine{state: StateWaiting, then: StateListing, version: "5", hasty: true, stuck: "5"}, action{task: taskWait},
		},
		"watch: forbidden": {
			machine{state: StateConnecting, version: "5"}, failed(reason.WatchForbidden),
			machine{state: StateWaiting, then: StateConnecting, version: "5", noWatch: true}, action{task: taskWait},
		},
		"watch: forbidden again": {
			machine{state: StateConnecting, version: "5", noWatch: true}, input{typ: inFailed, reason: reason.WatchForbidden, after: time.Second},
			machine{state: StateWaiting, then: StateListing, version: "5", noWatch: true}, action{task: taskWait, after: time.Second},
		},
		"watch: waited for a list in its place": {
			machine{rules: streams, state: StateWaiting, then: StateListing, version: "5", noWatch: true}, input{typ: inElapsed},
			machine{rules: streams, state: StateListing, then: StateListing, version: "5", noWatch: true}, action{task: taskList, version: "5", match: "NotOlderThan"},
		},
		"watch: no longer forbidden": {
			machine{state: StateConnecting, version: "5", noWatch: true}, input{typ: inOpened},
			machine{state: StateWatching, version: "5"}, action{},
		},
		"watch: version refused": {
			machine{state: StateConnecting, version: "5"}, failed(reason.Refused),
			machine{state: StateWaiting, then: StateListing, version: "5", fresh: true}, action{task: taskWait},
		},

		"waited to watch": {
			machine{state: StateWaiting, then: StateConnecting, version: "5"}, input{typ: inElapsed},
			machine{state: StateConnecting, then: StateConnecting, version: "5"}, action{task: taskWatch, version: "5"},
		},
		"waited for a round": {
			machine{rules: streams, state: StateWaiting, then: StateListing, version: "5"}, input{typ: inElapsed},
			machine{rules: streams, state: StateStreaming, then: StateListing, version: "5"}, action{task: taskStream, version: "5"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			to, do := step(tc.from, tc.in)
			all := cmp.AllowUnexported(machine{}, rules{}, pages{}, action{})
			if diff := cmp.Diff(tc.to, to, all); diff != "" {
				t.Errorf("state (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tc.do, do, all); diff != "" {
				t.Errorf("action (-want +got):\n%s", diff)
			}
		})
	}
}
