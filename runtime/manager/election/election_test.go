// SPDX-License-Identifier: Apache-2.0

package election_test

import (
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/spf13/pflag"
	"k8s.io/client-go/rest"

	"github.com/informer-gen/informer-gen/runtime/manager/election"
)

// TestNextLeadsAfterCleanEnd: the lease is renewed until lead has returned, and then released.
func TestNextLeadsAfterCleanEnd(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		a := r.candidate("a")
		a.linger = 20 * time.Second // longer than the lease
		r.start(a)
		b := r.run("b")[0]
		same(t, "a leads", a.Leading(), true)
		pass(time.Minute)
		same(t, "the holder, of the lease and as a and b see it", []string{r.holder(), a.Holder(), b.Holder()}, []string{"a", "a", "a"})
		same(t, "b leads", b.Leading(), false)

		stopped := time.Now()
		same(t, "Run of a", a.End(), errStop)
		ended := time.Now()
		within(t, "the end of a", ended.Sub(stopped), a.linger, a.linger)
		same(t, "the holder", []string{r.holder(), a.Holder()}, []string{"", ""})
		sent, _ := a.last()
		within(t, "a's last request", sent.Sub(stopped), a.linger-time.Second, a.linger)
		pass(next)
		within(t, "b leads", b.since().Sub(ended), 0, next)
	})
}

// TestFenceClosesBeforeLeaseEnds: renewals hang, from each moment of a period on.
func TestFenceClosesBeforeLeaseEnds(t *testing.T) {
	for after := 30 * time.Second; after < 30*time.Second+retry; after += retry / 7 {
		inBubble(t, func(t *testing.T, r *rig) {
			all := r.run("a", "b", "c")
			a := all[0]
			pass(after)
			a.on(hang)
			pass(2 * lease)
			sent, renewed := a.last()
			within(t, "a's last request after the renewal", sent.Sub(renewed), lease-margin-200*time.Millisecond, lease-margin)
			if err := a.End(); !errors.Is(err, election.ErrLost) {
				t.Errorf("Run() = %v", err)
			}
			same(t, "one of the others leads", all[1].Leading() != all[2].Leading(), true)
			for _, c := range all[1:] {
				if c.Leading() {
					// It has seen the renewal 2.2 retries later at most.
					within(t, "the next leads after the renewal", c.since().Sub(renewed), lease, lease+2*next)
				}
			}
		})
	}
}

// TestSlowRenewalCountsFromItsRequest: the server's responses are slow.
func TestSlowRenewalCountsFromItsRequest(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		a := r.run("a")[0]
		a.on(func(req *http.Request, next http.RoundTripper) (*http.Response, error) {
			resp, err := next.RoundTrip(req)
			time.Sleep(4 * time.Second)
			return resp, err
		})
		pass(time.Minute)
		same(t, "a leads", a.Leading(), true)
		a.on(hang)
		pass(lease)
		sent, renewed := a.last()
		within(t, "a's last request after the renewal", sent.Sub(renewed), lease-margin-200*time.Millisecond, lease-margin)
	})
}

// TestRepeatedRenewalCountsFromTheFirst: the response to a renewal is lost. The elector sends the
// same record again, which shows the others no change.
func TestRepeatedRenewalCountsFromTheFirst(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		all := r.run("a", "b")
		a := all[0]
		pass(9 * time.Second)
		var first time.Time
		a.on(func(req *http.Request, next http.RoundTripper) (*http.Response, error) {
			switch {
			case req.Method == http.MethodGet:
				return next.RoundTrip(req)
			case first.IsZero():
				first = time.Now()
				if resp, err := next.RoundTrip(req); err == nil {
					_ = resp.Body.Close()
				}
				return hang(req, next)
			}
			a.on(hang)
			return next.RoundTrip(req)
		})
		pass(2 * lease)
		sent, renewed := a.last()
		within(t, "the repetition after the first", renewed.Sub(first), time.Second, 6*time.Second)
		within(t, "a's last request after the first", sent.Sub(first), lease-margin-200*time.Millisecond, lease-margin)
		within(t, "b leads after the first", all[1].since().Sub(first), lease, lease+2*next)
	})
}

// TestLostLeaseEndsLead: lead's context ends when the fence closes. Requests are refused from then
// on, although lead returns later.
func TestLostLeaseEndsLead(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		a := r.candidate("a")
		a.linger = 5 * time.Second
		r.start(a)
		pass(10 * time.Second)
		a.on(hang)
		<-a.Done
		_, renewed := a.last()
		within(t, "the end", time.Since(renewed), lease-margin+a.linger, lease-margin+a.linger)
		within(t, "refused requests", time.Duration(a.refused), 45, 51)
		if !errors.Is(a.Err, election.ErrLost) || !errors.Is(a.Err, election.ErrNotLeading) {
			t.Errorf("Run() = %v", a.Err)
		}
	})
}

// TestErrorOfLeadKeepsTheLease: after an error of lead, the lease is not released, and requests are
// refused at once.
func TestErrorOfLeadKeepsTheLease(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		a := r.candidate("a")
		a.result = errors.New("a reconcile hangs")
		r.start(a)
		b := r.run("b")[0]
		pass(10 * time.Second)
		if err := a.End(); !errors.Is(err, a.result) {
			t.Errorf("Run() = %v", err)
		}
		same(t, "a leads", a.Leading(), false)
		same(t, "the holder", r.holder(), "a")
		_, renewed := a.last()
		pass(lease + 2*next)
		within(t, "b leads after a's last renewal", b.since().Sub(renewed), lease, lease+2*next)
	})
}

// TestLeaseOfAnotherIsNotReleased: another process takes the lease just before the end.
func TestLeaseOfAnotherIsNotReleased(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		a := r.run("a")[0]
		pass(10*time.Second + time.Millisecond)
		l := r.lease()
		*l.Spec.HolderIdentity = "z"
		r.leases.Update(l)
		same(t, "Run of a", a.End(), errStop)
		same(t, "the holder", r.holder(), "z")
	})
}

// TestFenceClosesWhenAnotherHasTheLease: someone has edited the lease.
func TestFenceClosesWhenAnotherHasTheLease(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		a := r.run("a")[0]
		pass(10*time.Second + time.Millisecond)
		l := r.lease()
		*l.Spec.HolderIdentity = "z"
		r.leases.Update(l)
		taken := time.Now()
		<-a.Done
		sent, _ := a.last()
		within(t, "a's last request after that", sent.Sub(taken), 0, retry)
		if !errors.Is(a.Err, election.ErrLost) {
			t.Errorf("Run() = %v", a.Err)
		}
		same(t, "the holder", r.holder(), "z")
	})
}

// TestReleaseAfterAConflict: a cut-off renewal has reached the server.
func TestReleaseAfterAConflict(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		a := r.run("a")[0]
		pass(9 * time.Second)
		a.on(func(req *http.Request, next http.RoundTripper) (*http.Response, error) {
			if req.Method == http.MethodPut {
				l := r.lease()
				*l.Spec.LeaseTransitions++
				a.on(func(req *http.Request, next http.RoundTripper) (*http.Response, error) { return next.RoundTrip(req) })
				r.leases.Update(l) // between the read and the write of the release
			}
			return next.RoundTrip(req)
		})
		same(t, "Run of a", a.End(), errStop)
		same(t, "the holder", r.holder(), "")
	})
}

func TestCancelledBeforeItLeads(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		all := r.run("a", "b")
		start := time.Now()
		same(t, "Run of b", all[1].End(), errStop)
		within(t, "its end", time.Since(start), 0, 0)
		same(t, "b has led", all[1].since().IsZero(), true)
	})
}

// TestLeaseWithoutAnswerIsReleased: the process ends during its first write of the lease, which has
// reached the server or not.
func TestLeaseWithoutAnswerIsReleased(t *testing.T) {
	for name, reaches := range map[string]bool{"it has reached the server": true, "it has not": false} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, r *rig) {
				a := r.candidate("a")
				a.on(func(req *http.Request, next http.RoundTripper) (*http.Response, error) {
					if req.Method != http.MethodPost {
						return next.RoundTrip(req)
					}
					if reaches {
						resp, err := next.RoundTrip(req)
						if err != nil {
							return nil, err
						}
						_ = resp.Body.Close()
					}
					return hang(req, next)
				})
				r.start(a)
				pass(time.Second)
				same(t, "a leads", a.Leading(), false)
				start := time.Now()
				same(t, "Run of a", a.End(), errStop)
				within(t, "its end", time.Since(start), 0, 0)
				same(t, "the holder", r.holder(), "")
			})
		})
	}
}

func TestRunAgain(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		a := r.run("a")[0]
		if err := a.Run(t.Context(), a.lead); err == nil || !strings.Contains(err.Error(), "it is running") {
			t.Errorf("the second Run() = %v", err)
		}
		_ = a.End()
		same(t, "a leads", a.Leading(), false)
		r.start(a)
		same(t, "a leads", a.Leading(), true)
	})
}

func TestInvalidOptions(t *testing.T) {
	for _, test := range []struct {
		change func(*election.Options)
		want   string
	}{
		{func(o *election.Options) { o.Name = "" }, "the Name of the Lease is empty"},
		{func(o *election.Options) { o.LeaseDuration = 1500 * time.Millisecond }, "LeaseDuration is 1.5s; it must be a whole number of seconds, at least 1"},
		{func(o *election.Options) { o.RetryPeriod = -1 }, "negative RetryPeriod -1ns"},
		{func(o *election.Options) { o.RetryPeriod = 9 * time.Second }, "RenewDeadline is 10s; it must be more than 1.2 times RetryPeriod, which is 9s"},
		{func(o *election.Options) { o.LeaseDuration = 12 * time.Second }, "the Margin is 0s; set it, or a LeaseDuration of more than RenewDeadline and RetryPeriod together"},
		{func(o *election.Options) { o.Margin = 6 * time.Second }, "the Margin is 6s; it must be at most 5s, LeaseDuration less RenewDeadline, or requests are cut off while the lease may still be renewed"},
	} {
		o := election.Options{Name: "widgets"}
		test.change(&o)
		if _, err := election.New(&rest.Config{}, o); err == nil || err.Error() != "election.New: "+test.want {
			t.Errorf("New() = %v\nwant    %s", err, test.want)
		}
	}
	if _, err := election.New(nil, election.Options{Name: "widgets"}); err == nil || !strings.Contains(err.Error(), "config is nil") {
		t.Errorf("New(nil) = %v", err)
	}
}

func TestFlags(t *testing.T) {
	o := election.Options{Name: "widgets"}
	flags := pflag.NewFlagSet("", pflag.ContinueOnError)
	o.AddFlags(flags)
	if err := flags.Parse([]string{"--leader-elect-lease-duration=20s", "--leader-elect-resource-name=gadgets"}); err != nil {
		t.Fatal(err)
	}
	same(t, "options", o, election.Options{Namespace: "kube-system", Name: "gadgets", LeaseDuration: 20 * time.Second, RenewDeadline: 10 * time.Second, RetryPeriod: 2 * time.Second})
}
