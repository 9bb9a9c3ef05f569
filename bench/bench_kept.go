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

	"github.com/informer-gen/informer-gen/bench/data"
	"github.com/informer-gen/informer-gen/bench/harness"
	"github.com/informer-gen/informer-gen/bench/probe"
	"github.com/informer-gen/informer-gen/bench/report"
	"github.com/informer-gen/informer-gen/bench/rig"
	"github.com/informer-gen/informer-gen/bench/server"
	"github.com/informer-gen/informer-gen/runtime/informer"
	"github.com/informer-gen/informer-gen/runtime/reflector"
)

// keptBenches measure the memory of a program that keeps the keys of objects after it has dropped
// the informer.
func keptBenches() []harness.Bench {
	names := harness.Bench{
		Name: "kept-keys/pods",
		Title: func(z harness.Sizes) string {
			return "the NamespacedNames of " + report.Digits(float64(z.Pods)) + " Pods that are gone"
		},
		Measures: []harness.Measure{
			{Name: "heap retained, per key", Unit: harness.Bytes, Ratio: 1.2},
		},
		World: func(z harness.Sizes) server.World { return server.World{Pods: z.Pods} },
	}
	names.Prepare = func(e harness.Env) (func() (harness.Outcome, error), func() error, error) {
		w := names.World(e.Sizes)
		pods := server.PodRemote(server.From{Server: e.Server, ByList: true})
		return func() (harness.Outcome, error) {
			o, err := keepKeys(e.Side, pods, w.Pods)
			if err == nil {
				o.Values = map[string]float64{names.Measures[0].Name: o.Values[keptHeap] / float64(w.Pods)}
			}
			return o, err
		}, nil, server.Begin(e.Server)
	}
	return []harness.Bench{names, {
		Name: "kept-keys/large",
		Title: func(z harness.Sizes) string {
			return fmt.Sprintf("the NamespacedNames of %d ConfigMaps of 500 KB that are gone", largeObjects(z))
		},
		Measures: []harness.Measure{
			{Name: keptHeap, Unit: harness.Bytes, Limit: harness.AtMost(1e6)},
		},
		Prepare: func(e harness.Env) (func() (harness.Outcome, error), func() error, error) {
			n := largeObjects(e.Sizes)
			maps := server.Remote[*corev1.ConfigMap, *corev1.ConfigMapList]{
				From:  server.From{Server: "http://bench", ByList: true, Around: func(http.RoundTripper) http.RoundTripper { return largeMaps(n) }},
				Kind:  data.Kind{Name: "ConfigMap", Resource: corev1.SchemeGroupVersion.WithResource("configmaps"), BuiltIn: true},
				Empty: func() *corev1.ConfigMap { return &corev1.ConfigMap{} }, List: func() *corev1.ConfigMapList { return &corev1.ConfigMapList{} },
			}
			return func() (harness.Outcome, error) { return keepKeys(e.Side, maps, n) }, nil, nil
		},
	}}
}

const keptHeap = "heap retained"

func largeObjects(z harness.Sizes) int { return max(z.Pods/200, 2) }

// keepKeys syncs an informer whose handler keeps keys, and drops the informer: twice, because some
// memory is taken only once.
func keepKeys[T server.Object](s harness.Side, c server.Collection[T], n int) (o harness.Outcome, err error) {
	o.Values = map[string]float64{}
	for range 2 {
		base := probe.LiveHeap()
		keys := make([]types.NamespacedName, 0, n)
		if o.Seen, err = syncKeys(s, c, n, &keys); err != nil {
			return harness.Outcome{}, err
		}
		o.Values[keptHeap] = max(probe.LiveHeap()-base, 0)
		runtime.KeepAlive(keys)
	}
	return o, nil
}

func syncKeys[T server.Object](s harness.Side, c server.Collection[T], n int, keys *[]types.NamespacedName) (saw harness.Seen, err error) {
	r, err := rig.New(s, c, rig.Setup{Options: []informer.Option{informer.WithTuning(reflector.Tuning{DisableWatchList: true})}})
	if err != nil {
		return harness.Seen{}, err
	}
	all := make(chan struct{})
	err = r.Handle(rig.Handler[T]{Add: func(obj T) {
		*keys = append(*keys, types.NamespacedName{Namespace: obj.GetNamespace(), Name: obj.GetName()})
		if saw.Events++; saw.Events == n {
			close(all)
		}
	}})
	if err != nil {
		return harness.Seen{}, err
	}
	stop, err := r.Start()
	if err != nil {
		return harness.Seen{}, err
	}
	err = rig.Wait(all, "the handler to be told of all objects")
	stop()
	for obj := range r.Objects() {
		saw.Objects++
		saw.Digest += rig.Digest(obj.GetNamespace(), obj.GetName())
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
