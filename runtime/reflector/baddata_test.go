// SPDX-License-Identifier: Apache-2.0

package reflector

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/informer-gen/informer-gen/runtime/object"
	"github.com/informer-gen/informer-gen/runtime/source"
)

// TestFaultW01OneBadObject: until it is repaired, one object is bad in every list and watch. The
// sink keeps its objects, Status names the bad one, the requests are paced, and the reflector
// recovers after the repair.
func TestFaultW01OneBadObject(t *testing.T) {
	key := object.Key{Namespace: "shop", Name: "bad"}
	for name, bad := range map[string]error{
		"without a name":   &source.DecodeError{Verb: "list", Item: 2, Key: key, Err: source.ErrMalformed},
		"not decodable":    &source.DecodeError{Verb: "watch", Item: 2, Key: key, Err: source.ErrWrongKind},
		"not transformed":  &source.TransformError{Key: key, Err: errors.New("no such unit")},
		"from a transform": &source.TransformError{Key: key, Err: errGone}, // not Expired
	} {
		for _, start := range []string{"bad from the start", "bad later"} {
			for _, noWatchList := range []bool{false, true} {
				t.Run(name+", "+start+map[bool]string{true: ", lists"}[noWatchList], func(t *testing.T) {
					var broken, repaired atomic.Bool
					broken.Store(start == "bad from the start")
					src := &fake{}
					src.list = func(_ int, opts source.ListOptions, item func(thing) error) (source.ListResult, error) {
						if err := item(newThing("good", "3")); err != nil {
							return source.ListResult{}, err
						}
						if !broken.Load() {
							return source.ListResult{ResourceVersion: "5"}, nil
						}
						if !repaired.Load() {
							return source.ListResult{}, bad
						}
						return source.ListResult{ResourceVersion: "7"}, item(newThing("bad", "7"))
					}
					src.watch = func(ctx context.Context, _ int, opts source.WatchOptions, opened func(), event func(source.Event[thing]) error) error {
						opened()
						if opts.SendInitialEvents {
							if err := event(ev(source.Added, "good", "3")); err != nil {
								return err
							}
							switch {
							case !broken.Load():
								if err := event(bookmark("5", true)); err != nil {
									return err
								}
							case !repaired.Load():
								return bad
							default:
								if err := send(event, ev(source.Added, "bad", "7"), bookmark("7", true)); err != nil {
									return err
								}
							}
						}
						if opts.ResourceVersion != "7" && !repaired.Load() {
							sleep(ctx, time.Second)
							if ctx.Err() == nil {
								broken.Store(true)
								return bad
							}
						}
						return stayOpen(ctx, opened)
					}
					config := Config[thing]{Tuning: Tuning{DisableWatchList: noWatchList, SilenceTimeout: time.Hour, Backoff: Backoff{Jitter: -1}}}
					bubble(t, src, config, func(g *rig) {
						g.pass(30 * time.Minute)
						later := start == "bad later"
						s := g.Status()
						if s.State != StateWaiting || !s.Reason.Lasting() || s.Synced != later || !errors.Is(s.LastError, bad) ||
							!strings.Contains(s.String(), key.String()) || s.BadData != int64(s.Attempts) || s.BadData < 60 || s.BadData > 75 {
							t.Errorf("Status() = %+v", s)
						}
						if later {
							g.wantContent("good@3")
						} else {
							g.wantContent("")
						}
						if n := len(g.src.requests()); n < 60 || n > 75 {
							t.Errorf("%d requests in half an hour, want 60 to 75; the first are %q", n, g.src.requests()[:10])
						}
						gaps := g.src.gaps(g.start)
						if last := gaps[len(gaps)-1]; last != 30*time.Second {
							t.Errorf("the last wait is %v, want 30s", last)
						}
						repaired.Store(true)
						g.pass(30 * time.Second)
						if s := g.Status(); s.State != StateWatching || !s.Synced || s.ResourceVersion != "7" {
							t.Errorf("Status() = %v", s)
						}
						g.wantContent("bad@7 good@3")
					})
				})
			}
		}
	}
}

// TestEventOfUnknownType: an event of an unknown type, from a Source of another module, is bad data
// and not a bookmark. The version stays.
func TestEventOfUnknownType(t *testing.T) {
	for _, typ := range []source.EventType{0, source.Bookmark + 1} {
		src := &fake{list: listOf("5")}
		src.watch = func(ctx context.Context, n int, opts source.WatchOptions, opened func(), event func(source.Event[thing]) error) error {
			if n > 1 {
				return quiet(ctx, n, opts, opened, event)
			}
			opened()
			return event(ev(typ, "blue", "9"))
		}
		bubble(t, src, Config[thing]{Tuning: Tuning{DisableWatchList: true}}, func(g *rig) {
			s := g.Status()
			if !errors.Is(s.LastError, source.ErrMalformed) || s.BadData != 1 || s.ResourceVersion != "5" {
				t.Errorf("Status() = %+v", s)
			}
		})
	}
}
