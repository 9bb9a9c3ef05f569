// SPDX-License-Identifier: Apache-2.0

//go:build unix

package sharding

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/informer-gen/informer-gen/devserver"
	"github.com/informer-gen/informer-gen/devserver/devservertest"
	"github.com/informer-gen/informer-gen/test/internal/poll"
)

var runs = flag.Int("runs", 1, "how often each scenario is played")

const (
	members   = 5
	keyPrefix = "key-"
	// slack is the time by which a busy machine may delay a process. It is less than the margin.
	slack = time.Second
)

// cluster is a server, and the processes of a ring.
type cluster struct {
	t      *testing.T
	url    string
	audit  *audit
	client kubernetes.Interface
	// unfenced makes processes whose fences are broken.
	unfenced bool

	mu       sync.Mutex // mu guards the fields below
	all      []*process
	numbered int
}

// process is a member. When it ends by itself, another one takes its place, as in a Deployment.
type process struct {
	name  string
	cmd   *exec.Cmd
	proxy *proxy
	ended chan struct{}

	stderr bytes.Buffer // read after ended

	mu       sync.Mutex // mu guards the fields below
	expected bool       // its end is the test's doing
}

// play plays a scenario with five processes, and looks for overlaps. Those of one scenario run side
// by side, as many at a time as -parallel says.
func play(t *testing.T, scenario func(*testing.T, *cluster)) {
	t.Helper()
	playWith(t, false, func(t *testing.T, c *cluster) {
		scenario(t, c)
		c.check()
	})
}

func playWith(t *testing.T, unfenced bool, scenario func(*testing.T, *cluster)) {
	t.Helper()
	if testing.Short() {
		t.Skip("kills and stops processes, which takes minutes; .ci/run timed runs it")
	}
	for n := range *runs {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			t.Parallel()
			c := startCluster(t)
			c.unfenced = unfenced
			for range members {
				c.start(0)
			}
			c.settle()
			scenario(t, c)
		})
	}
}

func startCluster(t *testing.T) *cluster {
	t.Helper()
	c := &cluster{t: t, audit: newAudit()}
	server := devservertest.Start(t, devserver.Options{BuiltInKinds: true, WrapHandler: c.audit.wrap})
	c.url = server.Config().Host
	var err error
	if c.client, err = kubernetes.NewForConfig(server.Config()); err != nil {
		t.Fatal(err)
	}
	for n := range keys {
		for _, namespace := range []string{readFrom, writeTo} {
			m := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprint(keyPrefix, n)}}
			if _, err := c.client.CoreV1().ConfigMaps(namespace).Create(t.Context(), m, metav1.CreateOptions{}); err != nil {
				t.Fatal(err)
			}
		}
	}
	return c
}

// start starts a process whose wall clock is wrong by a time.
func (c *cluster) start(wrong time.Duration) *process {
	target, err := url.Parse(c.url)
	if err != nil {
		c.t.Fatal(err)
	}
	executable, err := os.Executable()
	if err != nil {
		c.t.Fatal(err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.numbered++
	p := &process{name: fmt.Sprintf("p%d", c.numbered), proxy: startProxy(c.t, target.Host), ended: make(chan struct{})}
	p.cmd = exec.Command(executable)
	p.cmd.Env = append(os.Environ(), fmt.Sprintf("%s=%s http://%s %d %v", memberEnv, p.name, p.proxy.listener.Addr(), wrong, c.unfenced))
	p.cmd.Stderr = &p.stderr
	if err := p.cmd.Start(); err != nil {
		c.t.Fatal(err)
	}
	go func() {
		defer close(p.ended)
		_ = p.cmd.Wait() // its state says the rest
	}()
	c.all = append(c.all, p)
	c.t.Cleanup(func() {
		_ = p.cmd.Process.Kill()
		<-p.ended
	})
	return p
}

func (p *process) hasEnded() bool {
	select {
	case <-p.ended:
		return true
	default:
		return false
	}
}

// live returns the processes that run. It replaces those that have ended by themselves.
func (c *cluster) live() (live []*process) {
	c.mu.Lock()
	all := append([]*process(nil), c.all...)
	c.mu.Unlock()
	for _, p := range all {
		if !p.hasEnded() {
			live = append(live, p)
			continue
		}
		p.mu.Lock()
		replace := !p.expected
		p.expected = true
		p.mu.Unlock()
		if replace {
			c.t.Logf("%s has ended: %s", p.name, strings.TrimSpace(p.stderr.String()))
			live = append(live, c.start(0))
		}
	}
	return live
}

// signal sends a signal. SIGKILL and SIGTERM end the process for good.
func (c *cluster) signal(p *process, s syscall.Signal) {
	p.mu.Lock()
	p.expected = p.expected || s == syscall.SIGKILL || s == syscall.SIGTERM
	p.mu.Unlock()
	if err := p.cmd.Process.Signal(s); err != nil {
		c.t.Errorf("%v for %s: %v", s, p.name, err)
	}
	if s == syscall.SIGKILL || s == syscall.SIGTERM {
		<-p.ended
	}
}

// settle waits until each bucket is worked on by a process that runs, other than some, and each of
// these has its part.
func (c *cluster) settle(others ...*process) {
	c.t.Helper()
	poll.Until(c.t, func() error {
		since := time.Now().Add(-2 * every)
		at := map[string]int{}
		for _, m := range c.audit.owners() {
			if m.at.After(since) {
				at[m.process]++
			}
		}
		for _, p := range others {
			delete(at, p.name)
		}
		owned, working := 0, 0
		for _, p := range c.live() {
			if n := at[p.name]; n > 0 {
				owned += n
				working++
			}
		}
		want := len(c.live()) - len(others)
		if owned != buckets || working != want {
			return fmt.Errorf("%d processes of %d work on %d buckets of %d: %v", working, want, owned, buckets, at)
		}
		return nil
	})
}

// coordinator returns the process that coordinates.
func (c *cluster) coordinator() (p *process) {
	c.t.Helper()
	poll.Until(c.t, func() error {
		l, err := c.client.CoordinationV1().Leases(readFrom).Get(c.t.Context(), ringName, metav1.GetOptions{})
		if err != nil {
			return err
		}
		for _, p = range c.live() {
			if l.Spec.HolderIdentity != nil && strings.HasPrefix(*l.Spec.HolderIdentity, p.name+"-") {
				return nil
			}
		}
		return errors.New("no process coordinates")
	})
	return p
}

// other returns a process that doesn't coordinate.
func (c *cluster) other() *process {
	c.t.Helper()
	coordinator := c.coordinator()
	for _, p := range c.live() {
		if p != coordinator {
			return p
		}
	}
	c.t.Fatal("there is one process")
	return nil
}

// leases returns the Leases of the members.
func (c *cluster) leases() []coordinationv1.Lease {
	c.t.Helper()
	all, err := c.client.CoordinationV1().Leases(readFrom).List(c.t.Context(), metav1.ListOptions{LabelSelector: "informer-gen.dev/ring=" + ringName})
	if err != nil {
		c.t.Fatal(err)
	}
	return all.Items
}

// joined waits until a process has a Lease.
func (c *cluster) joined(p *process) {
	c.t.Helper()
	poll.Until(c.t, func() error {
		for _, l := range c.leases() {
			if strings.HasPrefix(l.Name, ringName+"-m-"+p.name+"-") {
				return nil
			}
		}
		return fmt.Errorf("%s has no Lease", p.name)
	})
}

// wrongLeases returns the number of Leases whose renewTime is about an hour ago or ahead.
func (c *cluster) wrongLeases() (n int) {
	c.t.Helper()
	for _, l := range c.leases() {
		if l.Spec.RenewTime != nil && time.Since(l.Spec.RenewTime.Time).Abs() > 50*time.Minute {
			n++
		}
	}
	return n
}

// grants returns the number of grants so far, of all buckets.
func (c *cluster) grants() (sum int) {
	c.t.Helper()
	l, err := c.client.CoordinationV1().Leases(readFrom).Get(c.t.Context(), ringName+"-table", metav1.GetOptions{})
	if err != nil {
		c.t.Fatal(err)
	}
	var table struct{ Buckets []string }
	if err := json.Unmarshal([]byte(l.Annotations["informer-gen.dev/table"]), &table); err != nil {
		c.t.Fatal(err)
	}
	for _, line := range table.Buckets {
		var first, last, epoch int
		if _, err := fmt.Sscanf(line, "%d-%d %d", &first, &last, &epoch); err != nil {
			c.t.Fatal(err)
		}
		sum += (last - first + 1) * epoch
	}
	return sum
}

// check fails the test if there were overlaps.
func (c *cluster) check() {
	c.audit.mu.Lock()
	defer c.audit.mu.Unlock()
	c.t.Logf("%d writes, %d grants", c.audit.writes, len(c.audit.marks))
	for _, text := range c.audit.violations {
		c.t.Error(text)
	}
	if c.audit.unknown > 0 {
		c.t.Errorf("%d writes had no claim", c.audit.unknown)
	}
	if c.audit.writes < keys {
		c.t.Errorf("%d writes, too few to show anything", c.audit.writes)
	}
}
