// SPDX-License-Identifier: Apache-2.0

package reflector

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/informer-gen/informer-gen/runtime/reason"
	"github.com/informer-gen/informer-gen/runtime/source"
)

// lists returns a fake.list with answers by request.
func lists(t *testing.T, answers map[string]page) func(int, source.ListOptions, func(thing) error) (source.ListResult, error) {
	return func(_ int, opts source.ListOptions, item func(thing) error) (source.ListResult, error) {
		request := fmt.Sprintf("rv=%s%s limit=%d token=%s", opts.ResourceVersion, opts.ResourceVersionMatch, opts.Limit, opts.Continue)
		p, ok := answers[request]
		if !ok {
			t.Errorf("unexpected list with %s", request)
		}
		if p.err != nil {
			return source.ListResult{}, p.err
		}
		for i := range p.items {
			if err := item(newThing(fmt.Sprint("pod-", p.first+i), strconv.Itoa(p.first+i))); err != nil {
				return source.ListResult{}, err
			}
		}
		return source.ListResult{ResourceVersion: p.version, Continue: p.token}, nil
	}
}

// page is an answer to a list: objects numbered from first on, or an error.
type page struct {
	version, token string
	first, items   int
	err            error
}

func (g *rig) wantLen(want int) {
	g.t.Helper()
	if got := len(strings.Fields(g.sink.content())); got != want {
		g.t.Errorf("the sink has %d objects, want %d", got, want)
	}
}

var listsOnly = Config[thing]{Tuning: Tuning{DisableWatchList: true}}

// TestMirrorLists has client-go's tests of the versions and pages of lists, under their names
// there. A second Run stands for the second ListAndWatch.
func TestMirrorLists(t *testing.T) {
	for name, tc := range map[string]struct {
		pageSize      int64
		first, second map[string]page
		objects       [2]int // after each Run
		requests      []string
	}{
		"ResyncWithResourceVersion, NotPaginatingNotConsistentReads": {
			first:    map[string]page{"rv=0 limit=500 token=": {version: "10", items: 4}},
			second:   map[string]page{"rv=10NotOlderThan limit=0 token=": {version: "11", items: 10}},
			objects:  [2]int{4, 10},
			requests: []string{"list rv=0 limit=500 token=", "watch rv=10", "list rv=10NotOlderThan limit=0 token=", "watch rv=11"},
		},
		"ExpiredExactResourceVersion": {
			first:    map[string]page{"rv=0 limit=500 token=": {version: "10", items: 4}},
			second:   map[string]page{"rv=10NotOlderThan limit=0 token=": {err: errGone}, "rv= limit=500 token=": {version: "11", items: 8}},
			objects:  [2]int{4, 8},
			requests: []string{"list rv=0 limit=500 token=", "watch rv=10", "list rv=10NotOlderThan limit=0 token=", "list rv= limit=500 token=", "watch rv=11"},
		},
		// With a page size, all lists are of the most recent state, because servers ignore the
		// limit of others.
		"FullListIfExpired": {
			pageSize: 4,
			first:    map[string]page{"rv= limit=4 token=": {version: "10", items: 4}},
			second: map[string]page{
				"rv= limit=4 token=": {version: "11", items: 4, token: "C1"}, "rv= limit=4 token=C1": {err: errGone}, "rv= limit=0 token=": {version: "11", items: 8},
			},
			objects: [2]int{4, 8},
			requests: []string{
				"list rv= limit=4 token=", "watch rv=10", "list rv= limit=4 token=", "list rv= limit=4 token=C1", "list rv= limit=0 token=", "watch rv=11",
			},
		},
		"WatchListPageSize": {
			pageSize: 4,
			first: map[string]page{
				"rv= limit=4 token=": {version: "10", token: "C1", items: 4}, "rv= limit=4 token=C1": {version: "10", token: "C2", first: 4, items: 4},
				"rv= limit=4 token=C2": {version: "10", first: 8, items: 2},
			},
			second:  map[string]page{"rv= limit=4 token=": {version: "10", items: 3}},
			objects: [2]int{10, 3},
			requests: []string{
				"list rv= limit=4 token=", "list rv= limit=4 token=C1", "list rv= limit=4 token=C2", "watch rv=10", "list rv= limit=4 token=", "watch rv=10",
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			src := &fake{watch: quiet, list: lists(t, tc.first)}
			bubble(t, src, Config[thing]{Tuning: Tuning{DisableWatchList: true, PageSize: tc.pageSize}}, func(g *rig) {
				g.wantLen(tc.objects[0])
				src.list = lists(t, tc.second)
				g.rerun()
				g.wantLen(tc.objects[1])
				g.wantRequests(tc.requests...)
			})
		})
	}
}

// TestMirrorFullListIfTooLarge: client-go's TestReflectorFullListIfTooLarge, with every form in
// which servers report that they have not reached a version.
func TestMirrorFullListIfTooLarge(t *testing.T) {
	tooLarge := func(text string, causes ...metav1.StatusCause) error {
		err := apierrors.NewTimeoutError(text, 1)
		err.ErrStatus.Details.Causes = causes
		return err
	}
	for name, err := range map[string]error{
		"cause":         tooLarge("too large resource version", metav1.StatusCause{Type: metav1.CauseTypeResourceVersionTooLarge}),
		"text of cause": tooLarge("too large resource version", metav1.StatusCause{Message: "Too large resource version"}),
		"text":          tooLarge("Too large resource version"),
	} {
		t.Run(name, func(t *testing.T) {
			src := &fake{watch: quiet, list: lists(t, map[string]page{
				"rv=0 limit=500 token=":            {version: "20"},
				"rv=20NotOlderThan limit=0 token=": {err: err},
				// restored from a backup, which client-go does not expect
				"rv= limit=500 token=": {version: "15", items: 3},
			})}
			bubble(t, src, listsOnly, func(g *rig) {
				g.rerun()
				g.wantRequests("list rv=0 limit=500 token=", "watch rv=20", "list rv=20NotOlderThan limit=0 token=", "list rv= limit=500 token= anew", "watch rv=15")
				g.wantLen(3)
				if s := g.Status(); reason.Of(s.LastError) != reason.TooNew || s.ResourceVersion != "15" {
					t.Errorf("Status() = %+v", s)
				}
			})
		})
	}
}

// TestMirrorPagesIfThereIsNoCache: client-go's
// TestReflectorPaginatingNonConsistentReadsIfWatchCacheDisabled. A Run's
// findings about the server are not kept for the next one.
func TestMirrorPagesIfThereIsNoCache(t *testing.T) {
	src := &fake{watch: script(scriptedWatch{ends: true, after: time.Minute, err: errGone}), list: lists(t, map[string]page{
		"rv=0 limit=500 token=":              {version: "10", token: "C1", items: 4},
		"rv=10NotOlderThan limit=500 token=": {version: "10", token: "C1", items: 4},
		"rv= limit=500 token=C1":             {version: "10", token: "C2", first: 4, items: 4},
		"rv= limit=500 token=C2":             {version: "10", first: 8, items: 2},
	})}
	bubble(t, src, listsOnly, func(g *rig) {
		g.wantLen(10)
		g.pass(time.Minute) // until the watch expires
		g.wantLen(10)
		if src.lists != 6 || src.watches != 2 {
			t.Errorf("requests %q", src.requests())
		}
	})
}

// TestMirrorPager has the lists of client-go's TestListPager_List, with versions that are not
// numbers, as there. An expired token does not end a Run: it reads the list again, without pages.
func TestMirrorPager(t *testing.T) {
	for name, tc := range map[string]struct {
		total   int
		expires bool
		lists   int
	}{
		"empty page":             {0, false, 1},
		"one page":               {9, false, 1},
		"one full page":          {10, false, 1},
		"two pages":              {11, false, 2},
		"three pages":            {21, false, 3},
		"expires on second page": {21, true, 3},
	} {
		t.Run(name, func(t *testing.T) {
			src := &fake{watch: quiet}
			src.list = func(_ int, opts source.ListOptions, item func(thing) error) (source.ListResult, error) {
				first, _ := strconv.Atoi(opts.Continue)
				if first > 0 && tc.expires {
					return source.ListResult{}, errGone
				}
				last := tc.total
				if opts.Limit > 0 {
					last = min(last, first+int(opts.Limit))
				}
				for i := first; i < last; i++ {
					if err := item(newThing(fmt.Sprint(i), "rv:20")); err != nil {
						return source.ListResult{}, err
					}
				}
				result := source.ListResult{ResourceVersion: "rv:20"}
				if last < tc.total {
					result.Continue = strconv.Itoa(last)
				}
				return result, nil
			}
			bubble(t, src, Config[thing]{Tuning: Tuning{DisableWatchList: true, PageSize: 10}}, func(g *rig) {
				g.wantLen(tc.total)
				if s := g.Status(); src.lists != tc.lists || s.ResourceVersion != "rv:20" || !s.Synced {
					t.Errorf("requests %q, Status() = %+v", src.requests(), s)
				}
			})
		})
	}
}

// TestMirrorListAndWatchWithErrors: client-go's TestReflectorListAndWatchWithErrors. The lists of
// its rounds are the states of the server. Here errors end no Run, so the rounds with errors are
// part of one Run, and the store stays the same during them.
func TestMirrorListAndWatchWithErrors(t *testing.T) {
	listErr, watchErr := errors.New("a list error"), errors.New("a watch error")
	answers := []func(int, source.ListOptions, func(thing) error) (source.ListResult, error){
		listOf("1"),
		listOf("3", newThing("foo", "2"), newThing("bar", "3")),
		func(int, source.ListOptions, func(thing) error) (source.ListResult, error) {
			return source.ListResult{}, listErr
		},
		listOf("5", newThing("bar", "3"), newThing("qux", "5")),
		listOf("6", newThing("bar", "3"), newThing("qux", "5"), newThing("baz", "6")),
	}
	src := &fake{watch: script(
		scriptedWatch{events: []source.Event[thing]{ev(source.Added, "foo", "2"), ev(source.Added, "bar", "3")}},
		scriptedWatch{events: []source.Event[thing]{ev(source.Deleted, "foo", "4"), ev(source.Added, "qux", "5")}},
		scriptedWatch{refuse: watchErr},
		scriptedWatch{events: []source.Event[thing]{ev(source.Added, "baz", "6")}},
		scriptedWatch{},
	)}
	src.list = func(n int, opts source.ListOptions, item func(thing) error) (source.ListResult, error) {
		return answers[n-1](n, opts, item)
	}
	config := listsOnly
	bubble(t, src, config, func(g *rig) {
		g.wantContent("bar@3 foo@2")
		g.rerun()
		g.wantContent("bar@3 qux@5")
		g.rerun() // its first list fails
		g.wantContent("bar@3 qux@5")
		if s := g.Status(); s.LastError != listErr || s.State != StateWaiting {
			t.Errorf("Status() = %+v", s)
		}
		g.pass(800 * time.Millisecond) // its first watch fails
		g.pass(1600 * time.Millisecond)
		g.wantContent("bar@3 baz@6 qux@5")
		if len(g.errs) != 2 || g.errs[1] != watchErr {
			t.Errorf("OnError got %v", g.errs)
		}
		g.rerun()
		g.wantContent("bar@3 baz@6 qux@5")
	})
}
