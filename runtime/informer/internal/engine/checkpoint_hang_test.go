// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/informer-gen/informer-gen/runtime/informer/internal/checkpoint"
	"github.com/informer-gen/informer-gen/runtime/informer/internal/intake"
	"github.com/informer-gen/informer-gen/runtime/object"
	"github.com/informer-gen/informer-gen/runtime/source"
)

// hungFile is a slowFile whose Read is as slow as its Write.
type hungFile struct{ *slowFile }

func (f hungFile) Read(func(object.Object) error) (checkpoint.State, error) {
	f.mu <- struct{}{}
	defer func() { <-f.mu }()
	return checkpoint.State{}, errors.New("nothing")
}

// onHungDisk returns an informer whose disk hangs.
func onHungDisk(t *testing.T) (*rig, hungFile) {
	file := hungFile{newSlowFile()}
	r := newRigOf(t, Config{
		FileOf: func(string, source.Source[object.Object], uintptr) (intake.StateFile, error) { return file, nil },
	}, "")
	file.mu <- struct{}{}
	return r, file
}

func wantText(t *testing.T, what, got, want string) {
	t.Helper()
	if !strings.Contains(got, want) {
		t.Errorf("%s: %q lacks %q", what, got, want)
	}
}

// TestCheckpointReadHangs shows that the errors of WaitForCacheSync and Release name a hanging
// read.
func TestCheckpointReadHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		file := hungFile{newSlowFile()}
		file.mu <- struct{}{}
		r := newSourceRig(t, Config{
			FileOf: func(string, source.Source[object.Object], uintptr) (intake.StateFile, error) { return file, nil },
		}, newServer("ns"))
		l := r.acquire(t.Context())
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		err := WaitForCacheSync(ctx, nil, Wait{Informer: r.Informer})
		wantText(t, "WaitForCacheSync", err.Error(), "things is starting, reading the checkpoint memory for 1m0s")
		wantText(t, "Release", l.Release(ctx).Error(), "things: reading the checkpoint memory for 1m0s")
		<-file.mu
		r.release(l)
	})
}

// TestCheckpointWriteHangs shows that the status and the error of Release name a hanging write.
func TestCheckpointWriteHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, file := onHungDisk(t)
		l := r.acquire(t.Context())
		r.feed("[ =a@1 ]@2")
		time.Sleep(firstSaveDelay + hangTimeout/2)
		if s := r.Streams()[0]; s.CheckpointError != "" {
			t.Errorf("CheckpointError = %q too early", s.CheckpointError)
		}
		time.Sleep(hangTimeout / 2)
		wantText(t, "the status", r.Streams()[0].CheckpointError, "writing the checkpoint memory for 30s")
		if !r.measure().Checkpoint.Failing {
			t.Error("the metrics do not show the failure")
		}
		r.feed("+b@3")
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		wantText(t, "Release", l.Release(ctx).Error(), "things: writing the checkpoint memory for 1m30s")
		<-file.mu
		r.release(l)
		if s := r.Streams()[0]; s.CheckpointError != "" || s.CheckpointVersion != "3" {
			t.Errorf("status after the write: %+v", s)
		}
	})
}
