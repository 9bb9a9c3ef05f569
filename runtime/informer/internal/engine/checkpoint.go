// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"context"
	"errors"
	"io/fs"
	"iter"
	"sync"
	"time"

	"k8s.io/klog/v2"

	"github.com/informer-gen/informer-gen/runtime/informer/internal/checkpoint"
	"github.com/informer-gen/informer-gen/runtime/object"
	"github.com/informer-gen/informer-gen/runtime/source"
)

// StateFile is where a stream's state is kept between processes. Outside of tests it is a
// *checkpoint.File.
type StateFile interface {
	Path() string
	Read(item func(object.Object) error) (checkpoint.State, error)
	Write(state checkpoint.State, all iter.Seq[object.Object]) error
}

// FileOf returns the file for the state of a stream. transform is the code of Config.Transform, 0
// if there is none.
type FileOf func(namespace string, src source.Source[object.Object], transform uintptr) (StateFile, error)

// When states are written: after a second, if there is none on disk, and then so rarely that
// writing takes at most a fiftieth of the time.
const (
	firstSave = time.Second
	saveEvery = 10 * time.Second
	saveShare = 50
)

// disk is what a stream has on disk.
type disk struct {
	open func() (StateFile, error) // opens the file once; it may take long

	// mu guards what follows.
	mu    sync.Mutex
	saved checkpoint.State // what the file has, if this process has read or written it
	err   error            // of the last attempt to write; nil if it has succeeded
}

// newDisk returns nil if the informer keeps nothing.
func newDisk(i *Informer, s Stream) *disk {
	if i.config.FileOf == nil {
		return nil
	}
	return &disk{open: sync.OnceValues(func() (StateFile, error) {
		return i.config.FileOf(s.Namespace, s.Source, i.config.TransformCode)
	})}
}

// status returns the state that the file has, and why it could not be written.
func (d *disk) status() (checkpoint.State, error) {
	if d == nil {
		return checkpoint.State{}, nil
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.saved, d.err
}

// restore implements Restore of reflector.Config: it reads the file.
func (s *stream) restore(ctx context.Context, replace func(object.Object) error) (resourceVersion string) {
	logger := klog.FromContext(ctx).WithValues("informer", s.name())
	file, err := s.disk.open()
	if err != nil {
		logger.Error(err, "The informer can't have a checkpoint; it reads everything from the server")
		return ""
	}
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
		logger.V(2).Info("Checkpoint read", "path", file.Path(), "objects", state.Objects, "resourceVersion", state.ResourceVersion, "saved", state.Saved)
	case errors.Is(err, fs.ErrNotExist):
		logger.V(2).Info("There is no checkpoint yet", "path", file.Path())
	case ctx.Err() == nil:
		logger.Info("The checkpoint is ignored; the informer reads everything from the server", "path", file.Path(), "why", err.Error())
	}
	return state.ResourceVersion
}

// save writes the stream's state, unless the file has it already, or there is none yet.
func (s *stream) save(logger klog.Logger) {
	version := s.informer.table.Version()
	at := s.standsAt(version)
	if saved, _ := s.disk.status(); !s.HasSynced() || at == "" || at == saved.ResourceVersion {
		return
	}
	set := version.Namespace(s.namespace)
	state := checkpoint.State{ResourceVersion: at, Saved: time.Now(), Objects: set.Len()}
	file, err := s.disk.open()
	if err == nil {
		err = file.Write(state, set.All)
	}
	s.disk.mu.Lock()
	before := s.disk.err
	if s.disk.err = err; err == nil {
		s.disk.saved = state
	}
	s.disk.mu.Unlock()
	switch {
	case err == nil && before != nil:
		logger.Info("The checkpoint can be written again", "informer", s.name())
	case err != nil && (before == nil || before.Error() != err.Error()):
		logger.Error(err, "The checkpoint can't be written; the informer goes on without", "informer", s.name())
	}
}

// saveAll writes the states of all streams; with missing, only of those that have nothing on disk.
func (i *Informer) saveAll(logger klog.Logger, missing bool) {
	for _, s := range i.streams() {
		if saved, _ := s.disk.status(); s.disk != nil && !(missing && saved.ResourceVersion != "") {
			s.save(logger)
		}
	}
}

// saveBehind writes the states from time to time, until the run is over. What it reads is
// immutable, so it delays no other goroutine.
func (i *Informer) saveBehind(r *run) {
	timer := time.NewTimer(firstSave)
	defer timer.Stop()
	for missing := true; ; missing = false {
		select {
		case <-timer.C:
		case <-r.over:
			return
		}
		start := time.Now()
		i.saveAll(r.logger, missing)
		timer.Reset(max(saveEvery, saveShare*time.Since(start)))
	}
}
