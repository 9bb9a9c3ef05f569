// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"runtime"
	"runtime/metrics"
	"strconv"
	"sync"
	"sync/atomic"
	"time"
	"weak"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/informer-gen/informer-gen/devserver/control"
)

const (
	writers   = 4
	perWriter = 40 // objects
	rows      = 18 // of the table
	tierLabel = "tier"
	gold      = "gold"
)

var namespaces = []string{"default", "kube-system"}

type soak struct {
	options
	out      io.Writer
	problems *problemList
	dir      string
	server   *control.Process // replaced by the fault that kills it
	url      string           // stays the same
	client   kubernetes.Interface
	members  []*member

	written, calls, faults atomic.Int64
}

// soakIn runs everything, and records failed checks in problems. It returns the informers when they
// and the server have ended.
func soakIn(ctx context.Context, dir string, o options, out io.Writer, problems *problemList) (ended []weak.Pointer[sharedInformer], err error) {
	s := &soak{options: o, out: out, problems: problems, dir: dir}
	if s.server, err = startServer(ctx, dir, "127.0.0.1:0"); err != nil {
		return nil, err
	}
	defer func() {
		quitting, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		err = errors.Join(err, s.server.Quit(quitting))
	}()
	s.url = s.server.URL()
	transport := &http.Transport{MaxIdleConnsPerHost: writers + 1}
	defer transport.CloseIdleConnections()
	if s.client, err = kubernetes.NewForConfig(&rest.Config{Host: s.url, Transport: transport, QPS: -1, Timeout: patience}); err != nil {
		return nil, err
	}
	defer s.stop()
	for n := range o.informers {
		m, err := newMember(n, s.url, &s.calls, problems)
		if err != nil {
			return nil, err
		}
		s.members = append(s.members, m)
		ended = append(ended, weak.Make(m.informer))
		m.run()
	}
	syncing, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for _, m := range s.members {
		if err := m.informer.WaitForCacheSync(syncing); err != nil {
			return nil, err
		}
	}
	if err := s.soak(ctx); err != nil {
		return nil, err
	}
	if err := context.Cause(ctx); err != nil { // an interrupt
		return nil, err
	}
	s.verify(ctx)
	return ended, nil
}

func (s *soak) soak(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, time.Duration(s.minutes*float64(time.Minute)))
	defer cancel()
	var all sync.WaitGroup
	for w := range writers {
		all.Go(func() { s.write(ctx, w) })
	}
	all.Go(func() { visit(ctx, s.members, s.problems) })
	var failed error
	all.Go(func() {
		if failed = s.disturb(ctx); failed != nil {
			cancel()
		}
	})
	s.table(ctx)
	all.Wait()
	return failed
}

// write changes objects of its own, now and then by a deletion, at its part of the rate. A failure
// counts as an effect of the faults.
func (s *soak) write(ctx context.Context, writer int) {
	tick := time.NewTicker(time.Duration(writers * float64(time.Second) / s.rate))
	defer tick.Stop()
	for n := 0; ; n++ {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
		i := writer*perWriter + rand.IntN(perWriter)
		obj := &corev1.ConfigMap{
			ObjectMeta: metav1.ObjectMeta{Name: "soak-" + strconv.Itoa(i), Labels: map[string]string{tierLabel: []string{gold, "tin"}[rand.IntN(2)]}},
			Data:       map[string]string{"n": strconv.Itoa(n), "note": "gently down the stream"},
		}
		// Not ctx: an abandoned request may be carried out later, when all stores are expected to
		// be at rest.
		maps, making := s.client.CoreV1().ConfigMaps(namespaces[i%len(namespaces)]), context.WithoutCancel(ctx)
		var err error
		if rand.IntN(20) == 0 {
			err = maps.Delete(making, obj.Name, metav1.DeleteOptions{})
		} else if _, err = maps.Update(making, obj, metav1.UpdateOptions{}); apierrors.IsNotFound(err) {
			_, err = maps.Create(making, obj, metav1.CreateOptions{})
		}
		if err == nil {
			s.written.Add(1)
		}
	}
}

func (s *soak) disturb(ctx context.Context) error {
	if s.options.faults == 0 {
		return nil
	}
	tick := time.NewTicker(s.options.faults)
	defer tick.Stop()
	for n := 0; ; n++ {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return nil
		}
		// Not ctx: a fault that has begun is completed; otherwise the server's state is unknown.
		making, cancel := context.WithTimeout(context.WithoutCancel(ctx), patience)
		err := s.fault(making, n%5)
		cancel()
		if err != nil {
			return fmt.Errorf("make fault %d: %w", n%5, err)
		}
		s.faults.Add(1)
	}
}

func (s *soak) fault(ctx context.Context, kind int) (err error) {
	switch kind {
	case 0:
		_, err = s.server.EndWatches(ctx)
	case 1:
		_, err = s.server.Compact(ctx)
	case 2:
		err = s.server.ExpireWatches(ctx)
	case 3:
		m := s.members[rand.IntN(len(s.members))]
		err = m.stop()
		m.run()
	case 4:
		s.server.Kill()
		s.server, err = startServer(ctx, s.dir, hostOf(s.url))
	}
	return err
}

func (s *soak) table(ctx context.Context) {
	fmt.Fprintf(s.out, "%8s %9s %9s %10s %10s %8s %7s\n", "", "writes", "calls", "goroutines", "live heap", "relists", "faults")
	start := time.Now()
	tick := time.NewTicker(max(time.Duration(s.minutes*float64(time.Minute))/rows, time.Second))
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
		heap := []metrics.Sample{{Name: "/gc/heap/live:bytes"}} // after the last collection
		metrics.Read(heap)
		relists := int64(0)
		for _, m := range s.members {
			relists += m.informer.Status().Reflector.Relists
		}
		fmt.Fprintf(s.out, "%7.0fs %9d %9d %10d %7.1f MB %8d %7d\n", time.Since(start).Seconds(), s.written.Load(), s.calls.Load(),
			runtime.NumGoroutine(), float64(heap[0].Value.Uint64())/1e6, relists, s.faults.Load())
	}
}

// verify waits until all stores and handlers agree with the server, and records the others. It
// polls, because no event reports it.
func (s *soak) verify(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for _, m := range s.members {
		for what := m.missing(ctx, s.client); what != ""; what = m.missing(ctx, s.client) {
			select {
			case <-time.After(100 * time.Millisecond):
				continue
			case <-ctx.Done():
				s.problems.add("%s", what)
			}
			break
		}
	}
}

func (s *soak) stop() {
	for _, m := range s.members {
		if err := m.stop(); err != nil {
			s.problems.add("%v", err)
		}
		m.transport.CloseIdleConnections()
	}
	s.members = nil
}
