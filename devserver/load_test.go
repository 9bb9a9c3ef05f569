// SPDX-License-Identifier: Apache-2.0

package devserver_test

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"

	"github.com/informer-gen/informer-gen/devserver"
)

var (
	loadClients = flag.Int("clients", 0, "clients of TestLoad; 0 means 6 with -short and 50 without")
	loadWrites  = flag.Int("writes", 0, "writes of each client of TestLoad; 0 means 25 with -short and 60 without")
	loadSeed    = flag.Uint64("seed", 0, "seed of TestLoad; 0 means another one each time")
)

// load has many clients of one server, and the objects that they have written.
type load struct {
	t     *testing.T
	s     *devserver.Server
	kinds []*loadKind
}

// loadKind is a collection under load.
type loadKind struct {
	gvr     schema.GroupVersionResource
	kind    string
	content []string // path of a string of any length

	mu      sync.Mutex
	written map[string]loadWrite // by resourceVersion; mu guards it
	deleted map[types.UID]bool   // mu guards it
	doubts  int                  // writes whose end is unknown; mu guards it
	lists   []loadList           // mu guards it
}

// loadWrite is the server's answer to a create, an update or a patch.
type loadWrite struct {
	name, value string
	uid         types.UID
}

// loadList is an answer to a list: versions of objects by name.
type loadList struct {
	how, version string
	objects      map[string]string
}

var cms = schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}

// Writers, watchers that are slow, that break off and go on, that select, and lists in pages: each
// write is in the watch once, in the order of its version. Each list is the state at its version.
func TestLoad(t *testing.T) {
	t.Parallel()
	clients, writes := 50, 60
	if testing.Short() {
		clients, writes = 6, 25
	}
	if *loadClients > 0 {
		clients = *loadClients
	}
	if *loadWrites > 0 {
		writes = *loadWrites
	}
	seed := *loadSeed
	if seed == 0 {
		seed = rand.Uint64()
	}
	t.Logf("-seed %d", seed)

	s := start(t, devserver.Options{CRDs: crds{boatCRD()}, BuiltInKinds: true, CollectGarbage: true})
	l := &load{t: t, s: s, kinds: []*loadKind{
		newLoadKind(boats, "Boat", "spec", "berth"), newLoadKind(cms, "ConfigMap", "data", "pad"),
	}}
	ctx, end := context.WithCancel(t.Context())
	defer end()
	var watchers, readers, writers sync.WaitGroup
	logs := map[*loadKind][]*watchLog{}
	for _, k := range l.kinds {
		empty, err := l.client().Resource(k.gvr).List(ctx, metav1.ListOptions{})
		if err != nil {
			t.Fatal(err)
		}
		begin := empty.GetResourceVersion()
		for _, log := range []*watchLog{
			{how: "all"}, {how: "breaks off", breaks: 5}, {how: "slow", pause: 3 * time.Millisecond, breaks: 200},
			{how: "selects", selector: "colour=red"}, {how: "watch-list", initial: true, breaks: 20},
		} {
			log.k, log.random = k, rand.New(rand.NewPCG(seed, uint64(len(logs[k]))))
			logs[k] = append(logs[k], log)
			c := l.client()
			log.version = begin
			watchers.Go(func() { log.run(ctx, t, c.Resource(k.gvr)) })
		}
		readers.Go(func() { l.read(ctx, k) })
	}
	readers.Go(func() { l.disturb(ctx, rand.New(rand.NewPCG(seed, 1<<40))) })
	for n := range clients {
		writers.Go(func() {
			random := rand.New(rand.NewPCG(seed, 1<<32+uint64(n)))
			for range writes {
				l.write(ctx, l.client(), l.kinds[random.IntN(len(l.kinds))], random)
			}
		})
	}
	writers.Wait()
	last := map[*loadKind]string{}
	for _, k := range l.kinds { // an object that all watchers wait for
		k.change(t.Context(), l.client(), "last", 0, func(c dynamic.ResourceInterface, u *unstructured.Unstructured) (*unstructured.Unstructured, error) {
			u.SetLabels(map[string]string{"colour": "red", "value": "last"})
			return c.Create(t.Context(), u, metav1.CreateOptions{})
		})
		for version, w := range k.written {
			if w.name == "last" {
				last[k] = version
			}
		}
	}
	for _, k := range l.kinds {
		for _, log := range logs[k] {
			log.await(t, last[k])
		}
	}
	end()
	watchers.Wait()
	readers.Wait()
	if t.Failed() {
		return
	}
	for _, k := range l.kinds {
		l.check(k, logs[k])
	}
}

func newLoadKind(gvr schema.GroupVersionResource, kind string, content ...string) *loadKind {
	return &loadKind{gvr: gvr, kind: kind, content: content, written: map[string]loadWrite{}, deleted: map[types.UID]bool{}}
}

// client makes a client with connections of its own.
func (l *load) client() dynamic.Interface {
	config := l.s.Config()
	transport := &http.Transport{}
	l.t.Cleanup(transport.CloseIdleConnections)
	config.Transport = transport
	c, err := dynamic.NewForConfig(config)
	if err != nil {
		l.t.Error(err)
	}
	return c
}

// write does something to an object that other clients write to as well. Some clients go away
// before the answer has come.
func (l *load) write(ctx context.Context, client dynamic.Interface, k *loadKind, random *rand.Rand) {
	if random.IntN(20) == 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, time.Duration(random.IntN(3000))*time.Microsecond)
		defer cancel()
	}
	size := 10
	if random.IntN(200) == 0 {
		size = 1 << 20
	}
	name, value, what := fmt.Sprint("n", random.IntN(12)), fmt.Sprint("v", random.Uint64()), random.IntN(10)
	colour := []string{"red", "blue"}[random.IntN(2)]
	k.change(ctx, client, name, size, func(c dynamic.ResourceInterface, u *unstructured.Unstructured) (*unstructured.Unstructured, error) {
		u.SetLabels(map[string]string{"colour": colour, "value": value})
		switch {
		case what < 4:
			return c.Create(ctx, u, metav1.CreateOptions{})
		case what < 6:
			now, err := c.Get(ctx, name, metav1.GetOptions{})
			if err != nil {
				return nil, nil
			}
			now.SetLabels(u.GetLabels())
			if random.IntN(8) == 0 {
				now.SetFinalizers([]string{"example.com/hold"})
			}
			return c.Update(ctx, now, metav1.UpdateOptions{})
		case what < 8:
			patch := fmt.Sprintf(`{"metadata":{"finalizers":null,"labels":{"colour":%q,"value":%q}}}`, colour, value)
			return c.Patch(ctx, name, types.MergePatchType, []byte(patch), metav1.PatchOptions{})
		}
		now, err := c.Get(ctx, name, metav1.GetOptions{})
		if err != nil {
			return nil, nil
		}
		uid := now.GetUID()
		err = c.Delete(ctx, name, metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &uid}})
		k.mu.Lock()
		defer k.mu.Unlock()
		if err == nil {
			k.deleted[uid] = true
			return nil, nil
		}
		return nil, err
	})
}

// change calls do with an object that may be created, and keeps what has come of it.
func (k *loadKind) change(ctx context.Context, client dynamic.Interface, name string, size int, do func(dynamic.ResourceInterface, *unstructured.Unstructured) (*unstructured.Unstructured, error)) {
	u := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": k.gvr.GroupVersion().String(), "kind": k.kind, "metadata": map[string]any{"name": name},
		k.content[0]: map[string]any{k.content[1]: strings.Repeat("x", size)},
	}}
	got, err := do(client.Resource(k.gvr).Namespace("default"), u)
	k.mu.Lock()
	defer k.mu.Unlock()
	switch {
	case err != nil && apierrors.ReasonForError(err) == metav1.StatusReasonUnknown:
		k.doubts++
	case got != nil && err == nil:
		w := loadWrite{got.GetName(), got.GetLabels()["value"], got.GetUID()}
		if got.GetDeletionTimestamp() != nil && len(got.GetFinalizers()) == 0 {
			return // the last state of what it has ended
		}
		k.written[got.GetResourceVersion()] = w
	}
}

// read lists until ctx ends: whole, in pages, and from the cache.
func (l *load) read(ctx context.Context, k *loadKind) {
	c := l.client().Resource(k.gvr)
	for n := 0; ctx.Err() == nil; n++ {
		how := []metav1.ListOptions{{}, {Limit: 3}, {ResourceVersion: "0"}, {Limit: 1}}[n%4]
		list := loadList{how: fmt.Sprintf("limit %d, version %q", how.Limit, how.ResourceVersion), objects: map[string]string{}}
		for {
			page, err := c.List(ctx, how)
			if err != nil {
				if ctx.Err() == nil && !apierrors.IsResourceExpired(err) {
					l.t.Errorf("list with %s: %v", list.how, err)
				}
				break
			}
			if list.version == "" {
				list.version = page.GetResourceVersion()
			} else if list.version != page.GetResourceVersion() {
				l.t.Errorf("list with %s: a page of %s follows one of %s", list.how, page.GetResourceVersion(), list.version)
			}
			for _, u := range page.Items {
				if list.objects[u.GetName()] != "" {
					l.t.Errorf("list with %s: %s comes twice", list.how, u.GetName())
				}
				list.objects[u.GetName()] = u.GetResourceVersion()
			}
			if how.Continue = page.GetContinue(); how.Continue == "" {
				k.mu.Lock()
				k.lists = append(k.lists, list)
				k.mu.Unlock()
				break
			}
			how.ResourceVersion = ""
		}
		select {
		case <-time.After(5 * time.Millisecond):
		case <-ctx.Done():
		}
	}
}

// disturb compacts, ends watches, and changes, installs and removes CRDs until ctx ends.
func (l *load) disturb(ctx context.Context, random *rand.Rand) {
	other := boatCRD()
	other.Name, other.Spec.Names.Plural, other.Spec.Names.Singular = "ships.harbour.example.com", "ships", "ship"
	other.Spec.Names.Kind, other.Spec.Names.ListKind, other.Spec.Names.ShortNames = "Ship", "ShipList", nil
	crds := l.client().Resource(schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"})
	for n := 0; ctx.Err() == nil; n++ {
		var err error
		switch what := random.IntN(4); {
		case what == 0:
			_, err = l.s.Compact(ctx)
		case what == 1:
			_, err = l.s.EndWatches(ctx)
		case what == 2:
			patch := fmt.Sprintf(`{"metadata":{"annotations":{"n":"%d"}}}`, n)
			_, err = crds.Patch(ctx, "boats.harbour.example.com", types.MergePatchType, []byte(patch), metav1.PatchOptions{})
		default:
			if err = l.s.InstallCRDs(ctx, other); err == nil {
				err = crds.Delete(ctx, other.Name, metav1.DeleteOptions{})
			}
			if err == nil {
				err = l.gone(ctx, crds, other.Name)
			}
		}
		if err != nil && ctx.Err() == nil {
			l.t.Errorf("disturb: %v", err)
		}
		select {
		case <-time.After(20 * time.Millisecond):
		case <-ctx.Done():
		}
	}
}

func (l *load) gone(ctx context.Context, c dynamic.ResourceInterface, name string) error {
	for {
		if _, err := c.Get(ctx, name, metav1.GetOptions{}); apierrors.IsNotFound(err) {
			return nil
		} else if err != nil {
			return err
		}
		select {
		case <-time.After(5 * time.Millisecond):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}
