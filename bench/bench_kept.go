// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"io"
	"net/http"
	"runtime"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/informer-gen/informer-gen/runtime/informer"
)

// keptBenches measure the memory of a program that keeps the keys of objects after it has dropped
// the informer.
func keptBenches() []bench {
	names := bench{
		name: "kept-keys/pods",
		title: func(z sizes) string {
			return "the NamespacedNames of " + digits(float64(z.Pods)) + " Pods that are gone"
		},
		measures: []measure{
			{name: "heap retained, per key", unit: inBytes, ratio: 1.2},
		},
		world: func(z sizes) world { return world{Pods: z.Pods} },
	}
	names.prepare = func(e env) (func() (outcome, error), func() error, error) {
		w := names.world(e.sizes)
		pods := podRemote(from{server: e.server, byList: true})
		return func() (outcome, error) {
			o, err := keepKeys(e.side, pods, w.Pods)
			if err == nil {
				o.Values = map[string]float64{names.measures[0].name: o.Values[keptHeap] / float64(w.Pods)}
			}
			return o, err
		}, nil, begin(e.server)
	}
	return []bench{names, {
		name: "kept-keys/large",
		title: func(z sizes) string {
			return fmt.Sprintf("the NamespacedNames of %d ConfigMaps of 500 KB that are gone", largeObjects(z))
		},
		measures: []measure{
			{name: keptHeap, unit: inBytes, limit: atMost(1e6)},
		},
		prepare: func(e env) (func() (outcome, error), func() error, error) {
			n := largeObjects(e.sizes)
			maps := remote[*corev1.ConfigMap, *corev1.ConfigMapList]{
				from:  from{server: "http://bench", byList: true, around: func(http.RoundTripper) http.RoundTripper { return largeMaps(n) }},
				kind:  kind{name: "ConfigMap", resource: corev1.SchemeGroupVersion.WithResource("configmaps"), builtIn: true},
				empty: func() *corev1.ConfigMap { return &corev1.ConfigMap{} }, list: func() *corev1.ConfigMapList { return &corev1.ConfigMapList{} },
			}
			return func() (outcome, error) { return keepKeys(e.side, maps, n) }, nil, nil
		},
	}}
}

const keptHeap = "heap retained"

func largeObjects(z sizes) int { return max(z.Pods/200, 2) }

// keepKeys syncs an informer whose handler keeps keys, and drops the informer: twice, because some
// memory is taken only once.
func keepKeys[T thing](s side, c collectionOf[T], n int) (o outcome, err error) {
	o.Values = map[string]float64{}
	for range 2 {
		base := liveHeap()
		keys := make([]types.NamespacedName, 0, n)
		if o.Seen, err = syncKeys(s, c, n, &keys); err != nil {
			return outcome{}, err
		}
		o.Values[keptHeap] = max(liveHeap()-base, 0)
		runtime.KeepAlive(keys)
	}
	return o, nil
}

func syncKeys[T thing](s side, c collectionOf[T], n int, keys *[]types.NamespacedName) (saw seen, err error) {
	r, err := newRigOf(s, c, setup{options: []informer.Option{informer.WithWatchList(false)}})
	if err != nil {
		return seen{}, err
	}
	all := make(chan struct{})
	err = r.handle(handlerOf[T]{add: func(obj T) {
		*keys = append(*keys, types.NamespacedName{Namespace: obj.GetNamespace(), Name: obj.GetName()})
		if saw.Events++; saw.Events == n {
			close(all)
		}
	}})
	if err != nil {
		return seen{}, err
	}
	stop, err := r.start()
	if err != nil {
		return seen{}, err
	}
	err = wait(all, "the handler to be told of all objects")
	stop()
	for obj := range r.objects() {
		saw.Objects++
		saw.Digest += digest(obj.GetNamespace(), obj.GetName())
	}
	return saw, err
}

// largeMaps is a server in memory that has so many large ConfigMaps, of which nothing repeats.
type largeMaps int

func (n largeMaps) RoundTrip(r *http.Request) (*http.Response, error) {
	body, end := io.Pipe()
	resp := &http.Response{StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"application/json"}}, Body: body, Request: r}
	go func() {
		if r.URL.Query().Get("watch") != "" {
			<-r.Context().Done()
			end.CloseWithError(r.Context().Err())
			return
		}
		_, err := io.WriteString(end, `{"kind":"ConfigMapList","apiVersion":"v1","metadata":{"resourceVersion":"1000"},"items":[`)
		for i := 0; i < int(n) && err == nil; i++ {
			comma := ""
			if i > 0 {
				comma = ","
			}
			_, err = fmt.Fprintf(end, `%s{"metadata":{"name":"config-%d","namespace":"team-%d","uid":"uid-%d","resourceVersion":"%d"},"data":{"text":"%s"}}`,
				comma, i, i, i, i+1, strings.Repeat(fmt.Sprintf(`%019d\n`, i), 500_000/20))
		}
		if err == nil {
			_, err = io.WriteString(end, "]}")
		}
		end.CloseWithError(err)
	}()
	return resp, nil
}
