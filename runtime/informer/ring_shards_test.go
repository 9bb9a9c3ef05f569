// SPDX-License-Identifier: Apache-2.0

package informer_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/informer-gen/informer-gen/internal/informertest"
	"github.com/informer-gen/informer-gen/internal/shard"
	"github.com/informer-gen/informer-gen/runtime/informer"
	"github.com/informer-gen/informer-gen/runtime/informer/factories"
	"github.com/informer-gen/informer-gen/runtime/informer/internal/engine"
	"github.com/informer-gen/informer-gen/runtime/informer/internal/settings"
	"github.com/informer-gen/informer-gen/runtime/internal/partition"
	"github.com/informer-gen/informer-gen/runtime/source"
	"github.com/informer-gen/informer-gen/testkit/sourcetest"
)

// TestRingByShards has buckets that are ranges of the server's hash of UIDs. A server that knows
// shards sends no other objects, and one that doesn't makes no difference.
func TestRingByShards(t *testing.T) {
	for mode, server := range map[string]func(source.Source[*corev1.Pod]) source.Source[*corev1.Pod]{
		"server": func(s source.Source[*corev1.Pod]) source.Source[*corev1.Pod] { return sharding{s} },
		"client": func(s source.Source[*corev1.Pod]) source.Source[*corev1.Pod] { return s },
	} {
		inBubble(t, mode, func(t *testing.T) {
			r, ring := newRealm(""), newRing(partition.ByUID)
			for n := range 40 {
				p := pod("shop", numbered(n), "")
				p.UID = types.UID(fmt.Sprint(n, "-7dec-11d0-a765-00a0c91e6bf6"))
				r.Pods.Create(p)
			}
			pods := newPods(t, server(r.Source(t)), informer.WithRing(ring), informer.WithLogger(discard))
			start(t, pods)
			for _, buckets := range []int{40, 41, 7, 64} {
				ring.hub.SetWanted(partition.SetOf(64, func(b int) bool { return b < buckets && b%8 != 3 || buckets == 64 }))
				pass(time.Second)
				checkRing(t, ring.hub, r, pods)
				if got := pods.Status().Ring.Mode; got != mode && buckets != 64 {
					t.Errorf("mode %s with %d buckets", got, buckets)
				}
			}
			if requests := r.Requests(); requests[0].Query.Has("shardSelector") == (mode == "server") {
				t.Errorf("the first request is %v", requests[0]) // sharding removes the selector
			}
		})
	}
}

// fewNamespaces lowers the limits of the modes: more than one namespace are a single stream, and a
// server is asked for up to three.
var fewNamespaces = settings.New("fewNamespaces", settings.InFor|settings.InNew, func(s *settings.Settings) error {
	s.RingLimits = engine.RingLimits{Streams: 1, Asked: 3}
	return nil
})

// shardServer is an API server that knows shards, made of one that doesn't. It speaks JSON.
type shardServer struct {
	http.RoundTripper
	echo bool // in lists, as for built-in kinds
}

// shardFactory returns a factory of clients of a shardServer.
func (r *realm) shardFactory(t *testing.T, echo bool, opts ...informer.Option) *factories.Factory {
	config := r.Config()
	config.Transport = shardServer{config.Transport, echo}
	client, err := source.NewClient(config)
	noError(t, err)
	return factories.New(client, append(opts, informer.WithFormats(source.JSON))...)
}

func (s shardServer) RoundTrip(req *http.Request) (*http.Response, error) {
	resp, err := s.RoundTripper.RoundTrip(req)
	selector := req.URL.Query().Get("shardSelector")
	if err != nil || resp.StatusCode != http.StatusOK || selector == "" {
		return resp, err
	}
	parsed, err := shard.Parse(selector)
	if err != nil {
		return nil, err
	}
	if req.URL.Query().Has("watch") {
		resp.Body = &shardEvents{ReadCloser: resp.Body, lines: bufio.NewReader(resp.Body), shard: parsed}
		return resp, nil
	}
	defer resp.Body.Close()
	var list struct {
		APIVersion string            `json:"apiVersion"`
		Kind       string            `json:"kind"`
		Metadata   map[string]any    `json:"metadata"`
		Items      []json.RawMessage `json:"items"`
	}
	if err := json.NewDecoder(resp.Body).Decode(&list); err != nil {
		return nil, err
	}
	list.Items = slices.DeleteFunc(list.Items, func(item json.RawMessage) bool { return !isIn(parsed, item) })
	if s.echo {
		list.Metadata["shardInfo"] = map[string]any{"selector": selector}
	}
	body, err := json.Marshal(list)
	resp.Body = io.NopCloser(bytes.NewReader(body))
	return resp, err
}

func isIn(s *shard.Shard, raw []byte) bool {
	var obj struct {
		Metadata struct{ UID, Namespace string }
	}
	return json.Unmarshal(raw, &obj) == nil && s.Has(obj.Metadata.UID, obj.Metadata.Namespace)
}

// shardEvents are the events of a watch for objects of a shard, and bookmarks.
type shardEvents struct {
	io.ReadCloser
	lines *bufio.Reader
	shard *shard.Shard
	rest  []byte // of a line
}

func (e *shardEvents) Read(p []byte) (n int, err error) {
	for len(e.rest) == 0 {
		if e.rest, err = e.lines.ReadBytes('\n'); err != nil {
			return 0, err
		}
		var event struct {
			Type   string
			Object json.RawMessage
		}
		if err := json.Unmarshal(e.rest, &event); err != nil {
			return 0, err
		}
		if event.Type != "BOOKMARK" && event.Type != "ERROR" && !isIn(e.shard, event.Object) {
			e.rest = nil
		}
	}
	n = copy(p, e.rest)
	e.rest = e.rest[n:]
	return n, nil
}

// selectors returns the namespaces asked for by requests for pods since the first n requests, such
// as "list a b"; those of lists with a limit of one object are left out.
func (r *realm) selectors(n int, namespaces ...string) (all []string) {
	for _, request := range r.Requests()[n:] {
		if request.Resource != podResource || request.Query.Get("limit") == "1" {
			continue
		}
		text := request.Verb.String()
		if selector := request.Query.Get("shardSelector"); selector != "" {
			s, err := shard.Parse(selector)
			if err != nil {
				panic(err)
			}
			for _, namespace := range namespaces {
				if s.Has("", namespace) {
					text += " " + namespace
				}
			}
		}
		all = append(all, text)
	}
	return all
}

// beside returns names of n namespaces in the bucket of another one.
func (r testRing) beside(namespace string, n int) (names []string) {
	for suffix := 0; len(names) < n; suffix++ {
		if name := fmt.Sprint(namespace, "-", suffix); r.hub.BucketOfKey(name, "") == r.hub.BucketOfKey(namespace, "") {
			names = append(names, name)
		}
	}
	return names
}

// TestRingAsksForNamespaces has a server that knows shards. It is asked for the namespaces in
// wanted buckets, or for everything if there are many. Namespaces and buckets come and go.
func TestRingAsksForNamespaces(t *testing.T) {
	for _, echo := range []bool{true, false} {
		inBubble(t, fmt.Sprint("echo ", echo), func(t *testing.T) {
			r, ring := newRealm("a b c", pod("a", "1", ""), pod("b", "2", ""), pod("c", "3", "")), newRing(partition.ByNamespace)
			f := r.shardFactory(t, echo, informer.WithRing(ring), informer.WithLogger(discard))
			pods := podsOf(f, fewNamespaces)
			var j journal[*corev1.Pod]
			informertest.Add(t, pods, &j)
			others, seen := ring.beside("a", 3), 0
			late := others[0]
			asked := func(want ...string) {
				t.Helper()
				pass(time.Second)
				ring.loaded(t, true)
				same(t, "requests", r.selectors(seen, "a", "b", "c", late), want)
				seen = len(r.Requests())
			}
			mode := func(want string) {
				t.Helper()
				same(t, "mode", pods.Status().Ring.Mode, want)
			}
			ring.want("a", "b")
			run(t, f)
			asked("list a b", "watch a b")
			mode("server")
			j.SawAll(t, "+1@2 initial", "+2@3 initial")

			r.namespaces.Create(namespace(late))
			r.Pods.Create(pod(late, "4", ""))
			ring.loaded(t, true) // as before; the new one comes by a list
			asked("list a b "+late, "watch a b "+late)
			j.Saw(t, "+4@9")

			ring.want("a", "b", "c") // four namespaces
			asked("list", "watch")
			mode("client")
			j.Saw(t, "+3@4")
			ring.want("a", "c")
			asked("list a c "+late, "watch a c "+late)
			mode("server")
			j.Saw(t, "-2@3 unknown")

			ring.want("a")
			synctest.Wait()
			r.Pods.Update(pod("c", "3", "node"))
			asked()
			j.Saw(t, "-3@4 unknown")
			r.Pods.Delete(late, "4")
			r.namespaces.Delete("", late)
			asked()
			j.Saw(t, "-4@11")
			r.EndWatches()
			asked("watch a " + late)
			r.namespaces.Create(namespace(late))
			r.Pods.Create(pod(late, "5", ""))
			asked()
			j.Saw(t, "+5@14")
			mode("server")

			for n, name := range others[1:] {
				r.namespaces.Create(namespace(name))
				r.Pods.Create(pod(name, fmt.Sprint(6+n), ""))
			}
			asked("list", "watch")
			mode("client")
			j.SawAll(t, "+6@16", "+7@18")
			shutdown(t, f)
		})
	}
}

// TestRingExpectsMoreNamespaces: a process that joins wants few buckets at first.
func TestRingExpectsMoreNamespaces(t *testing.T) {
	for share, want := range map[int]string{0: "namespaces", 16: "namespaces", 32: "server"} {
		inBubble(t, fmt.Sprint("share ", share), func(t *testing.T) {
			r, ring := newRealm("a b c d"), newRing(partition.ByNamespace)
			f := r.shardFactory(t, true, informer.WithRing(ring), informer.WithLogger(discard))
			pods := podsOf(f, fewNamespaces)
			ring.hub.SetShare(share) // of 64 buckets
			ring.want("a")
			run(t, f)
			same(t, "mode", pods.Status().Ring.Mode, want)
			shutdown(t, f)
		})
	}
}

// TestRingOfAServerWithoutShards: a server that ignores shard selectors, or refuses them, is asked
// once.
func TestRingOfAServerWithoutShards(t *testing.T) {
	for _, refuses := range []bool{true, false} {
		inBubble(t, fmt.Sprint("refuses ", refuses), func(t *testing.T) {
			r, ring := newRealm("a b", pod("a", "1", ""), pod("c", "2", "")), newRing(partition.ByNamespace)
			if refuses {
				r.Inject(sourcetest.Fault{Times: sourcetest.Always, Match: func(r sourcetest.Request) bool { return r.Query.Has("shardSelector") }, Do: sourcetest.Refuse(431)})
			}
			f := r.Factory(t, informer.WithRing(ring), informer.WithLogger(discard), listing)
			pods := podsOf(f, fewNamespaces)
			ring.want("a", "b")
			run(t, f)
			pass(time.Minute)
			lates := ring.beside("a", 2)
			for _, late := range lates {
				r.namespaces.Create(namespace(late))
				r.Pods.Create(pod(late, "3", ""))
				pass(time.Second)
			}
			want := []string{"list a b", "watch", "list", "watch"}
			if refuses {
				want = []string{"list a b", "list", "watch"}
			}
			same(t, "requests", r.selectors(0, "a", "b", lates[0], lates[1]), want)
			same(t, "mode", pods.Status().Ring.Mode, "client")
			same(t, "objects", len(informertest.Names(pods)), 3)
			shutdown(t, f)
		})
	}
}

// TestRingKeepsUnknownNamespaces: while the namespaces can't be read, an object in one that isn't
// known comes with all objects. It stays when the server is asked for single namespaces.
func TestRingKeepsUnknownNamespaces(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, ring := newRealm("a b c d", pod("a", "1", "")), newRing(partition.ByNamespace)
		f := r.shardFactory(t, true, informer.WithRing(ring), informer.WithLogger(discard))
		pods := podsOf(f, fewNamespaces)
		var j journal[*corev1.Pod]
		informertest.Add(t, pods, &j)
		ring.want("a", "b", "c", "d")
		run(t, f)
		end := r.ofNamespaces(sourcetest.Refuse(503))
		r.EndWatches()
		pass(time.Second)
		late := ring.beside("a", 1)[0]
		r.namespaces.Create(namespace(late))
		r.Pods.Create(pod(late, "2", ""))
		j.SawAll(t, "+1@2 initial", "+2@8")
		seen := len(r.Requests())
		ring.want("a", "b", "c")
		pass(time.Second)
		same(t, "requests", r.selectors(seen, "a", "b", "c", "d", late), []string{"list a b c " + late, "watch a b c " + late})
		j.Saw(t)
		end()
		shutdown(t, f)
	})
}

// TestRingReadsNamespacesThatAreNew: a bucket isn't loaded while one of its namespaces is known but
// not read.
func TestRingReadsNamespacesThatAreNew(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, ring := newRealm("a b", pod("a", "1", "")), newRing(partition.ByNamespace)
		f := r.shardFactory(t, true, informer.WithRing(ring), informer.WithLogger(discard))
		pods := podsOf(f, fewNamespaces)
		ring.want("a", "b")
		lease := acquire(t.Context(), t, pods)
		ring.loaded(t, true)
		noError(t, lease.Release(t.Context()))
		late := ring.beside("a", 1)[0]
		r.namespaces.Create(namespace(late))
		r.Pods.Create(pod(late, "2", ""))
		// The pods of a and b are listed again before the new namespace is known.
		end := r.ofNamespaces(func(a *sourcetest.Answer) { a.Delay = 20 * time.Millisecond })
		lease = acquire(t.Context(), t, pods)
		time.Sleep(30 * time.Millisecond)
		ring.loaded(t, false)
		time.Sleep(20 * time.Millisecond)
		ring.loaded(t, true)
		same(t, "objects", informertest.Names(pods), []string{late + "/2", "a/1"})
		end()
		noError(t, lease.Release(t.Context()))
		shutdown(t, f)
	})
}

// TestRingOfFewObjects: of a server that doesn't echo the selector, nothing is known while it has
// no objects, or only such as it would send in any case.
func TestRingOfFewObjects(t *testing.T) {
	for mode, shards := range map[string]bool{"server": true, "client": false} {
		inBubble(t, mode, func(t *testing.T) {
			r, ring := newRealm("a b c"), newRing(partition.ByNamespace)
			f := r.Factory(t)
			if shards {
				f = r.shardFactory(t, false)
			}
			pods := podsOf(f, informer.WithRing(ring), informer.WithLogger(discard), listing, fewNamespaces)
			ring.want("a", "b")
			run(t, f)
			same(t, "mode without objects", pods.Status().Ring.Mode, "client")
			for _, namespace := range []string{"a", "c"} {
				r.Relist(func() { r.Pods.Create(pod(namespace, "1", "")) })
				pass(time.Minute)
				same(t, "mode with pods up to "+namespace, pods.Status().Ring.Mode, mode)
			}
			shutdown(t, f)
		})
	}
}
