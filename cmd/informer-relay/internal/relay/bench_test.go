// SPDX-License-Identifier: Apache-2.0

//go:build unix

package relay

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// BenchmarkWatchers measures a relay with TLS whose clients watch all Pods, each with its own
// token, on separate connections or on HTTP/2 connections with 100 watches each. It reports the CPU
// time of an event at one client, the longest time until all clients had one, and the memory of an
// idle watch. The API server is in the same process, and makes 20 changes a second.
func BenchmarkWatchers(b *testing.B) {
	for _, watches := range []int{1000, 5000, 10000} {
		for _, perConnection := range []int{1, 100} {
			b.Run(fmt.Sprintf("watches=%d/per-connection=%d", watches, perConnection), func(b *testing.B) { benchWatchers(b, watches, perConnection) })
		}
	}
}

func benchWatchers(b *testing.B, watches, perConnection int) {
	s, a, folder := newAPIServer(b), newAuthority(b), b.TempDir()
	cert, key := a.issue(b, "relay", "")
	write(b, folder, time.Now(), map[string][]byte{"tls.crt": cert, "tls.key": key, "ca.crt": a.pem})
	config := configOf(b, tokens)
	config.Listen.CertFile, config.Listen.KeyFile = filepath.Join(folder, "tls.crt"), filepath.Join(folder, "tls.key")
	config.Access.ReviewWatchesEvery = time.Hour
	for n := range watches {
		s.setRight(fmt.Sprintf("client-%d watch pods in", n), true)
	}
	for n := range 100 {
		s.pods.Create(largePod(n, 0))
	}
	r := s.start(b, config)
	r.await(b)

	before := memoryInUse()
	c := startClients(b, clientOptions{url: r.url, ca: filepath.Join(folder, "ca.crt"), watches: watches, perConnection: perConnection})
	c.await(b, "open")
	idle := (memoryInUse() - before) / float64(watches)

	const pause = time.Second / 20
	var slowest time.Duration
	changes := 0
	began, cpu := time.Now(), cpuTime()
	for b.Loop() {
		time.Sleep(time.Until(began.Add(time.Duration(changes) * pause)))
		changed := time.Now()
		s.pods.Update(largePod(changes%100, changes))
		changes++
		c.await(b, strconv.Itoa(changes*watches))
		slowest = max(slowest, time.Since(changed))
	}
	b.ReportMetric(idle, "B/watch")
	b.ReportMetric(float64(cpuTime()-cpu)/float64(changes*watches), "cpu-ns/event")
	b.ReportMetric(float64(slowest.Milliseconds()), "ms-to-the-last")
	b.ReportMetric(0, "ns/op")
}

// BenchmarkNode measures a relay with 20,000 Pods on 200 nodes, and lists of one node's Pods: the
// CPU time of a list, and the CPU time of filling the relay per object. The latter includes the API
// server, which is in the same process.
func BenchmarkNode(b *testing.B) {
	const pods, nodes = 20_000, 200
	s, size := newAPIServer(b), 0
	for n := range pods {
		p := largePod(n, 0)
		p.Spec.NodeName = fmt.Sprint("node-", n%nodes)
		s.pods.Create(p)
	}
	before, cpu := memoryInUse(), cpuTime()
	r := s.start(b, configOf(b, strings.Replace(tokens, "TokenReview", "None", 1)))
	r.await(b)
	filled := cpuTime() - cpu
	kept := memoryInUse() - before
	cpu = cpuTime()
	for i := 0; b.Loop(); i++ {
		answer := httptest.NewRecorder()
		r.ServeHTTP(answer, httptest.NewRequest(http.MethodGet, fmt.Sprint("http://localhost/api/v1/pods?resourceVersion=0&fieldSelector=spec.nodeName%3Dnode-", i%nodes), nil))
		size = answer.Body.Len()
	}
	b.ReportMetric(float64(cpuTime()-cpu)/float64(b.N)/1000, "cpu-us/list")
	b.ReportMetric(float64(size), "B/list")
	b.ReportMetric(kept/pods, "B/object")
	b.ReportMetric(float64(filled)/pods, "cpu-ns/object")
	b.ReportMetric(0, "ns/op")
}

// largePod returns a Pod of about 1.2 KB.
func largePod(n, revision int) *corev1.Pod {
	p := pod("shop", fmt.Sprint("pod-", n))
	p.Annotations = map[string]string{"revision": fmt.Sprint(revision), "text": strings.Repeat("x", 700)}
	p.Spec.Containers = []corev1.Container{{Name: "main", Image: "registry.example.com/main:v1"}}
	return p
}

func cpuTime() time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		panic(err) // the arguments are valid
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}
