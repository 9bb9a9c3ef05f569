// SPDX-License-Identifier: Apache-2.0

package intake

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"sync"
	"time"

	"k8s.io/klog/v2"

	"github.com/informer-gen/informer-gen/runtime/informer/internal/checkpoint"
	"github.com/informer-gen/informer-gen/runtime/object"
	"github.com/informer-gen/informer-gen/runtime/source"
)

// StateFile keeps a stream's state between processes. Outside of tests it is a *checkpoint.File.
type StateFile interface {
	Path() string
	Read(item func(object.Object) error) (checkpoint.State, error)
	Write(state checkpoint.State, all iter.Seq[object.Object]) (checkpoint.State, error)
	Advance(state checkpoint.State) (bool, error)
}

// FileOf returns the file for the state of a stream. transform is the code of Config.Transform, 0
// without one.
type FileOf func(namespace string, src source.Source[object.Object], transform uintptr) (StateFile, error)

// States are written after a second, if there is none on disk, and then in at most a fiftieth of
// the time.
const (
	firstSaveDelay = time.Second
	saveInterval   = 10 * time.Second
	saveShare      = 50
)

// disk is a stream's state on disk.
type disk struct {
	open func() (StateFile, error) // opens the file once, possibly slowly

	// mu guards the rest.
	mu    sync.Mutex
	saved checkpoint.State // the file's state, if read or written by this process
	// changed is the value of stream.changed for which the table had the file's objects; -1 if it
	// never had them. If it is too small, the file is written anew.
	changed        int64
	err            error // of the last write; nil if it succeeded
	totals         DiskTotals
	operation      string // in progress, such as "reading …"; "" if none
	operationStart time.Time
}

// hangTimeout is the duration from which the status calls a write an error.
const hangTimeout = 30 * time.Second

// DiskTotals counts the uses of a stream's file. Its numbers never go down.
type DiskTotals struct {
	Writes   int64         // successful ones, except of the version alone
	Bytes    int64         // written by them
	Took     time.Duration // by them
	Failures int64         // of writing
	Restored int64         // objects read and accepted by the server
}

func (t *DiskTotals) add(other DiskTotals) {
	t.Writes += other.Writes
	t.Bytes += other.Bytes
	t.Took += other.Took
	t.Failures += other.Failures
	t.Restored += other.Restored
}

// newDisk returns nil without checkpoints.
func newDisk(config *Config, s StreamConfig) *disk {
	if config.FileOf == nil {
		return nil
	}
	return &disk{changed: -1, open: sync.OnceValues(func() (StateFile, error) {
		return config.FileOf(s.Namespace, s.Source, config.TransformCode)
	})}
}

// status returns the file's state, the totals, and why the last write failed.
func (d *disk) status() (checkpoint.State, DiskTotals, error) {
	if d == nil {
		return checkpoint.State{}, DiskTotals{}, nil
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.err == nil && d.operation != "" && time.Since(d.operationStart) >= hangTimeout {
		return d.saved, d.totals, errors.New(d.operationLocked())
	}
	return d.saved, d.totals, d.err
}

// begin notes that a goroutine of the stream uses the disk, until end is called. Only one does at a
// time: the file is read before it is written.
func (d *disk) begin(operation string) (end func()) {
	set := func(operation string) {
		d.mu.Lock()
		defer d.mu.Unlock()
		d.operation, d.operationStart = operation, time.Now()
	}
	set(operation)
	return func() { set("") }
}

// operationLocked returns the operation in progress, and its duration; "" if none.
func (d *disk) operationLocked() string {
	if d.operation == "" {
		return ""
	}
	return fmt.Sprintf("%s for %v", d.operation, time.Since(d.operationStart).Round(time.Millisecond))
}

// currentOperation is operationLocked without a lock; the disk may be nil.
func (d *disk) currentOperation() string {
	if d == nil {
		return ""
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.operationLocked()
}

// restore implements Restore of reflector.Config: it reads the file.
func (s *Stream) restore(ctx context.Context, replace func(object.Object) error) (resourceVersion string) {
	logger := klog.FromContext(ctx).WithValues("informer", s.Name())
	file, err := s.disk.open()
	if err != nil {
		logger.Error(err, "The checkpoint can't be used; the informer reads everything from the server")
		return ""
	}
	defer s.disk.begin("reading the checkpoint " + file.Path())()
	state, err := file.Read(func(obj object.Object) error {
		if err := s.check(obj); err != nil {
			return err
		}
		return replace(obj)
	})
	switch {
	case err == nil:
		s.disk.mu.Lock()
		s.disk.saved = state
		s.disk.mu.Unlock()
		s.restoring.Store(true)
		logger.V(2).Info("Checkpoint read", "path", file.Path(), "objects", state.Objects, "resourceVersion", state.ResourceVersion, "saved", state.Saved)
	case errors.Is(err, fs.ErrNotExist):
		logger.V(2).Info("There is no checkpoint yet", "path", file.Path())
	case ctx.Err() == nil:
		logger.Info("The checkpoint is ignored; the informer reads everything from the server", "path", file.Path(), "reason", err.Error())
	}
	return state.ResourceVersion
}

// countChanges counts the objects set or deleted by a batch, before they are published. If the
// batch is the state read from disk, the file then has the table's objects.
func (s *Stream) countChanges(applied int) {
	changed := s.changed.Add(int64(applied))
	if s.staging.active && s.restoring.Swap(false) {
		d := s.disk
		d.mu.Lock()
		defer d.mu.Unlock()
		d.changed = changed
		d.totals.Restored += int64(applied)
	}
}

// save writes the stream's state, unless there is none yet or the file has it already. If only the
// version has changed, as by bookmarks, it writes only that.
func (s *Stream) save(logger klog.Logger) {
	// A change is counted in changed before it is published, and in published after that. So
	// version has at least the changes counted in published now, and at most those counted in
	// changed later.
	published := s.published.Load()
	version := s.intake.table.Version()
	at := s.ResourceVersion(version)
	saved, _, _ := s.disk.status()
	// If the server's versions went back, it may have reached the file's version by other changes.
	upToDate := at == saved.ResourceVersion && s.disk.isCurrent(s.changed.Load())
	if !s.HasSynced() || at == "" || upToDate {
		return
	}
	if s.Removed() {
		return // version may have the objects of a later stream of its namespace
	}
	set := version.Namespace(s.namespace)
	state := checkpoint.State{ResourceVersion: at, Saved: time.Now(), Objects: set.Len(), Bytes: saved.Bytes}
	advanced := false
	file, err := s.disk.open()
	if err == nil {
		defer s.disk.begin("writing the checkpoint " + file.Path())()
	}
	if err == nil && s.disk.isCurrent(s.changed.Load()) {
		advanced, err = file.Advance(state)
	}
	if err == nil && !advanced {
		state, err = file.Write(state, set.All)
	}
	switch before := s.disk.recordWrite(state, published, advanced, err); {
	case err == nil && before != nil:
		logger.Info("The checkpoint can be written again", "informer", s.Name())
	case err != nil && (before == nil || before.Error() != err.Error()):
		logger.Error(err, "The checkpoint can't be written; the informer goes on without it", "informer", s.Name())
	}
}

// isCurrent reports whether the file has the table's objects after so many changes.
func (d *disk) isCurrent(changed int64) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.changed == changed
}

// recordWrite notes the outcome of writing a state, or its version alone, and returns the previous
// error.
func (d *disk) recordWrite(state checkpoint.State, changed int64, advanced bool, err error) (before error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	before, d.err = d.err, err
	switch {
	case err != nil:
		d.totals.Failures++
	case advanced:
		d.saved = state
	default:
		d.saved, d.changed = state, changed
		d.totals.Writes++
		d.totals.Bytes += state.Bytes
		d.totals.Took += time.Since(state.Saved)
	}
	return before
}

// SaveAll writes the states of all streams or, with missing, only of those with nothing on disk.
func (in *Intake) SaveAll(logger klog.Logger, missing bool) {
	for _, s := range in.Streams() {
		if saved, _, _ := s.disk.status(); s.disk != nil && !(missing && saved.ResourceVersion != "") {
			s.save(logger)
		}
	}
}

// saveInBackground writes the states from time to time, until the run is over. It delays no other
// goroutine, since it reads immutable data.
func (in *Intake) saveInBackground(r *Run) {
	timer := time.NewTimer(firstSaveDelay)
	defer timer.Stop()
	for missing := true; ; missing = false {
		select {
		case <-timer.C:
		case <-r.Ctx.Done():
			return
		}
		start := time.Now()
		in.SaveAll(r.Logger, missing)
		timer.Reset(max(saveInterval, saveShare*time.Since(start)))
	}
}

// HasCheckpoint reports whether the stream's state is kept on disk.
func (s *Stream) HasCheckpoint() bool { return s.disk != nil }

// Disk returns the state on disk, the totals, and why the last write failed; nothing without a
// checkpoint.
func (s *Stream) Disk() (checkpoint.State, DiskTotals, error) { return s.disk.status() }

// DiskOperation returns the operation in progress, such as "reading …", and its duration; "" if
// none.
func (s *Stream) DiskOperation() string { return s.disk.currentOperation() }
