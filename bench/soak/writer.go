// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const (
	writers    = 8
	namespaces = 4
	perWriter  = 20 // objects
)

// load writes at a rate. A write that fails is made again, so that outages delay writes and lose
// none.
type load struct {
	cluster *cluster
	rate    float64 // writes a second
	written atomic.Int64
	retried atomic.Int64
	due     int64         // writes; written by run
	late    time.Duration // written by run at its end
}

// run makes the writes that are due within the duration; if it is behind then, it goes on until it
// has made them or ctx is done.
func (l *load) run(ctx context.Context, duration time.Duration, seed uint64) {
	start := time.Now()
	end := start.Add(duration)
	l.due = int64(l.rate * duration.Seconds())
	defer func() { l.late = time.Since(end) }()
	var turn atomic.Int64
	var wg sync.WaitGroup
	for w := range writers {
		wg.Go(func() {
			rng := rand.New(rand.NewPCG(seed, uint64(w)))
			for {
				n := turn.Add(1)
				if n > l.due {
					return
				}
				select {
				case <-time.After(time.Until(start.Add(time.Duration(float64(n) / l.rate * float64(time.Second))))):
				case <-ctx.Done():
				}
				if ctx.Err() != nil {
					return
				}
				l.write(ctx, rng, w*perWriter+rng.IntN(perWriter))
			}
		})
	}
	wg.Wait()
}

// target says where the n-th object is.
func target(n int) (namespace, name string) {
	return fmt.Sprintf("ns-%d", n%namespaces), fmt.Sprintf("probe-%03d", n)
}

func collectionPath(namespace string) string {
	if namespace == "" {
		return "/apis/" + probes.GroupVersion().String() + "/" + probes.Resource
	}
	return "/apis/" + probes.GroupVersion().String() + "/namespaces/" + namespace + "/" + probes.Resource
}

// write makes one change of an object: mostly an update, now and then a deletion, which the next
// write undoes.
func (l *load) write(ctx context.Context, rng *rand.Rand, n int) {
	tier := gold
	if rng.IntN(2) == 0 {
		tier = tin
	}
	kind := rng.IntN(20)
	// Not ctx: a request that is given up may be carried out later, when all stores are expected to
	// have come to rest.
	for l.attempt(context.WithoutCancel(ctx), kind, n, tier) != nil {
		l.retried.Add(1)
		select {
		case <-time.After(20 * time.Millisecond):
		case <-ctx.Done():
			return
		}
	}
	l.written.Add(1)
}

func (l *load) attempt(ctx context.Context, kind, n int, tier string) error {
	namespace, name := target(n)
	path := collectionPath(namespace) + "/" + name
	if kind == 0 {
		_, err := l.cluster.do(ctx, http.MethodDelete, path, "application/json", nil)
		return except(err, http.StatusNotFound)
	}
	patch := map[string]any{"spec": ProbeSpec{Sent: time.Now().UnixNano(), Note: "gently down the stream"}}
	if kind == 1 {
		patch["metadata"] = map[string]any{"labels": map[string]string{tierLabel: tier}}
	}
	err := l.send(ctx, http.MethodPatch, path, "application/merge-patch+json", patch)
	if status, ok := errors.AsType[statusError](err); !ok || status.code != http.StatusNotFound {
		return err
	}
	err = l.send(ctx, http.MethodPost, collectionPath(namespace), "application/json", &Probe{
		TypeMeta:   metav1.TypeMeta{APIVersion: probes.GroupVersion().String(), Kind: "Probe"},
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: namespace, Labels: map[string]string{tierLabel: tier}},
		Spec:       ProbeSpec{Sent: time.Now().UnixNano(), Note: "merrily, merrily"},
	})
	return except(err, http.StatusConflict)
}

func (l *load) send(ctx context.Context, method, path, contentType string, body any) error {
	text, err := json.Marshal(body)
	if err != nil {
		return err
	}
	_, err = l.cluster.do(ctx, method, path, contentType, strings.NewReader(string(text)))
	return err
}

// except returns nil for an answer with a status that is fine.
func except(err error, status int) error {
	if s, ok := errors.AsType[statusError](err); ok && s.code == status {
		return nil
	}
	return err
}
