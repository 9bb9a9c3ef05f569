// SPDX-License-Identifier: Apache-2.0

package election

import (
	"context"
	"encoding/json"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
)

// recorder is a lock that keeps the last record as other processes see it.
type recorder struct {
	resourcelock.Interface
	t      *testing.T
	record []byte // in the form compared by client-go's elector
}

func (s *recorder) Update(_ context.Context, record resourcelock.LeaderElectionRecord) error {
	spec := resourcelock.LeaderElectionRecordToLeaseSpec(&record)
	var err error
	if s.record, err = json.Marshal(resourcelock.LeaseSpecToLeaderElectionRecord(&spec)); err != nil {
		s.t.Error(err)
	}
	return nil
}

// TestEachRenewalIsSeen: each renewal writes a new record, even if the wall clock goes back or
// stands still. A process that sees an earlier record again would take the lease too early.
func TestEachRenewalIsSeen(t *testing.T) {
	for name, jump := range map[string]func() time.Duration{
		"the clock is right":             func() time.Duration { return 0 },
		"it stands still":                func() time.Duration { return -4 * time.Second },
		"it goes back now and then":      func() time.Duration { return -time.Duration(rand.N(4)/3) * time.Duration(rand.N(10)) * time.Second },
		"it goes back and forth":         func() time.Duration { return time.Duration(rand.N(10)-5) * time.Second },
		"it goes back and forth by days": func() time.Duration { return time.Duration(rand.N(5)-2) * 24 * time.Hour },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				wire := &recorder{t: t}
				l := &lock{Interface: wire, renewed: func(time.Time) {}, seen: func(string) {}}
				offset, before := time.Duration(0), map[string]bool{}
				record := resourcelock.LeaderElectionRecord{HolderIdentity: "a", LeaseDurationSeconds: 15, LeaderTransitions: 3}
				for n := range 200 {
					time.Sleep(2 * time.Second)
					offset += jump() + time.Nanosecond // no two renewals have one time
					record.RenewTime = metav1.Time{Time: time.Now().Round(0).Add(offset)}
					if err := l.Update(t.Context(), record); err != nil {
						t.Fatal(err)
					}
					first := string(wire.record)
					if before[first] {
						t.Fatalf("renewal %d repeats an earlier record: %s", n, first)
					}
					before[first] = true
					if name == "the clock is right" {
						if l.transitions != 3 {
							t.Fatalf("%d transitions, want 3", l.transitions)
						}
					}
					// The response is lost, and the elector sends the record again.
					time.Sleep(2 * time.Second)
					if err := l.Update(t.Context(), record); err != nil {
						t.Fatal(err)
					}
					if again := string(wire.record); again != first {
						t.Fatalf("the repetition of renewal %d has the record %s, want %s", n, again, first)
					}
				}
			})
		})
	}
}
