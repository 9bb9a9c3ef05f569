// SPDX-License-Identifier: Apache-2.0

package reflector

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/informer-gen/informer-gen/runtime/reason"
	"github.com/informer-gen/informer-gen/runtime/source"
)

// TestStep has the transitions of the machine, each with its action.
func TestStep(t *testing.T) {
	streams := rules{watchList: true}
	failed := func(reason reason.Reason) input { return input{typ: inFailed, reason: reason} }
	begun := machine{rules: streams, state: StateConnecting, version: "5", restored: true}
	probed := machine{rules: streams, state: StateConnecting, version: "5", restored: true, probed: true}
	watching := machine{rules: streams, state: StateWatching, version: "5", synced: true}
	for _, tc := range []struct {
		name   string
		from   machine
		in     input
		to, do string
	}{
		{"start with a watch-list", machine{rules: streams}, input{typ: inStart}, "rules(watchList) state=streaming", "watch-list"},
		{"start again with a watch-list", machine{rules: streams, version: "5"}, input{typ: inStart},
			"rules(watchList) state=streaming version=5", "watch-list version=5"},
		{"start with the most recent watch-list", machine{rules: streams, version: "5", needsLatest: true}, input{typ: inStart},
			"rules(watchList) state=streaming version=5 needsLatest", "watch-list"},
		{"start with a list", machine{}, input{typ: inStart}, "state=listing", "list version=0 limit=500"},
		{"start with a list in pages", machine{rules: rules{pageSize: 7}}, input{typ: inStart}, "rules(pageSize=7) state=listing", "list limit=7"},
		{"start again with a list", machine{version: "5"}, input{typ: inStart}, "state=listing version=5", "list version=5 match=NotOlderThan"},
		{"start again with a server that reads pages", machine{version: "5", alwaysPages: true}, input{typ: inStart},
			"state=listing version=5 alwaysPages", "list version=5 match=NotOlderThan limit=500"},
		{"watch-list: object", machine{state: StateStreaming}, input{typ: inEvent, event: source.Added, version: "3"}, "state=streaming", "replace"},
		{"watch-list: object changes", machine{state: StateStreaming}, input{typ: inEvent, event: source.Modified, version: "3"},
			"state=streaming", "replace"},
		{"watch-list: object disappears", machine{state: StateStreaming}, input{typ: inEvent, event: source.Deleted, version: "3"},
			"state=streaming", "delete"},
		{"watch-list: some bookmark", machine{state: StateStreaming}, input{typ: inEvent, event: source.Bookmark, version: "3"}, "state=streaming", ""},
		{"watch-list: its end", machine{state: StateStreaming, needsLatest: true, noReuse: true, listOnly: true, noPages: true}, input{typ: inEvent, event: source.Bookmark, version: "3", initialEnd: true},
			"state=watching version=3 synced", "end callVersion=3"},
		{"watch-list: an older state than seen", machine{state: StateStreaming, version: "9"}, input{typ: inEvent, event: source.Bookmark, version: "3", initialEnd: true},
			"state=streaming version=9", "stop detected=versions went back"},
		{"watch-list: the most recent state is older than seen", machine{state: StateStreaming, version: "9", needsLatest: true}, input{typ: inEvent, event: source.Bookmark, version: "3", initialEnd: true},
			"state=streaming version=9 needsLatest", "stop detected=versions went back"},
		{"watch-list: the most recent state is older than seen, and nothing is reused", machine{state: StateStreaming, version: "9", needsLatest: true, noReuse: true}, input{typ: inEvent, event: source.Bookmark, version: "3", initialEnd: true},
			"state=watching version=3 synced", "end callVersion=3"},
		{"watch-list: unknown to the server", machine{rules: streams, state: StateStreaming}, failed(reason.Refused),
			"rules(watchList) state=listing noWatchList", "abort list version=0 limit=500"},
		{"watch-list: no bookmark", machine{rules: streams, state: StateStreaming, retriedAtOnce: true}, failed(reason.NoBookmark),
			"rules(watchList) state=listing listOnly retriedAtOnce", "abort list version=0 limit=500"},
		{"watch-list: closed before its end", machine{rules: streams, state: StateStreaming}, input{typ: inEnded, shortWatch: true},
			"rules(watchList) state=listing listOnly", "abort list version=0 limit=500 detected=no bookmark"},
		{"watch-list: expired", machine{rules: streams, state: StateStreaming, version: "5"}, failed(reason.Expired),
			"rules(watchList) state=listing version=5 needsLatest listOnly", "abort list limit=500"},
		{"watch-list: throttled", machine{rules: streams, state: StateStreaming}, input{typ: inFailed, reason: reason.Throttled, retryAfter: 3 * time.Second},
			"rules(watchList) state=waiting afterWait=listing", "abort wait delay=3000000000"},
		{"watch-list: cut off", machine{rules: streams, state: StateStreaming}, failed(reason.Unreachable),
			"rules(watchList) state=waiting afterWait=listing listOnly", "abort wait"},
		{"watch-list: left because it is older than seen", machine{rules: streams, state: StateStreaming, version: "9"}, failed(reason.WentBack),
			"rules(watchList) state=streaming version=9 needsLatest noReuse retriedAtOnce", "abort watch-list"},
		{"watch-list: bad data", machine{rules: streams, state: StateStreaming}, failed(reason.BadData),
			"rules(watchList) state=listing listOnly retriedAtOnce", "abort list version=0 limit=500"},
		{"watch-list: bad data again", machine{rules: streams, state: StateStreaming, retriedAtOnce: true}, failed(reason.BadData),
			"rules(watchList) state=waiting afterWait=listing listOnly retriedAtOnce", "abort wait"},
		{"watch-list: forbidden", machine{rules: streams, state: StateStreaming}, failed(reason.WatchForbidden),
			"rules(watchList) state=listing watchForbidden retriedAtOnce", "abort list version=0 limit=500"},
		{"watch-list: forbidden again", machine{rules: streams, state: StateStreaming, retriedAtOnce: true}, failed(reason.WatchForbidden),
			"rules(watchList) state=waiting afterWait=listing watchForbidden retriedAtOnce", "abort wait"},
		{"list: only page", machine{state: StateListing}, input{typ: inPage, version: "5"},
			"state=connecting version=5 synced", "end watch callVersion=5 version=5"},
		{"list: first page", machine{state: StateListing}, input{typ: inPage, version: "5", token: "a", items: 500},
			"state=listing alwaysPages pages(version=5 token=a savedToken=a power=1)", "page limit=500 token=a"},
		{"list: last page", machine{state: StateListing, pages: pages{version: "5", token: "a", savedToken: "a", power: 1}}, input{typ: inPage, version: "6", items: 5},
			"state=connecting version=5 synced", "end watch callVersion=5 version=5"},
		{"list: token repeats", machine{state: StateListing, pages: pages{version: "5", token: "b", savedToken: "a", power: 2}}, input{typ: inPage, version: "5", token: "a", items: 5},
			"state=waiting afterWait=listing pages(version=5 token=b savedToken=a power=2)", "abort wait detected=endless list"},
		{"list: older than seen", machine{state: StateListing, version: "9"}, input{typ: inPage, version: "5"},
			"state=listing version=9 needsLatest noReuse retriedAtOnce", "abort list limit=500 detected=versions went back"},
		{"list: most recent one older than seen", machine{state: StateListing, version: "9", needsLatest: true}, input{typ: inPage, version: "5"},
			"state=listing version=9 needsLatest noReuse retriedAtOnce", "abort list limit=500 detected=versions went back"},
		{"list: most recent one older than seen, and nothing is reused", machine{state: StateListing, version: "9", needsLatest: true, noReuse: true}, input{typ: inPage, version: "5"},
			"state=connecting version=5 synced", "end watch callVersion=5 version=5"},
		{"list: versions that can't be compared", machine{state: StateListing, version: "x9"}, input{typ: inPage, version: "x5"},
			"state=connecting version=x5 synced", "end watch callVersion=x5 version=x5"},
		{"list: expired", machine{state: StateListing, version: "9"}, failed(reason.Expired),
			"state=listing version=9 needsLatest retriedAtOnce", "abort list limit=500"},
		{"list: expired again", machine{state: StateListing, version: "9", needsLatest: true, retriedAtOnce: true}, failed(reason.Expired),
			"state=waiting afterWait=listing version=9 needsLatest retriedAtOnce", "abort wait"},
		{"list: too new", machine{state: StateListing, version: "9"}, failed(reason.TooNew),
			"state=listing version=9 needsLatest noReuse retriedAtOnce", "abort list limit=500"},
		{"list: token expired", machine{state: StateListing, rules: rules{pageSize: 7}, pages: pages{version: "5", token: "a"}}, failed(reason.Expired),
			"rules(pageSize=7) state=listing noPages retriedAtOnce", "abort list"},
		{"list: fails instead of a watch-list", machine{state: StateListing, rules: streams, listOnly: true}, failed(reason.ServerError),
			"rules(watchList) state=waiting afterWait=listing", "abort wait"},
		{"list: forbidden, like the watch-list before", machine{state: StateListing, rules: streams, watchForbidden: true, retriedAtOnce: true}, failed(reason.Forbidden),
			"rules(watchList) state=waiting afterWait=listing watchForbidden retriedAtOnce", "abort wait"},
		{"list: forbidden instead of a watch", machine{state: StateListing, rules: streams, version: "5", synced: true, watchForbidden: true, retriedAtOnce: true}, failed(reason.Forbidden),
			"rules(watchList) state=waiting afterWait=connecting version=5 synced retriedAtOnce", "abort wait"},
		{"list: forbidden after versions that went back", machine{state: StateListing, version: "5", synced: true, needsLatest: true, noReuse: true, watchForbidden: true}, failed(reason.Forbidden),
			"state=waiting afterWait=listing version=5 synced needsLatest noReuse watchForbidden", "abort wait"},
		{"list: bad data instead of a watch-list", machine{state: StateListing, rules: streams, listOnly: true, retriedAtOnce: true}, failed(reason.BadData),
			"rules(watchList) state=waiting afterWait=listing retriedAtOnce", "abort wait"},
		{"watch: opened", machine{state: StateConnecting, version: "5"}, input{typ: inOpened}, "state=watching version=5", ""},
		{"watch: added", machine{state: StateWatching, version: "5"}, input{typ: inEvent, event: source.Added, version: "6"},
			"state=watching version=6", "add"},
		{"watch: modified", machine{state: StateWatching, version: "5"}, input{typ: inEvent, event: source.Modified, version: "6"},
			"state=watching version=6", "update"},
		{"watch: deleted", machine{state: StateWatching, version: "5"}, input{typ: inEvent, event: source.Deleted, version: "6"},
			"state=watching version=6", "delete"},
		{"watch: bookmark", machine{state: StateWatching, version: "5"}, input{typ: inEvent, event: source.Bookmark, version: "6"},
			"state=watching version=6", "bookmark callVersion=6"},
		{"watch: the same version twice", machine{state: StateWatching, version: "6"}, input{typ: inEvent, event: source.Modified, version: "6"},
			"state=watching version=6", "update"},
		{"watch: older event", machine{state: StateWatching, version: "10"}, input{typ: inEvent, event: source.Added, version: "9"},
			"state=watching version=10", "stop detected=versions went back"},
		{"watch: went back", machine{state: StateWatching, version: "10"}, failed(reason.WentBack),
			"state=listing version=10 needsLatest noReuse retriedAtOnce", "list limit=500"},
		{"watch: ended", machine{state: StateWatching, version: "5", retriedAtOnce: true}, input{typ: inEnded},
			"state=connecting version=5 retriedAtOnce", "watch version=5"},
		{"watch: ended after a healthy watch", machine{state: StateWatching, version: "5", retriedAtOnce: true}, input{typ: inEnded, healthy: true},
			"state=connecting version=5", "watch version=5"},
		{"watch: ended at once with events", machine{state: StateWatching, version: "5"}, input{typ: inEnded, shortWatch: true, hasEvents: true},
			"state=connecting version=5 retriedAtOnce", "watch version=5"},
		{"watch: ended at once with events again", machine{state: StateWatching, version: "5", retriedAtOnce: true}, input{typ: inEnded, shortWatch: true, hasEvents: true},
			"state=waiting afterWait=connecting version=5 retriedAtOnce", "wait detected=watch closed at once"},
		{"watch: ended at once", machine{state: StateWatching, version: "5"}, input{typ: inEnded, shortWatch: true},
			"state=waiting afterWait=connecting version=5", "wait detected=watch closed at once"},
		{"watch: expired", machine{rules: streams, state: StateWatching, version: "5"}, failed(reason.Expired),
			"rules(watchList) state=streaming version=5 retriedAtOnce", "watch-list version=5"},
		{"watch: expired again", machine{state: StateConnecting, version: "5", retriedAtOnce: true}, failed(reason.Expired),
			"state=waiting afterWait=listing version=5 retriedAtOnce", "wait"},
		{"watch: expired after a healthy watch", machine{state: StateWatching, version: "5", retriedAtOnce: true}, input{typ: inFailed, reason: reason.Expired, healthy: true},
			"state=listing version=5 retriedAtOnce", "list version=5 match=NotOlderThan"},
		{"watch: not found", machine{state: StateConnecting, version: "5"}, failed(reason.NotFound),
			"state=waiting afterWait=connecting version=5", "wait"},
		{"watch: an optional resource not found", machine{rules: rules{optional: true}, state: StateConnecting, version: "5"}, failed(reason.NotFound),
			"rules(optional) state=waiting afterWait=listing version=5", "wait"},
		{"watch: silent", machine{state: StateWatching, version: "5"}, failed(reason.Silent), "state=connecting version=5 retriedAtOnce", "probe"},
		{"watch: silent again", machine{state: StateWatching, version: "5", retriedAtOnce: true}, failed(reason.Silent),
			"state=waiting afterWait=connecting version=5 retriedAtOnce needsProbe", "wait"},
		{"watch: waited after silence", machine{state: StateWaiting, afterWait: StateConnecting, version: "5", needsProbe: true}, input{typ: inElapsed},
			"state=connecting afterWait=connecting version=5", "probe"},
		{"watch: the server has reached the version", machine{state: StateConnecting, version: "5", retriedAtOnce: true}, input{typ: inProbed, version: "7"},
			"state=connecting version=5 retriedAtOnce", "watch version=5"},
		{"watch: the server does not report its version", machine{state: StateConnecting, version: "5", retriedAtOnce: true}, input{typ: inProbed},
			"state=connecting version=5 retriedAtOnce", "watch version=5"},
		{"watch: the server went back", machine{state: StateConnecting, version: "5"}, input{typ: inProbed, version: "3"},
			"state=listing version=5 needsLatest noReuse retriedAtOnce", "list limit=500 detected=versions went back"},
		{"watch: no answer", machine{state: StateConnecting, version: "5"}, failed(reason.Silent), "state=waiting afterWait=connecting version=5", "wait"},
		{"watch: server error", machine{state: StateWatching, version: "5", failedVersion: "5"}, failed(reason.ServerError),
			"state=waiting afterWait=connecting version=5 failedVersion=5", "wait"},
		{"watch: server error at once", machine{state: StateWatching, version: "6", failedVersion: "5"}, input{typ: inFailed, reason: reason.ServerError, shortWatch: true},
			"state=waiting afterWait=connecting version=6 failedVersion=6", "wait"},
		{"watch: server error at once again", machine{state: StateWatching, version: "5", failedVersion: "5"}, input{typ: inFailed, reason: reason.ServerError, shortWatch: true},
			"state=waiting afterWait=listing version=5 failedVersion=5", "wait"},
		{"watch: not accepted", machine{state: StateConnecting, version: "5", failedVersion: "5"}, input{typ: inFailed, reason: reason.ServerError, shortWatch: true},
			"state=waiting afterWait=connecting version=5 failedVersion=5", "wait"},
		{"watch: bad data", machine{state: StateWatching, version: "5"}, failed(reason.BadData),
			"state=connecting version=5 retriedAtOnce failedVersion=5", "watch version=5"},
		{"watch: bad data again", machine{state: StateWatching, version: "6", retriedAtOnce: true, failedVersion: "5"}, failed(reason.BadData),
			"state=waiting afterWait=connecting version=6 retriedAtOnce failedVersion=6", "wait"},
		{"watch: bad data again at the same version", machine{state: StateWatching, version: "5", retriedAtOnce: true, failedVersion: "5"}, failed(reason.BadData),
			"state=waiting afterWait=listing version=5 retriedAtOnce failedVersion=5", "wait"},
		{"watch: transform failed", machine{state: StateWatching, version: "5"}, failed(reason.Transform),
			"state=connecting version=5 retriedAtOnce failedVersion=5", "watch version=5"},
		{"watch: transform failed again at the same version", machine{state: StateWatching, version: "5", retriedAtOnce: true, failedVersion: "5"}, failed(reason.Transform),
			"state=waiting afterWait=listing version=5 retriedAtOnce failedVersion=5", "wait"},
		{"watch: forbidden", machine{state: StateConnecting, version: "5"}, failed(reason.WatchForbidden),
			"state=waiting afterWait=connecting version=5 watchForbidden", "wait"},
		{"watch: forbidden again", machine{state: StateConnecting, version: "5", watchForbidden: true}, input{typ: inFailed, reason: reason.WatchForbidden, retryAfter: time.Second},
			"state=waiting afterWait=listing version=5 watchForbidden", "wait delay=1000000000"},
		{"watch: waited for a list instead", machine{rules: streams, state: StateWaiting, afterWait: StateListing, version: "5", watchForbidden: true}, input{typ: inElapsed},
			"rules(watchList) state=listing afterWait=listing version=5 watchForbidden", "list version=5 match=NotOlderThan"},
		{"watch: no longer forbidden", machine{state: StateConnecting, version: "5", watchForbidden: true}, input{typ: inOpened}, "state=watching version=5", ""},
		{"watch: version refused", machine{state: StateConnecting, version: "5"}, failed(reason.Refused),
			"state=waiting afterWait=listing version=5 needsLatest", "wait"},
		{"waited to watch", machine{state: StateWaiting, afterWait: StateConnecting, version: "5"}, input{typ: inElapsed},
			"state=connecting afterWait=connecting version=5", "watch version=5"},
		{"waited for a round", machine{rules: streams, state: StateWaiting, afterWait: StateListing, version: "5"}, input{typ: inElapsed},
			"rules(watchList) state=streaming afterWait=listing version=5", "watch-list version=5"},
		{"restored: start", machine{rules: streams}, input{typ: inStart, version: "5"},
			"rules(watchList) state=connecting version=5 restored", "watch version=5"},
		{"restored: the watch is accepted, which confirms nothing", begun, input{typ: inOpened}, "rules(watchList) state=connecting version=5 restored", ""},
		{"restored: an event", begun, input{typ: inConfirmed, version: "6"}, "rules(watchList) state=watching version=5 synced", "end callVersion=5 restored version=5"},
		{"restored: a bookmark of the same version", begun, input{typ: inConfirmed, version: "5"},
			"rules(watchList) state=watching version=5 synced", "end callVersion=5 restored version=5"},
		{"restored: an older event", begun, input{typ: inConfirmed, version: "4"},
			"rules(watchList) state=connecting version=5 restored", "stop detected=versions went back"},
		{"restored: silence", begun, input{typ: inUnconfirmed}, "rules(watchList) state=connecting version=5 restored probed", "probe"},
		{"restored: silence that an event has ended", watching, input{typ: inUnconfirmed}, "rules(watchList) state=connecting version=5 synced", "watch version=5"},
		{"restored: the server is at that version", probed, input{typ: inProbed, version: "5"},
			"rules(watchList) state=connecting version=5 synced probed", "end watch callVersion=5 restored version=5"},
		{"restored: the server went back", probed, input{typ: inProbed, version: "4"},
			"rules(watchList) state=streaming version=5 probed needsLatest noReuse retriedAtOnce", "abort watch-list detected=versions went back"},
		{"restored: the server doesn't report its version", probed, input{typ: inProbed},
			"rules(watchList) state=connecting version=5 restored probed", "watch version=5"},
		{"restored: forgotten", begun, failed(reason.Expired), "rules(watchList) state=streaming version=5 retriedAtOnce", "abort watch-list version=5"},
		{"restored: forgotten, without watch-lists", machine{state: StateConnecting, version: "5", restored: true}, failed(reason.Expired),
			"state=listing version=5 retriedAtOnce", "abort list version=5 match=NotOlderThan"},
		{"restored: no answer", begun, failed(reason.Silent), "rules(watchList) state=streaming version=5 retriedAtOnce", "abort watch-list version=5"},
		{"restored: unreachable", begun, failed(reason.Unreachable), "rules(watchList) state=waiting afterWait=connecting version=5 restored", "wait"},
		{"restored: refused", begun, failed(reason.Refused), "rules(watchList) state=waiting afterWait=listing version=5 restored needsLatest", "wait"},
		{"restored: refused, after the wait", machine{rules: streams, state: StateWaiting, afterWait: StateListing, version: "5", restored: true, needsLatest: true}, input{typ: inElapsed},
			"rules(watchList) state=streaming afterWait=listing version=5 needsLatest", "abort watch-list"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			to, do := step(tc.from, tc.in)
			if got := show(reflect.ValueOf(to)); got != tc.to {
				t.Errorf("machine %s\nwant    %s", got, tc.to)
			}
			if got := show(reflect.ValueOf(do)); got != tc.do {
				t.Errorf("action %s\nwant   %s", got, tc.do)
			}
		})
	}
}

var (
	taskNames = [...]string{taskContinue: "continue", taskStop: "stop", taskWatchList: "watch-list", taskList: "list", taskPage: "page", taskWatch: "watch", taskProbe: "probe", taskWait: "wait"}
	callNames = [...]string{callReplace: "replace", callAdd: "add", callUpdate: "update", callDelete: "delete", callBookmark: "bookmark", callEndReplace: "end", callAbortReplace: "abort"}
)

// show returns the non-zero fields of a machine or an action.
func show(v reflect.Value) string {
	var words []string
	for i := range v.NumField() {
		f, name := v.Field(i), v.Type().Field(i).Name
		switch {
		case f.IsZero():
		case f.Kind() == reflect.Bool:
			words = append(words, name)
		case f.Kind() == reflect.Struct:
			words = append(words, name+"("+show(f)+")")
		case f.Type() == reflect.TypeFor[State]():
			words = append(words, name+"="+strings.Fields(State(f.Uint()).String())[0])
		case f.Type() == reflect.TypeFor[reason.Reason]():
			words = append(words, name+"="+reason.Reason(f.Uint()).String())
		case f.Type() == reflect.TypeFor[task]():
			words = append(words, taskNames[f.Uint()])
		case f.Type() == reflect.TypeFor[call]():
			words = append(words, callNames[f.Uint()])
		default:
			words = append(words, fmt.Sprint(name, "=", f))
		}
	}
	return strings.Join(words, " ")
}
