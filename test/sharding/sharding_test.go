// SPDX-License-Identifier: Apache-2.0

//go:build unix

package sharding

import (
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// takeover is the longest time from a crash until another process works: the lease of the one that
// crashed, which may just have been renewed; the same of the coordinator, if it crashed as well;
// and writes.
const takeover = lease + retry*22/10 + 2*time.Second

// TestKill kills a member, and then the coordinator.
func TestKill(t *testing.T) {
	play(t, func(t *testing.T, c *cluster) {
		for _, choose := range []func() *process{c.other, c.coordinator} {
			p := choose()
			owned := ownedBy(c, p)
			at := time.Now()
			c.signal(p, syscall.SIGKILL)
			c.settle()
			times := c.audit.since(at)
			var latest time.Duration
			for _, b := range owned {
				latest = max(latest, times[b])
				if times[b] == 0 {
					t.Errorf("nobody took over bucket %d of %s", b, p.name)
				}
			}
			t.Logf("%d buckets were taken over within %v, want at most %v plus %v on a busy machine", len(owned), latest, takeover, slack)
			if latest > takeover+slack {
				t.Errorf("the last of %d buckets was taken over after %v, want at most %v", len(owned), latest, takeover)
			}
		}
	})
}

func ownedBy(c *cluster, p *process) (owned []int) {
	for b, m := range c.audit.owners() {
		if m.process == p.name {
			owned = append(owned, b)
		}
	}
	return owned
}

// TestStop stops processes between two writes of a reconcile, for longer than their lease. When
// they go on, the second write must not arrive.
func TestStop(t *testing.T) {
	play(t, func(t *testing.T, c *cluster) {
		stopped := []*process{c.other(), c.coordinator()}
		at := time.Now()
		for _, p := range stopped {
			done := make(chan struct{})
			c.audit.stopAt(p.name, func() { c.signal(p, syscall.SIGSTOP); close(done) })
			<-done
		}
		c.settle(stopped...)
		time.Sleep(time.Until(at.Add(lease + 5*time.Second)))
		for _, p := range stopped {
			p.mu.Lock()
			p.expected = true
			p.mu.Unlock()
			c.signal(p, syscall.SIGCONT)
			<-p.ended
			if code := p.cmd.ProcessState.ExitCode(); code != 1 || !strings.Contains(p.stderr.String(), "the lease was lost") {
				t.Errorf("%s: exit code %d: %s", p.name, code, &p.stderr)
			}
		}
		time.Sleep(2 * every)
		c.settle()
	})
}

// TestAuditFindsOverlaps is TestStop with processes whose fences are broken: the audit sees the
// second write.
func TestAuditFindsOverlaps(t *testing.T) {
	playWith(t, true, func(t *testing.T, c *cluster) {
		p := c.other()
		done := make(chan struct{})
		c.audit.stopAt(p.name, func() { c.signal(p, syscall.SIGSTOP); close(done) })
		<-done
		c.settle(p)
		p.mu.Lock()
		p.expected = true
		p.mu.Unlock()
		c.signal(p, syscall.SIGCONT)
		<-p.ended
		c.audit.mu.Lock()
		defer c.audit.mu.Unlock()
		if found := c.audit.violations; len(found) == 0 || !strings.Contains(found[0], p.name) {
			t.Errorf("the audit has found %q, want a write of %s", found, p.name)
		}
	})
}

// TestNetwork drops connections, keeps others half open, and delays bytes by half a minute, each
// for one process. The processes that end are replaced.
func TestNetwork(t *testing.T) {
	play(t, func(t *testing.T, c *cluster) {
		live := c.live()
		dropped, silent, slow := live[0], live[1], live[2]
		silent.proxy.set(0, true)
		slow.proxy.set(30*time.Second, false)
		for end := time.Now().Add(lease + 5*time.Second); time.Now().Before(end); time.Sleep(200 * time.Millisecond) {
			dropped.proxy.drop()
		}
		silent.proxy.set(0, false)
		time.Sleep(30 * time.Second)
		slow.proxy.set(0, false)
		c.settle()
	})
}

// TestClocks: the wall clocks of two processes are wrong by an hour, in both directions. Then they
// crash.
func TestClocks(t *testing.T) {
	play(t, func(t *testing.T, c *cluster) {
		wrong := []*process{c.start(time.Hour), c.start(-time.Hour)}
		c.settle()
		if n := c.wrongLeases(); n != len(wrong) {
			t.Fatalf("%d Leases have a renewTime that is wrong by about an hour, want %d", n, len(wrong))
		}
		for _, p := range wrong {
			at := time.Now()
			owned := ownedBy(c, p)
			c.signal(p, syscall.SIGKILL)
			c.settle()
			times := c.audit.since(at)
			for _, b := range owned {
				if times[b] > takeover+slack || times[b] < lease/2 {
					t.Errorf("bucket %d of %s was taken over after %v, want about %v", b, p.name, times[b], lease)
				}
			}
		}
	})
}

// TestRollingUpdate replaces one process after the other: the new one has joined when the old one
// is told to end. Each bucket moves once.
func TestRollingUpdate(t *testing.T) {
	play(t, func(t *testing.T, c *cluster) {
		before := c.grants()
		old := slices.Clone(c.live())
		for _, p := range old {
			c.joined(c.start(0))
			c.signal(p, syscall.SIGTERM)
			if code := p.cmd.ProcessState.ExitCode(); code != 0 {
				t.Errorf("%s: exit code %d: %s", p.name, code, &p.stderr)
			}
		}
		c.settle()
		time.Sleep(joinDelay + 2*time.Second)
		moves := c.grants() - before
		t.Logf("%d moves of %d buckets", moves, buckets)
		if most := buckets * 11 / 10; moves > most {
			t.Errorf("%d moves of %d buckets, want at most %d", moves, buckets, most)
		}
	})
}
