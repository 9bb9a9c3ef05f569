// SPDX-License-Identifier: Apache-2.0

package etcd

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/informer-gen/informer-gen/server/watchcache"
)

// Create stores an object, with a new uid if it has none. It returns the stored object, an error
// that wraps [watchcache.ErrExists] if its key is taken, or an error if data isn't an object of the
// API.
func (s *Storage) Create(ctx context.Context, data []byte) (*watchcache.Object, error) {
	o, err := watchcache.ParseJSON(data, s.fields...)
	if err != nil {
		return nil, err
	}
	stored, err := s.put(ctx, o, cmp.Or(o.UID, uuid.NewString()), 0)
	if errors.Is(err, errChanged) {
		err = watchcache.ErrExists
	}
	if err != nil {
		return nil, fmt.Errorf("creating %s: %w", o.Key, err)
	}
	return stored, nil
}

// Update replaces an existing object. If data has a resourceVersion or a uid, the object must have
// the same. It returns the stored object, an error that wraps [watchcache.ErrNotFound] or
// [watchcache.ErrConflict], or an error if data isn't an object of the API.
func (s *Storage) Update(ctx context.Context, data []byte) (*watchcache.Object, error) {
	o, err := watchcache.ParseJSON(data, s.fields...)
	if err != nil {
		return nil, err
	}
	var stored *watchcache.Object
	err = s.change(ctx, o.Key, watchcache.Preconditions{UID: o.UID, Version: o.Version}, func(old *watchcache.Object) error {
		var err error
		stored, err = s.put(ctx, o, old.UID, old.Version)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("updating %s: %w", o.Key, err)
	}
	return stored, nil
}

// Delete removes the object under key. It returns the last state, or an error that wraps
// [watchcache.ErrNotFound] or [watchcache.ErrConflict].
func (s *Storage) Delete(ctx context.Context, key string, p watchcache.Preconditions) (last *watchcache.Object, err error) {
	err = s.change(ctx, key, p, func(old *watchcache.Object) error {
		last = old
		_, err := s.commit(ctx, key, old.Version, clientv3.OpDelete(s.prefix+key))
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("deleting %s: %w", key, err)
	}
	return last, nil
}

var errChanged = errors.New("the object has changed")

// change reads the object under key, and calls write with it if the preconditions hold, until no
// other writer interferes.
func (s *Storage) change(ctx context.Context, key string, p watchcache.Preconditions, write func(old *watchcache.Object) error) error {
	for {
		found, err := s.client.Get(ctx, s.prefix+key)
		if err != nil {
			return err
		}
		if len(found.Kvs) == 0 {
			return watchcache.ErrNotFound
		}
		kv := found.Kvs[0]
		old, err := s.object(kv.Key, kv.Value, kv.ModRevision)
		if err != nil {
			return err
		}
		if err := p.Check(old); err != nil {
			return err
		}
		if err := write(old); !errors.Is(err, errChanged) {
			return err
		}
	}
}

// put stores an object with a uid, if its key is at a version; 0 means that it does not exist.
func (s *Storage) put(ctx context.Context, o *watchcache.Object, uid string, version uint64) (*watchcache.Object, error) {
	o, err := o.WithIdentity(uid, version)
	if err != nil {
		return nil, err
	}
	lease, err := s.grant(ctx)
	if err != nil {
		return nil, err
	}
	revision, err := s.commit(ctx, o.Key, version, clientv3.OpPut(s.prefix+o.Key, string(o.Bytes), clientv3.WithLease(lease)))
	if errors.Is(err, errChanged) && lease != clientv3.NoLease {
		_, _ = s.client.Revoke(ctx, lease) // unused, and it ends by itself, too
	}
	if err != nil {
		return nil, err
	}
	return o.WithIdentity(uid, uint64(revision))
}

// grant returns a new lease for an object, or none if it has no TTL. Objects don't share leases:
// etcd deletes all objects of a lease at one revision, and each change must have its own version.
func (s *Storage) grant(ctx context.Context) (clientv3.LeaseID, error) {
	switch {
	case s.ttl == 0:
		return clientv3.NoLease, nil
	case s.ttl < 0:
		return 0, fmt.Errorf("its time to live is %v; it must not be negative", s.ttl)
	}
	seconds := (s.ttl-1)/time.Second + 1
	granted, err := s.client.Grant(ctx, int64(seconds))
	if err != nil {
		return 0, fmt.Errorf("asking etcd for a lease of %v: %w", s.ttl, err)
	}
	return granted.ID, nil
}

func (s *Storage) commit(ctx context.Context, key string, version uint64, op clientv3.Op) (revision int64, err error) {
	same := clientv3.Compare(clientv3.ModRevision(s.prefix+key), "=", int64(version))
	done, err := s.client.Txn(ctx).If(same).Then(op).Commit()
	if err != nil {
		return 0, err
	}
	if !done.Succeeded {
		return 0, errChanged
	}
	return done.Header.Revision, nil
}
