// SPDX-License-Identifier: Apache-2.0

package election

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync/atomic"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
)

// lock is the lease. It records when this process began each write. The others count from the time
// they see it, which is later.
type lock struct {
	// set once at construction
	resourcelock.Interface
	renewed func(began time.Time)
	lost    func()              // called when another process has the lease
	seen    func(holder string) // called when the holder is known; "" for none

	uncertain atomic.Bool // whether the server has done the last write

	// Only the elector uses the fields below: when the last distinguished record was written, and
	// the values that distinguish it.
	at          time.Time
	renewTime   time.Time
	transitions int
}

// Get calls lost at once if another process has the lease. The elector would try until its
// RenewDeadline.
func (l *lock) Get(ctx context.Context) (*resourcelock.LeaderElectionRecord, []byte, error) {
	record, raw, err := l.Interface.Get(ctx)
	if err == nil {
		l.seen(record.HolderIdentity)
		if record.HolderIdentity != "" && record.HolderIdentity != l.Identity() {
			l.lost()
		}
	}
	return record, raw, err
}

func (l *lock) Create(ctx context.Context, record resourcelock.LeaderElectionRecord) error {
	return l.write(ctx, record, l.Interface.Create)
}

func (l *lock) Update(ctx context.Context, record resourcelock.LeaderElectionRecord) error {
	return l.write(ctx, record, l.Interface.Update)
}

func (l *lock) write(ctx context.Context, record resourcelock.LeaderElectionRecord, do func(context.Context, resourcelock.LeaderElectionRecord) error) error {
	l.distinguish(&record)
	l.uncertain.Store(true)
	err := do(ctx, record)
	var refused apierrors.APIStatus
	l.uncertain.Store(err != nil && (!errors.As(err, &refused) || refused.Status().Code >= http.StatusInternalServerError))
	if err == nil {
		// The elector resends a record when an answer was lost. The others count from the first
		// time: the second changes nothing.
		l.renewed(record.RenewTime.Time)
		l.seen(record.HolderIdentity)
	}
	return err
}

// distinguish makes a record differ from all that the process wrote before, except one sent again
// or written in the same second. That shows the others a renewal. They see the time in whole
// seconds, and a wall clock that has gone back or stands still repeats an earlier time. Then the
// number of transitions grows.
func (l *lock) distinguish(record *resourcelock.LeaderElectionRecord) {
	record.LeaderTransitions = max(record.LeaderTransitions, l.transitions)
	now, before := record.RenewTime.Unix(), l.renewTime.Unix()
	switch {
	case record.RenewTime.Time.Equal(l.renewTime), now == before && time.Since(l.at) < time.Second:
		return
	case now <= before:
		record.LeaderTransitions++
	}
	l.at, l.renewTime, l.transitions = time.Now(), record.RenewTime.Time, record.LeaderTransitions
}

// release gives up the lease, if this process still has it. A cancelled renewal may still reach the
// server, so release reads the lease first, and starts over after a conflict. (client-go's own
// release writes without looking at the holder.)
func (l *lock) release(ctx context.Context) error {
	for {
		record, _, err := l.Get(ctx)
		switch {
		case apierrors.IsNotFound(err):
			return nil
		case err != nil:
			return fmt.Errorf("reading the lease: %w", err)
		}
		if record.HolderIdentity != l.Identity() {
			return nil
		}
		now := metav1.Now()
		err = l.Interface.Update(ctx, resourcelock.LeaderElectionRecord{
			LeaderTransitions: record.LeaderTransitions, LeaseDurationSeconds: 1, RenewTime: now, AcquireTime: now,
		})
		if err == nil {
			l.seen("")
		}
		if !apierrors.IsConflict(err) {
			return err
		}
	}
}
