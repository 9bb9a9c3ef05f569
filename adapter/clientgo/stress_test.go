// SPDX-License-Identifier: Apache-2.0

package clientgo_test

import (
	"fmt"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/cache"
)

// TestConcurrentUse adds and removes handlers and indexers, and reads, while objects change and
// while the informer stops. In the end, each added handler is shut down.
func TestConcurrentUse(t *testing.T) {
	onEach(t, func(w *world) {
		for n := range 20 {
			w.create(fmt.Sprint("pod-", n))
		}
		stop := w.run()
		var all sync.WaitGroup
		handles := make(chan cache.ResourceEventHandlerRegistration, 1000)
		for worker := range 4 {
			all.Go(func() {
				for n := range 50 {
					name := fmt.Sprintf("index-%d-%d", worker, n)
					err := w.informer.AddIndexers(cache.Indexers{name: func(obj any) ([]string, error) {
						return []string{obj.(*corev1.Pod).Spec.NodeName}, nil
					}})
					if found, wrong := w.informer.GetIndexer().ByIndex(name, ""); err == nil && (wrong != nil || len(found) == 0) {
						w.Errorf("%s: found %v, %v", name, found, wrong)
					}
					handle, err := w.informer.AddEventHandler(&journal{})
					if err != nil {
						return // the informer has stopped
					}
					handles <- handle
					if n%2 == 0 {
						w.ok(w.informer.RemoveEventHandler(handle))
					}
					time.Sleep(time.Millisecond)
				}
			})
		}
		all.Go(func() {
			for n := range 40 {
				w.create("new-" + strconv.Itoa(n))
				time.Sleep(time.Millisecond)
			}
		})
		time.Sleep(30 * time.Millisecond)
		stop()
		all.Wait()
		close(handles)
		synctest.Wait()
		for handle := range handles {
			if !isShutDown(w.T, handle) {
				w.Error("a handler was not shut down")
			}
		}
	})
}

// BenchmarkReads reads 20,000 Pods in 100 namespaces, as listers do.
func BenchmarkReads(b *testing.B) {
	for _, e := range engines[:2] {
		i := e.make(nil, nil)(&cache.ListWatch{}, &corev1.Pod{}, 0, cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc})
		all := make([]any, 20000)
		for n := range all {
			p := pod(fmt.Sprint("pod-", n))
			p.Namespace = fmt.Sprint("ns-", n%100)
			all[n] = p
		}
		indexer := i.GetIndexer()
		if err := indexer.Replace(all, "1"); err != nil {
			b.Fatal(err)
		}
		for name, read := range map[string]func() bool{
			"GetByKey": func() bool { _, ok, _ := indexer.GetByKey("ns-7/pod-10007"); return ok },
			"ByIndex":  func() bool { found, _ := indexer.ByIndex(cache.NamespaceIndex, "ns-7"); return len(found) == 200 },
			"List":     func() bool { return len(indexer.List()) == 20000 },
		} {
			b.Run(name+"/"+e.name, func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					if !read() {
						b.Fatal("not found")
					}
				}
			})
		}
	}
}
