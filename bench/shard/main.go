// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/go-logr/logr"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/klog/v2"

	"github.com/informer-gen/informer-gen/testkit/sourcetest"
)

const (
	namespaces = 16
	objects    = 1000 // in each namespace
	buckets    = 64
	rings      = 9 // whose shares are measured
	lease      = 15 * time.Second
	retry      = 2 * time.Second
)

func main() {
	klog.SetLogger(logr.Discard())
	short, err := measure()
	switch {
	case err != nil:
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	case short:
		os.Exit(1)
	}
}

// row prints a value beside its mark, and reports whether it misses it.
func row[N float64 | time.Duration](name string, value, mark N) (short bool) {
	text := ""
	if short = value > mark; short {
		text = "short"
	}
	fmt.Printf("%-66s %14v   ≤ %-8v %s\n", name, value, mark, text)
	return short
}

func measure() (short bool, err error) {
	w := newWorld(0)
	defer w.end()
	add := func(s bool) { short = short || s }
	shares, err := sharesOfRings()
	if err != nil {
		return false, err
	}
	add(row(fmt.Sprintf("largest share to mean, 100 namespaces, 4 members, p50 of %d rings", rings), shares[rings/2], 1.5))
	fmt.Printf("%-66s %14v\n", "  the largest of them", shares[rings-1])

	// Members join one after the other.
	for n := range 5 {
		before := w.grants()
		if err := w.join(); err != nil {
			return false, err
		}
		if err := w.settle(); err != nil {
			return false, err
		}
		if n > 0 {
			most := (buckets + n) / (n + 1)
			add(row(fmt.Sprintf("moves of %d buckets when member %d joins", buckets, n+1), float64(w.grants()-before), float64(most)))
		}
	}
	gaps := w.gaps()
	if len(gaps) < namespaces/2 {
		return false, fmt.Errorf("%d moves of namespaces, too few", len(gaps))
	}
	add(row(fmt.Sprintf("planned move, nobody works, p50 of %d", len(gaps)), gaps[len(gaps)/2].Round(10*time.Microsecond), 50*time.Millisecond))
	add(row("planned move, nobody works, p99", gaps[len(gaps)*99/100].Round(10*time.Microsecond), 300*time.Millisecond))

	for _, c := range []struct {
		name         string
		coordinators bool
		mark         time.Duration
	}{
		{"a member crashes, until the last first reconcile elsewhere", false, 17 * time.Second},
		{"the coordinator crashes", true, lease + retry*22/10 + 2*time.Second},
	} {
		took, err := w.crash(c.coordinators)
		if err != nil {
			return false, err
		}
		add(row(c.name, took.Round(time.Millisecond), c.mark))
	}

	for len(w.live()) < 10 {
		if err := w.join(); err != nil {
			return false, err
		}
	}
	if err := w.settle(); err != nil {
		return false, err
	}
	const window = 20 * time.Second
	before := w.leaseWrites()
	time.Sleep(window)
	add(row("writes of Leases in a second, 10 members", float64(w.leaseWrites()-before)/window.Seconds(), 7))
	took, err := crashWithSpares()
	if err != nil {
		return false, err
	}
	add(row("a member crashes, with spares", took.Round(time.Millisecond), 16*time.Second))
	for spares, mark := range []float64{0.30, 0.55} {
		heap, err := heapPerMember(spares)
		if err != nil {
			return false, err
		}
		add(row(fmt.Sprintf("heap per member, 100,000 objects, 4 members, %d spares, to one", spares), math.Round(heap*1000)/1000, mark))
	}
	return short, nil
}

// crashWithSpares is crash, in a ring of four members with spares.
func crashWithSpares() (time.Duration, error) {
	w := newWorld(1)
	defer w.end()
	for range 4 {
		if err := w.join(); err != nil {
			return 0, err
		}
	}
	if err := w.settle(); err != nil {
		return 0, err
	}
	return w.crash(false)
}

// sharesOfRings returns the largest share of each ring, sorted. The names of members decide which
// of them gets which buckets, so rings differ.
func sharesOfRings() ([]float64, error) {
	var ended sync.WaitGroup
	shares, errs := make([]float64, rings), make([]error, rings)
	for n := range rings {
		ended.Go(func() { shares[n], errs[n] = share() })
	}
	ended.Wait()
	slices.Sort(shares)
	return shares, errors.Join(errs...)
}

// share returns the largest share of 100 namespaces of 4 members, in relation to the mean. A member
// has the buckets that a settled ring gives it.
func share() (float64, error) {
	w := &world{server: newServer(0, 0, ""), last: map[string]mark{}}
	defer w.end()
	for range 4 {
		if err := w.join(); err != nil {
			return 0, err
		}
	}
	if err := w.settle(); err != nil {
		return 0, err
	}
	most := 0
	for _, m := range w.live() {
		owned := 0
		for n := range 100 {
			if m.ring.Owns(keyIn(fmt.Sprintf("ns-%d", n))) {
				owned++
			}
		}
		most = max(most, owned)
	}
	return float64(most) / (100 / 4), nil
}

// newServer returns a server with namespaces of ConfigMaps.
func newServer(namespaces, objects int, data string) *sourcetest.Server {
	s := sourcetest.New()
	names := sourcetest.Serve[*corev1.Namespace](s, corev1.SchemeGroupVersion.WithResource("namespaces"), "Namespace")
	sourcetest.Serve[*coordinationv1.Lease](s, coordinationv1.SchemeGroupVersion.WithResource("leases"), "Lease")
	maps := sourcetest.Serve[*corev1.ConfigMap](s, corev1.SchemeGroupVersion.WithResource("configmaps"), "ConfigMap")
	for n := range namespaces {
		name := fmt.Sprintf("ns-%d", n)
		names.Create(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}})
		for o := range objects {
			m := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: name, Name: fmt.Sprintf("o-%d", o)}}
			if data != "" {
				m.Data = map[string]string{"text": fmt.Sprintf(data, n, o)}
			}
			maps.Create(m)
		}
	}
	return s
}

// grants returns the number of grants so far, of all buckets.
func (w *world) grants() (sum int) {
	for _, m := range w.live() {
		n := 0
		for _, b := range m.ring.Status().Buckets {
			n += int(b.Epoch)
		}
		sum = max(sum, n)
	}
	return sum
}

func (w *world) leaseWrites() (n int) {
	for _, r := range w.server.Requests() {
		if r.Method != http.MethodGet && strings.Contains(r.Path, "/leases") {
			n++
		}
	}
	return n
}

// settle waits until the members have their shares, and nothing moves.
func (w *world) settle() error {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	for ctx.Err() == nil {
		owned, fits := 0, true
		live := w.live()
		for _, m := range live {
			n := 0
			for _, b := range m.ring.Status().Buckets {
				if b.State == "held" {
					n++
				}
				fits = fits && b.Next == "" && !b.Revoking
			}
			owned += n
			fits = fits && n >= buckets/len(live)
		}
		if fits && owned == buckets {
			time.Sleep(100 * time.Millisecond)
			return nil
		}
		time.Sleep(20 * time.Millisecond)
	}
	return errors.New("the ring has not settled")
}

// crash lets nothing leave a member any more, and returns how long it took until others worked in
// all of its namespaces.
func (w *world) crash(coordinator bool) (took time.Duration, err error) {
	live := w.live()
	i := slices.IndexFunc(live, func(m *member) bool {
		s := m.ring.Status()
		return (s.Coordinator == s.Identity) == coordinator && w.worksIn(m) > 0
	})
	if i < 0 {
		return 0, errors.New("no such member has a namespace")
	}
	m := live[i]
	// A renewal has just been sent, which is the worst moment.
	renewed := m.renewals.Load()
	for m.renewals.Load() == renewed {
		time.Sleep(time.Millisecond)
	}
	m.dead.Store(true)
	at := time.Now()
	for end := at.Add(2 * lease); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		if w.worksIn(m) == 0 {
			return w.lastTakeover(at), w.settle()
		}
	}
	return 0, errors.New("nobody took over")
}
