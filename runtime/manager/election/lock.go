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

// lock is the lease. It notes when this process began to get and keep it: the others count from
// when they see its write, which is later.
type lock struct {
	// set once at construction
	resourcelock.Interface
	renewed func(began time.Time)
	taken   func() // another process has the lease

	unsure atomic.Bool // the last write may have been done, or not

	// Only the elector uses what follows, of the last record that was to differ from those before:
	// when it was written, and by what it differs.
	at          time.Time
	renewTime   time.Time
	transitions int
}

// Get tells at once if another process has the lease, which the elector does not: it goes on to try
// until its RenewDeadline.
func (l *lock) Get(ctx context.Context) (*resourcelock.LeaderElectionRecord, []byte, error) {
	record, raw, err := l.Interface.Get(ctx)
	if err == nil && record.HolderIdentity != "" && record.HolderIdentity != l.Identity() {
		l.taken()
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
	l.unsure.Store(true)
	err := do(ctx, record)
	var refused apierrors.APIStatus
	l.unsure.Store(err != nil && (!errors.As(err, &refused) || refused.Status().Code >= http.StatusInternalServerError))
	if err == nil {
		// The elector sends a record again when an answer is lost. The others count from the first
		// time, for they see no change in the second.
		l.renewed(record.RenewTime.Time)
	}
	return err
}

// distinguish makes a record differ from all that the process has written before, unless it is sent
// again. By that the others see that the lease was renewed. They have the time in whole seconds,
// and if the wall clock has gone back, or stands still, that is the time of an earlier record. So
// the number of transitions grows then.
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

// release gives the lease away, if this process still has it. A renewal that was cancelled may have
// reached the server nevertheless: so it reads the lease, and begins again after a conflict.
// (client-go's own release writes without looking who has the lease by now.)
func (l *lock) release(ctx context.Context) error {
	for {
		record, _, err := l.Get(ctx)
		switch {
		case apierrors.IsNotFound(err):
			return nil
		case err != nil:
			return fmt.Errorf("read the lease: %w", err)
		}
		if record.HolderIdentity != l.Identity() {
			return nil
		}
		now := metav1.Now()
		err = l.Interface.Update(ctx, resourcelock.LeaderElectionRecord{
			LeaderTransitions: record.LeaderTransitions, LeaseDurationSeconds: 1, RenewTime: now, AcquireTime: now,
		})
		if !apierrors.IsConflict(err) {
			return err
		}
	}
}
