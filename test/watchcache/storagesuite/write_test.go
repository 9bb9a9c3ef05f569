// SPDX-License-Identifier: Apache-2.0

package storagesuite

import (
	"bytes"
	"context"
	"errors"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/apiserver/pkg/apis/example"
	"k8s.io/apiserver/pkg/storage"

	"github.com/informer-gen/informer-gen/server/watchcache"
)

// Create implements [storage.Interface].
func (s *store) Create(ctx context.Context, key string, obj, out runtime.Object, ttl uint64) error {
	key, err := storage.PrepareKey(resource, key, false)
	if err != nil {
		return err
	}
	if version, err := s.Versioner().ObjectResourceVersion(obj); err == nil && version != 0 {
		return storage.ErrResourceVersionSetOnCreate
	}
	data, err := encode(obj)
	if err != nil {
		return err
	}
	made, err := s.write(ctx, key, obj, data, 0, ttl)
	if errors.Is(err, watchcache.ErrExists) {
		return storage.NewKeyExistsError(key, 0)
	} else if err != nil {
		return err
	}
	return decode(data, made.Version, out)
}

// write stores a pod; data is the pod in encoded form. It replaces the record of a version, or
// creates one if version is 0. The pod expires after ttl seconds, or never if ttl is 0. write waits
// until the cache has the pod.
func (s *store) write(ctx context.Context, key string, pod runtime.Object, data []byte, version, ttl uint64) (*watchcache.Object, error) {
	sealed, err := s.seal(ctx, key, pod.(*example.Pod), data, version)
	if err != nil {
		return nil, err
	}
	var to writer = s.storage
	if ttl != 0 {
		to = s.withTTL(time.Duration(ttl) * time.Second)
	}
	write := to.Create
	if version != 0 {
		write = to.Update
	}
	written, err := write(ctx, sealed)
	if err != nil {
		return nil, err
	}
	return written, s.await(ctx, written.Version)
}

// overtaken reports whether another writer was faster.
func overtaken(err error) bool {
	for _, lost := range []error{watchcache.ErrExists, watchcache.ErrNotFound, watchcache.ErrConflict} {
		if errors.Is(err, lost) {
			return true
		}
	}
	return false
}

// GuaranteedUpdate implements [storage.Interface]. It always reads the newest state first.
func (s *store) GuaranteedUpdate(ctx context.Context, key string, out runtime.Object, ignoreNotFound bool,
	preconditions *storage.Preconditions, update storage.UpdateFunc, _ runtime.Object,
) error {
	key, err := storage.PrepareKey(resource, key, false)
	if err != nil {
		return err
	}
	for {
		if err := s.update(ctx, key, out, ignoreNotFound, preconditions, update); !overtaken(err) {
			return err
		}
	}
}

// update updates a pod unless another writer is faster.
func (s *store) update(ctx context.Context, key string, out runtime.Object, ignoreNotFound bool,
	preconditions *storage.Preconditions, update storage.UpdateFunc,
) error {
	old, err := s.find(ctx, key, true, 0)
	if err != nil {
		return err
	}
	var (
		pod     example.Pod
		data    []byte
		stale   bool
		version uint64
	)
	switch {
	case old != nil:
		version = old.Version
		if data, stale, err = s.open(ctx, old); err == nil {
			err = decode(data, version, &pod)
		}
		if err != nil {
			return err
		}
	case !ignoreNotFound:
		return storage.NewKeyNotFoundError(key, 0)
	}
	if err := preconditions.Check(key, &pod); err != nil {
		return err
	}
	changed, ttl, err := update(&pod, storage.ResponseMeta{ResourceVersion: version})
	if err != nil {
		return err
	}
	want, err := encode(changed)
	if err != nil {
		return err
	}
	if old != nil && !stale && bytes.Equal(want, data) {
		return decode(data, version, out)
	}
	var seconds uint64
	if ttl != nil {
		seconds = *ttl
	}
	written, err := s.write(ctx, key, changed, want, version, seconds)
	if err != nil {
		return err
	}
	return decode(want, written.Version, out)
}

// Delete implements [storage.Interface]. It always reads the newest state first.
func (s *store) Delete(ctx context.Context, key string, out runtime.Object, preconditions *storage.Preconditions,
	validate storage.ValidateObjectFunc, _ runtime.Object, opts storage.DeleteOptions,
) error {
	key, err := storage.PrepareKey(resource, key, false)
	if err != nil {
		return err
	}
	for {
		if err := s.delete(ctx, key, out, preconditions, validate, opts); !overtaken(err) {
			return err
		}
	}
}

// delete deletes a pod unless another writer is faster. If opts expect an unreadable pod, it
// deletes only an unreadable one: it checks an empty pod in its place, and returns none.
func (s *store) delete(ctx context.Context, key string, out runtime.Object,
	preconditions *storage.Preconditions, validate storage.ValidateObjectFunc, opts storage.DeleteOptions,
) error {
	old, err := s.find(ctx, key, true, 0)
	if err != nil {
		return err
	}
	if old == nil {
		return storage.NewKeyNotFoundError(key, 0)
	}
	var pod example.Pod
	switch err := s.read(ctx, old, old.Version, &pod); {
	case err == nil && opts.ExpectTransformOrDecodeError:
		return storage.NewInvalidObjError(key, "it can be read, which was not expected")
	case err != nil && !opts.ExpectTransformOrDecodeError:
		return err
	}
	if err := preconditions.Check(key, &pod); err != nil {
		return err
	}
	if err := validate(ctx, &pod); err != nil {
		return err
	}
	version, err := s.remove(ctx, old)
	if err != nil || opts.ExpectTransformOrDecodeError {
		return err
	}
	return s.read(ctx, old, version, out)
}

// remove deletes a record and returns the version of the deletion, taken from a watch.
func (s *store) remove(ctx context.Context, old *watchcache.Object) (uint64, error) {
	w, err := s.cache.Watch(ctx, watchcache.WatchOptions{
		Filter: watchcache.Filter{Namespace: old.Namespace(), Name: old.Name()},
		After:  old.Version,
	})
	if err != nil {
		return 0, err
	}
	defer w.Close()
	if _, err := s.storage.Delete(ctx, old.Key, watchcache.Preconditions{Version: old.Version}); err != nil {
		return 0, err
	}
	for {
		events, err := w.Next(ctx)
		if err != nil {
			return 0, err
		}
		for _, e := range events {
			if e.Type == watch.Deleted {
				return e.Version, nil
			}
		}
	}
}
