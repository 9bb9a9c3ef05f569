// SPDX-License-Identifier: Apache-2.0

package relay

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// BenchmarkStrangers measures the waits of a known caller, whose rights are reviewed each time, and
// of newcomers, while strangers ask with random tokens. Each stranger has its own connection, and
// asks again a second after each answer. A review takes 50 ms. Strangers and API server are in the
// same process, at loopback addresses.
func BenchmarkStrangers(b *testing.B) {
	for _, test := range []struct{ strangers, addresses int }{{0, 1}, {4000, 1}, {4000, 200}} {
		b.Run(fmt.Sprintf("strangers=%d/addresses=%d", test.strangers, test.addresses), func(b *testing.B) {
			benchStrangers(b, test.strangers, test.addresses)
		})
	}
}

func benchStrangers(b *testing.B, strangers, addresses int) {
	s := newAPIServer(b, "known list pods in")
	s.reviewDuration = 50 * time.Millisecond
	config := configOf(b, tokens)
	config.Access.AllowedFor = 0
	r := s.start(b, config)
	r.await(b)
	ask := func(c *http.Client, token string) (code int, took time.Duration) {
		began := time.Now()
		req, err := http.NewRequestWithContext(b.Context(), http.MethodGet, r.url+"/api/v1/pods", nil)
		if err != nil {
			b.Fatal(err)
		}
		req.Header.Set("Authorization", "Bearer "+token)
		resp, err := c.Do(req)
		if err != nil {
			return 0, time.Since(began)
		}
		defer resp.Body.Close()
		_, _ = io.Copy(io.Discard, resp.Body)
		return resp.StatusCode, time.Since(began)
	}
	caller := clientAt("127.0.0.1")
	defer caller.CloseIdleConnections()
	if code, _ := ask(caller, "known"); code != http.StatusOK {
		b.Fatal(code)
	}

	ctx, stop := context.WithCancel(b.Context())
	var all sync.WaitGroup
	var refused, limited atomic.Int64
	for n := range strangers {
		all.Go(func() {
			c := clientAt(fmt.Sprintf("127.0.1.%d", 1+n%addresses))
			defer c.CloseIdleConnections()
			for i := 0; ; i++ {
				select {
				case <-time.After(time.Second):
				case <-ctx.Done():
					return
				}
				switch code, _ := ask(c, fmt.Sprint("stranger-", n, "-", i)); code {
				case http.StatusUnauthorized:
					refused.Add(1)
				case http.StatusTooManyRequests:
					limited.Add(1)
				}
			}
		})
	}
	reviews, began := s.reviews.Load(), time.Now()
	var known, newcomers []time.Duration
	rejected := 0
	for i := 0; b.Loop(); i++ {
		code, took := ask(caller, "known")
		if code != http.StatusOK {
			b.Errorf("the known caller got %d, want 200", code)
		}
		known = append(known, took)
		name := fmt.Sprint("newcomer-", i)
		s.setRight(name+" list pods in", true)
		if code, took = ask(caller, name); code == http.StatusOK {
			newcomers = append(newcomers, took)
		} else {
			rejected++
		}
	}
	lasted := time.Since(began).Seconds()
	b.ReportMetric(milliseconds(known, 2), "ms-known-median")
	b.ReportMetric(milliseconds(known, 1), "ms-known-max")
	b.ReportMetric(milliseconds(newcomers, 2), "ms-new-median")
	b.ReportMetric(100*float64(rejected)/float64(len(known)), "%-new-429")
	b.ReportMetric(float64(s.reviews.Load()-reviews)/lasted, "reviews/s")
	b.ReportMetric(float64(refused.Load())/lasted, "401/s")
	b.ReportMetric(float64(limited.Load())/lasted, "429/s")
	b.ReportMetric(0, "ns/op")
	stop()
	all.Wait()
}

// milliseconds returns the maximum of the times, or their median if part is 2.
func milliseconds(times []time.Duration, part int) float64 {
	if len(times) == 0 {
		return 0
	}
	slices.Sort(times)
	return float64(times[len(times)/part-min(1, len(times)/part)]) / float64(time.Millisecond)
}

// clientAt returns a client with this local address.
func clientAt(address string) *http.Client {
	dialer := &net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(address)}}
	return &http.Client{Transport: &http.Transport{DialContext: dialer.DialContext}, Timeout: time.Minute}
}
