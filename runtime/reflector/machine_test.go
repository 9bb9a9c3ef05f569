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

// TestStep has the transitions of the machine: the next one, and the action.
func TestStep(t *testing.T) {
	streams := rules{stream: true}
	failed := func(reason reason.Reason) input { return input{typ: inFailed, reason: reason} }
	begun := machine{rules: streams, state: StateConnecting, version: "5", restored: true}
	asked := machine{rules: streams, state: StateConnecting, version: "5", restored: true, asked: true}
	watching := machine{rules: streams, state: StateWatching, version: "5", synced: true}
	for _, tc := range []struct {
		name   string
		from   machine
		in     input
		to, do string
	}{
		{"start with a watch-list", machine{rules: streams}, input{typ: inStart}, "rules(stream) state=streaming", "stream"},
		{"start again with a watch-list", machine{rules: streams, version: "5"}, input{typ: inStart},
			"rules(stream) state=streaming version=5", "stream version=5"},
		{"start with the most recent watch-list", machine{rules: streams, version: "5", fresh: true}, input{typ: inStart},
			"rules(stream) state=streaming version=5 fresh", "stream"},
		{"start with a list", machine{}, input{typ: inStart}, "state=listing", "list version=0 limit=500"},
		{"start with a list in pages", machine{rules: rules{pageSize: 7}}, input{typ: inStart}, "rules(pageSize=7) state=listing", "list limit=7"},
		{"start again with a list", machine{version: "5"}, input{typ: inStart}, "state=listing version=5", "list version=5 match=NotOlderThan"},
		{"start again with a server that reads pages", machine{version: "5", paged: true}, input{typ: inStart},
			"state=listing version=5 paged", "list version=5 match=NotOlderThan limit=500"},
		{"watch-list: object", machine{state: StateStreaming}, input{typ: inEvent, event: source.Added, version: "3"}, "state=streaming", "replaced"},
		{"watch-list: object changes", machine{state: StateStreaming}, input{typ: inEvent, event: source.Modified, version: "3"},
			"state=streaming", "replaced"},
		{"watch-list: object disappears", machine{state: StateStreaming}, input{typ: inEvent, event: source.Deleted, version: "3"},
			"state=streaming", "deleted"},
		{"watch-list: some bookmark", machine{state: StateStreaming}, input{typ: inEvent, event: source.Bookmark, version: "3"}, "state=streaming", ""},
		{"watch-list: its end", machine{state: StateStreaming, fresh: true, anew: true, listOnly: true, whole: true}, input{typ: inEvent, event: source.Bookmark, version: "3", initialEnd: true},
			"state=watching version=3 synced", "end told=3"},
		{"watch-list: an older state than seen", machine{state: StateStreaming, version: "9"}, input{typ: inEvent, event: source.Bookmark, version: "3", initialEnd: true},
			"state=streaming version=9", "leave noticed=versions went back"},
		{"watch-list: the most recent state is older than seen", machine{state: StateStreaming, version: "9", fresh: true}, input{typ: inEvent, event: source.Bookmark, version: "3", initialEnd: true},
			"state=streaming version=9 fresh", "leave noticed=versions went back"},
		{"watch-list: the most recent state is older than seen, and read anew", machine{state: StateStreaming, version: "9", fresh: true, anew: true}, input{typ: inEvent, event: source.Bookmark, version: "3", initialEnd: true},
			"state=watching version=3 synced", "end told=3"},
		{"watch-list: unknown to the server", machine{rules: streams, state: StateStreaming}, failed(reason.Refused),
			"rules(stream) state=listing noStream", "abort list version=0 limit=500"},
		{"watch-list: no bookmark", machine{rules: streams, state: StateStreaming, hasty: true}, failed(reason.NoBookmark),
			"rules(stream) state=listing listOnly hasty", "abort list version=0 limit=500"},
		{"watch-list: closed before its end", machine{rules: streams, state: StateStreaming}, input{typ: inEnded, brief: true},
			"rules(stream) state=listing listOnly", "abort list version=0 limit=500 noticed=no bookmark"},
		{"watch-list: expired", machine{rules: streams, state: StateStreaming, version: "5"}, failed(reason.Expired),
			"rules(stream) state=listing version=5 fresh listOnly", "abort list limit=500"},
		{"watch-list: throttled", machine{rules: streams, state: StateStreaming}, input{typ: inFailed, reason: reason.Throttled, after: 3 * time.Second},
			"rules(stream) state=waiting then=listing", "abort wait after=3000000000"},
		{"watch-list: cut off", machine{rules: streams, state: StateStreaming}, failed(reason.Unreachable),
			"rules(stream) state=waiting then=listing listOnly", "abort wait"},
		{"watch-list: left because it is older than seen", machine{rules: streams, state: StateStreaming, version: "9"}, failed(reason.WentBack),
			"rules(stream) state=streaming version=9 fresh anew hasty", "abort stream"},
		{"watch-list: bad data", machine{rules: streams, state: StateStreaming}, failed(reason.BadData),
			"rules(stream) state=listing listOnly hasty", "abort list version=0 limit=500"},
		{"watch-list: bad data again", machine{rules: streams, state: StateStreaming, hasty: true}, failed(reason.BadData),
			"rules(stream) state=waiting then=listing listOnly hasty", "abort wait"},
		{"watch-list: forbidden", machine{rules: streams, state: StateStreaming}, failed(reason.WatchForbidden),
			"rules(stream) state=listing noWatch hasty", "abort list version=0 limit=500"},
		{"watch-list: forbidden again", machine{rules: streams, state: StateStreaming, hasty: true}, failed(reason.WatchForbidden),
			"rules(stream) state=waiting then=listing noWatch hasty", "abort wait"},
		{"list: only page", machine{state: StateListing}, input{typ: inPage, version: "5"},
			"state=connecting version=5 synced", "end watch told=5 version=5"},
		{"list: first page", machine{state: StateListing}, input{typ: inPage, version: "5", token: "a", items: 500},
			"state=listing paged pages(version=5 token=a kept=a next=1)", "page limit=500 token=a"},
		{"list: last page", machine{state: StateListing, pages: pages{version: "5", token: "a", kept: "a", next: 1}}, input{typ: inPage, version: "6", items: 5},
			"state=connecting version=5 synced", "end watch told=5 version=5"},
		{"list: token repeats", machine{state: StateListing, pages: pages{version: "5", token: "b", kept: "a", next: 2}}, input{typ: inPage, version: "5", token: "a", items: 5},
			"state=waiting then=listing pages(version=5 token=b kept=a next=2)", "abort wait noticed=endless list"},
		{"list: older than seen", machine{state: StateListing, version: "9"}, input{typ: inPage, version: "5"},
			"state=listing version=9 fresh anew hasty", "abort list limit=500 noticed=versions went back"},
		{"list: most recent one older than seen", machine{state: StateListing, version: "9", fresh: true}, input{typ: inPage, version: "5"},
			"state=listing version=9 fresh anew hasty", "abort list limit=500 noticed=versions went back"},
		{"list: most recent one older than seen, and read anew", machine{state: StateListing, version: "9", fresh: true, anew: true}, input{typ: inPage, version: "5"},
			"state=connecting version=5 synced", "end watch told=5 version=5"},
		{"list: versions that can't be compared", machine{state: StateListing, version: "x9"}, input{typ: inPage, version: "x5"},
			"state=connecting version=x5 synced", "end watch told=x5 version=x5"},
		{"list: expired", machine{state: StateListing, version: "9"}, failed(reason.Expired),
			"state=listing version=9 fresh hasty", "abort list limit=500"},
		{"list: expired again", machine{state: StateListing, version: "9", fresh: true, hasty: true}, failed(reason.Expired),
			"state=waiting then=listing version=9 fresh hasty", "abort wait"},
		{"list: too new", machine{state: StateListing, version: "9"}, failed(reason.TooNew),
			"state=listing version=9 fresh anew hasty", "abort list limit=500"},
		{"list: token expired", machine{state: StateListing, rules: rules{pageSize: 7}, pages: pages{version: "5", token: "a"}}, failed(reason.Expired),
			"rules(pageSize=7) state=listing whole hasty", "abort list"},
		{"list: fails in place of a watch-list", machine{state: StateListing, rules: streams, listOnly: true}, failed(reason.ServerError),
			"rules(stream) state=waiting then=listing", "abort wait"},
		{"list: forbidden, like the watch-list before", machine{state: StateListing, rules: streams, noWatch: true, hasty: true}, failed(reason.Forbidden),
			"rules(stream) state=waiting then=listing noWatch hasty", "abort wait"},
		{"list: forbidden in place of a watch", machine{state: StateListing, rules: streams, version: "5", synced: true, noWatch: true, hasty: true}, failed(reason.Forbidden),
			"rules(stream) state=waiting then=connecting version=5 synced hasty", "abort wait"},
		{"list: forbidden after versions that went back", machine{state: StateListing, version: "5", synced: true, fresh: true, anew: true, noWatch: true}, failed(reason.Forbidden),
			"state=waiting then=listing version=5 synced fresh anew noWatch", "abort wait"},
		{"list: bad data in place of a watch-list", machine{state: StateListing, rules: streams, listOnly: true, hasty: true}, failed(reason.BadData),
			"rules(stream) state=waiting then=listing hasty", "abort wait"},
		{"watch: opened", machine{state: StateConnecting, version: "5"}, input{typ: inOpened}, "state=watching version=5", ""},
		{"watch: added", machine{state: StateWatching, version: "5"}, input{typ: inEvent, event: source.Added, version: "6"},
			"state=watching version=6", "added"},
		{"watch: modified", machine{state: StateWatching, version: "5"}, input{typ: inEvent, event: source.Modified, version: "6"},
			"state=watching version=6", "modified"},
		{"watch: deleted", machine{state: StateWatching, version: "5"}, input{typ: inEvent, event: source.Deleted, version: "6"},
			"state=watching version=6", "deleted"},
		{"watch: bookmark", machine{state: StateWatching, version: "5"}, input{typ: inEvent, event: source.Bookmark, version: "6"},
			"state=watching version=6", "bookmark told=6"},
		{"watch: the same version twice", machine{state: StateWatching, version: "6"}, input{typ: inEvent, event: source.Modified, version: "6"},
			"state=watching version=6", "modified"},
		{"watch: backwards", machine{state: StateWatching, version: "10"}, input{typ: inEvent, event: source.Added, version: "9"},
			"state=watching version=10", "leave noticed=versions went back"},
		{"watch: went back", machine{state: StateWatching, version: "10"}, failed(reason.WentBack),
			"state=listing version=10 fresh anew hasty", "list limit=500"},
		{"watch: ended", machine{state: StateWatching, version: "5", hasty: true}, input{typ: inEnded},
			"state=connecting version=5 hasty", "watch version=5"},
		{"watch: ended after good times", machine{state: StateWatching, version: "5", hasty: true}, input{typ: inEnded, healthy: true},
			"state=connecting version=5", "watch version=5"},
		{"watch: ended at once with events", machine{state: StateWatching, version: "5"}, input{typ: inEnded, brief: true, events: true},
			"state=connecting version=5 hasty", "watch version=5"},
		{"watch: ended at once with events again", machine{state: StateWatching, version: "5", hasty: true}, input{typ: inEnded, brief: true, events: true},
			"state=waiting then=connecting version=5 hasty", "wait noticed=watch closed at once"},
		{"watch: ended at once", machine{state: StateWatching, version: "5"}, input{typ: inEnded, brief: true},
			"state=waiting then=connecting version=5", "wait noticed=watch closed at once"},
		{"watch: expired", machine{rules: streams, state: StateWatching, version: "5"}, failed(reason.Expired),
			"rules(stream) state=streaming version=5 hasty", "stream version=5"},
		{"watch: expired again", machine{state: StateConnecting, version: "5", hasty: true}, failed(reason.Expired),
			"state=waiting then=listing version=5 hasty", "wait"},
		{"watch: expired after good times", machine{state: StateWatching, version: "5", hasty: true}, input{typ: inFailed, reason: reason.Expired, healthy: true},
			"state=listing version=5 hasty", "list version=5 match=NotOlderThan"},
		{"watch: silent", machine{state: StateWatching, version: "5"}, failed(reason.Silent), "state=connecting version=5 hasty", "probe"},
		{"watch: silent again", machine{state: StateWatching, version: "5", hasty: true}, failed(reason.Silent),
			"state=waiting then=connecting version=5 hasty doubt", "wait"},
		{"watch: waited after silence", machine{state: StateWaiting, then: StateConnecting, version: "5", doubt: true}, input{typ: inElapsed},
			"state=connecting then=connecting version=5", "probe"},
		{"watch: the server stands where it should", machine{state: StateConnecting, version: "5", hasty: true}, input{typ: inProbed, version: "7"},
			"state=connecting version=5 hasty", "watch version=5"},
		{"watch: the server does not say where it stands", machine{state: StateConnecting, version: "5", hasty: true}, input{typ: inProbed},
			"state=connecting version=5 hasty", "watch version=5"},
		{"watch: the server was put back", machine{state: StateConnecting, version: "5"}, input{typ: inProbed, version: "3"},
			"state=listing version=5 fresh anew hasty", "list limit=500 noticed=versions went back"},
		{"watch: no answer", machine{state: StateConnecting, version: "5"}, failed(reason.Silent), "state=waiting then=connecting version=5", "wait"},
		{"watch: server error", machine{state: StateWatching, version: "5", stuck: "5"}, failed(reason.ServerError),
			"state=waiting then=connecting version=5 stuck=5", "wait"},
		{"watch: server error at once", machine{state: StateWatching, version: "6", stuck: "5"}, input{typ: inFailed, reason: reason.ServerError, brief: true},
			"state=waiting then=connecting version=6 stuck=6", "wait"},
		{"watch: server error at once again", machine{state: StateWatching, version: "5", stuck: "5"}, input{typ: inFailed, reason: reason.ServerError, brief: true},
			"state=waiting then=listing version=5 stuck=5", "wait"},
		{"watch: not accepted", machine{state: StateConnecting, version: "5", stuck: "5"}, input{typ: inFailed, reason: reason.ServerError, brief: true},
			"state=waiting then=connecting version=5 stuck=5", "wait"},
		{"watch: bad data", machine{state: StateWatching, version: "5"}, failed(reason.BadData),
			"state=connecting version=5 hasty stuck=5", "watch version=5"},
		{"watch: bad data again", machine{state: StateWatching, version: "6", hasty: true, stuck: "5"}, failed(reason.BadData),
			"state=waiting then=connecting version=6 hasty stuck=6", "wait"},
		{"watch: bad data again in the same place", machine{state: StateWatching, version: "5", hasty: true, stuck: "5"}, failed(reason.BadData),
			"state=waiting then=listing version=5 hasty stuck=5", "wait"},
		{"watch: transform failed", machine{state: StateWatching, version: "5"}, failed(reason.Transform),
			"state=connecting version=5 hasty stuck=5", "watch version=5"},
		{"watch: transform failed again in the same place", machine{state: StateWatching, version: "5", hasty: true, stuck: "5"}, failed(reason.Transform),
			"state=waiting then=listing version=5 hasty stuck=5", "wait"},
		{"watch: forbidden", machine{state: StateConnecting, version: "5"}, failed(reason.WatchForbidden),
			"state=waiting then=connecting version=5 noWatch", "wait"},
		{"watch: forbidden again", machine{state: StateConnecting, version: "5", noWatch: true}, input{typ: inFailed, reason: reason.WatchForbidden, after: time.Second},
			"state=waiting then=listing version=5 noWatch", "wait after=1000000000"},
		{"watch: waited for a list in its place", machine{rules: streams, state: StateWaiting, then: StateListing, version: "5", noWatch: true}, input{typ: inElapsed},
			"rules(stream) state=listing then=listing version=5 noWatch", "list version=5 match=NotOlderThan"},
		{"watch: no longer forbidden", machine{state: StateConnecting, version: "5", noWatch: true}, input{typ: inOpened}, "state=watching version=5", ""},
		{"watch: version refused", machine{state: StateConnecting, version: "5"}, failed(reason.Refused),
			"state=waiting then=listing version=5 fresh", "wait"},
		{"waited to watch", machine{state: StateWaiting, then: StateConnecting, version: "5"}, input{typ: inElapsed},
			"state=connecting then=connecting version=5", "watch version=5"},
		{"waited for a round", machine{rules: streams, state: StateWaiting, then: StateListing, version: "5"}, input{typ: inElapsed},
			"rules(stream) state=streaming then=listing version=5", "stream version=5"},
		{"restored: start", machine{rules: streams}, input{typ: inStart, version: "5"},
			"rules(stream) state=connecting version=5 restored", "watch version=5"},
		{"restored: the watch is accepted, which proves nothing", begun, input{typ: inOpened}, "rules(stream) state=connecting version=5 restored", ""},
		{"restored: an event", begun, input{typ: inConfirmed, version: "6"}, "rules(stream) state=watching version=5 synced", "end told=5 kept version=5"},
		{"restored: a bookmark of the same version", begun, input{typ: inConfirmed, version: "5"},
			"rules(stream) state=watching version=5 synced", "end told=5 kept version=5"},
		{"restored: an older event", begun, input{typ: inConfirmed, version: "4"},
			"rules(stream) state=connecting version=5 restored", "leave noticed=versions went back"},
		{"restored: silence", begun, input{typ: inQuiet}, "rules(stream) state=connecting version=5 restored asked", "probe"},
		{"restored: silence that an event has ended", watching, input{typ: inQuiet}, "rules(stream) state=connecting version=5 synced", "watch version=5"},
		{"restored: the server is at that version", asked, input{typ: inProbed, version: "5"},
			"rules(stream) state=connecting version=5 synced asked", "end watch told=5 kept version=5"},
		{"restored: the server went back", asked, input{typ: inProbed, version: "4"},
			"rules(stream) state=streaming version=5 asked fresh anew hasty", "abort stream noticed=versions went back"},
		{"restored: the server doesn't report its version", asked, input{typ: inProbed},
			"rules(stream) state=connecting version=5 restored asked", "watch version=5"},
		{"restored: forgotten", begun, failed(reason.Expired), "rules(stream) state=streaming version=5 hasty", "abort stream version=5"},
		{"restored: forgotten, without watch-lists", machine{state: StateConnecting, version: "5", restored: true}, failed(reason.Expired),
			"state=listing version=5 hasty", "abort list version=5 match=NotOlderThan"},
		{"restored: no answer", begun, failed(reason.Silent), "rules(stream) state=streaming version=5 hasty", "abort stream version=5"},
		{"restored: unreachable", begun, failed(reason.Unreachable), "rules(stream) state=waiting then=connecting version=5 restored", "wait"},
		{"restored: refused", begun, failed(reason.Refused), "rules(stream) state=waiting then=listing version=5 restored fresh", "wait"},
		{"restored: refused, after the wait", machine{rules: streams, state: StateWaiting, then: StateListing, version: "5", restored: true, fresh: true}, input{typ: inElapsed},
			"rules(stream) state=streaming then=listing version=5 fresh", "abort stream"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			to, do := step(tc.from, tc.in)
			if got := show(reflect.ValueOf(to)); got != tc.to {
				t.Errorf("state %s\nwant  %s", got, tc.to)
			}
			if got := show(reflect.ValueOf(do)); got != tc.do {
				t.Errorf("action %s\nwant   %s", got, tc.do)
			}
		})
	}
}

var (
	taskNames = [...]string{taskGoOn: "go on", taskLeave: "leave", taskStream: "stream", taskList: "list", taskPage: "page", taskWatch: "watch", taskProbe: "probe", taskWait: "wait"}
	callNames = [...]string{callReplaced: "replaced", callAdded: "added", callModified: "modified", callDeleted: "deleted", callBookmark: "bookmark", callEnd: "end", callAbort: "abort"}
)

// show returns every field of a machine or an action that is not zero.
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
