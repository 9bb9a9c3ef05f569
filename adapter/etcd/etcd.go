// SPDX-License-Identifier: Apache-2.0

// Package etcd makes a prefix of an etcd cluster the storage of a watch cache, without an API
// server.
//
// The objects are JSON, under the prefix and their key. Their resourceVersion is the etcd revision
// of their last write. The one in the stored JSON is ignored: it belongs to the previous state, and
// is "0" in a new object. API servers store custom resources in the same way, but without a
// resourceVersion, and this package can read these. It cannot read encrypted objects, or protobuf,
// which API servers use for the built-in kinds.
//
// Storage starts no goroutine. The client's goroutines serve its watches, until their contexts end.
package etcd

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"time"

	"go.etcd.io/etcd/api/v3/mvccpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/informer-gen/informer-gen/server/watchcache"
)

const pageSize = 1000

// maxSilence bounds etcd's silence: a watch then asks for the progress, and ends after the same
// time again.
const maxSilence = 30 * time.Second

// Storage reads and writes the objects under a prefix. It implements [watchcache.Storage]. All
// methods may be called by any number of goroutines. [New] makes one.
type Storage struct {
	// set once at construction
	client  *clientv3.Client
	prefix  string // ends with a slash
	fields  []string
	ttl     time.Duration // of objects stored by Create and Update; 0: for ever
	silence time.Duration // maxSilence, except in tests

	cluster *atomic.Uint64 // the ID of the cluster listed last; 0: none
}

// New returns the storage of the objects under a prefix, such as "/registry/example.com/widgets".
// It sends no request, and does not close the client. fields are the declared fields, such as
// "spec.nodeName".
func New(client *clientv3.Client, prefix string, fields ...string) *Storage {
	return &Storage{client: client, prefix: strings.TrimSuffix(prefix, "/") + "/", fields: fields, silence: maxSilence, cluster: new(atomic.Uint64)}
}

// WithTTL returns a storage of the same objects, but etcd deletes objects stored by its Create and
// Update after ttl, unless they have been written again. So an object updated by the storage
// without a TTL stays. 0 is no TTL. Create and Update fail if ttl is negative, or longer than etcd
// allows, 285 years.
//
// etcd counts in seconds: a TTL is rounded up, and the object may stay for some seconds more.
func (s *Storage) WithTTL(ttl time.Duration) *Storage {
	other := *s
	other.ttl = ttl
	return &other
}

// List reads all objects, in pages of one revision. If that is compacted before the last page, it
// starts again.
func (s *Storage) List(ctx context.Context) ([]*watchcache.Object, uint64, error) {
	for {
		objects, version, err := s.list(ctx)
		if !errors.Is(err, rpctypes.ErrCompacted) {
			return objects, version, err
		}
	}
}

func (s *Storage) list(ctx context.Context) (objects []*watchcache.Object, version uint64, err error) {
	from, end := s.prefix, clientv3.GetPrefixRangeEnd(s.prefix)
	opts := []clientv3.OpOption{clientv3.WithRange(end), clientv3.WithLimit(pageSize)}
	for {
		page, err := s.client.Get(ctx, from, opts...)
		if err != nil {
			return nil, 0, s.wrapError("listing", err)
		}
		for _, kv := range page.Kvs {
			o, err := s.object(kv.Key, kv.Value, kv.ModRevision)
			if err != nil {
				return nil, 0, err
			}
			objects = append(objects, o)
		}
		if version == 0 {
			version = uint64(page.Header.Revision)
			opts = append(opts, clientv3.WithRev(page.Header.Revision))
			s.cluster.Store(page.Header.ClusterId)
		}
		if !page.More {
			return objects, version, nil
		}
		from = string(page.Kvs[len(page.Kvs)-1].Key) + "\x00"
	}
}

// Watch calls emit with each change after a version, and with a bookmark for each progress from
// etcd. It asks for the progress after 30 seconds of silence; [Storage.RequestProgress] asks at
// once.
//
// It returns a [watchcache.ExpiredError] if the version has been compacted, and nil after 30 more
// seconds of silence: then etcd has no news, or has never had that version. It returns another
// error if etcd is at an older version, or is not the listed cluster. [Storage.Newest] shows
// whether etcd was restored.
//
// Several writes in one transaction have the same version. A cache refuses that, and lists.
func (s *Storage) Watch(ctx context.Context, after uint64, emit func(watchcache.Event) error) error {
	ctx, cancel := context.WithCancel(clientv3.WithRequireLeader(ctx))
	defer cancel()
	cluster := s.cluster.Load()
	responses := s.client.Watch(ctx, s.prefix, clientv3.WithPrefix(), clientv3.WithRev(int64(after)+1), clientv3.WithPrevKV(), clientv3.WithProgressNotify())
	silent := time.NewTimer(s.silence)
	defer silent.Stop()
	asked := false
	for {
		select {
		case r, ok := <-responses:
			if !ok {
				return context.Cause(ctx) // nil if etcd has ended the watch
			}
			silent.Reset(s.silence)
			asked = false
			if cluster != 0 && r.Header.ClusterId != cluster {
				return s.wrapError("watching", fmt.Errorf("the cluster is %x, and %x was listed", r.Header.ClusterId, cluster))
			}
			if err := s.emitAll(r, &after, emit); err != nil {
				return err
			}
		case <-silent.C:
			if asked { // etcd has no news since the watch began, or never had that version
				return nil
			}
			if err := s.askForProgress(ctx); err != nil {
				return err
			}
			silent.Reset(s.silence)
			asked = true
		}
	}
}

func (s *Storage) emitAll(r clientv3.WatchResponse, after *uint64, emit func(watchcache.Event) error) error {
	if r.CompactRevision != 0 {
		return &watchcache.ExpiredError{Version: *after, Oldest: uint64(r.CompactRevision)}
	}
	if err := r.Err(); err != nil {
		return s.wrapError("watching", err)
	}
	for _, change := range r.Events {
		e, err := s.event(change)
		if err != nil {
			return err
		}
		if err := emit(e); err != nil {
			return err
		}
		*after = e.Version
	}
	if !r.IsProgressNotify() {
		return nil
	}
	version := uint64(r.Header.Revision)
	if version < *after { // a member that lags, or a restored backup
		return s.wrapError("watching", fmt.Errorf("etcd is at revision %d, and has been at %d", version, *after))
	}
	*after = version
	return emit(watchcache.Event{Type: watch.Bookmark, Version: version})
}

// askForProgress is RequestProgress, but waits no longer than a watch may be silent.
func (s *Storage) askForProgress(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, s.silence)
	defer cancel()
	return s.RequestProgress(ctx)
}

// Newest returns the revision of etcd, or 0 if it is not the cluster listed last, whose revisions
// have another history. A cache calls it before it watches again.
func (s *Storage) Newest(ctx context.Context) (uint64, error) {
	ctx, cancel := context.WithTimeout(ctx, s.silence)
	defer cancel()
	now, err := s.client.Get(ctx, s.prefix) // there is no such key
	if err != nil {
		return 0, s.wrapError("asking for the revision of", err)
	}
	if listed := s.cluster.Load(); listed != 0 && now.Header.ClusterId != listed {
		return 0, nil
	}
	return uint64(now.Header.Revision), nil
}

// RequestProgress asks etcd for the progress of its watches. It sends none while a watch is behind.
// A cache calls it while requests wait for a version.
func (s *Storage) RequestProgress(ctx context.Context) error {
	if err := s.client.RequestProgress(clientv3.WithRequireLeader(ctx)); err != nil {
		return s.wrapError("asking for the progress of", err)
	}
	return nil
}

// WaitUntilFresh waits until a cache of this storage is as fresh as etcd was at the call. The
// errors are those of etcd and of [watchcache.Cache.WaitUntilFresh].
func (s *Storage) WaitUntilFresh(ctx context.Context, cache *watchcache.Cache) error {
	now, err := s.client.Get(ctx, s.prefix, clientv3.WithCountOnly())
	if err != nil {
		return s.wrapError("asking for the revision of", err)
	}
	return cache.WaitUntilFresh(ctx, uint64(now.Header.Revision))
}

func (s *Storage) event(change *clientv3.Event) (e watchcache.Event, err error) {
	e.Version = uint64(change.Kv.ModRevision)
	switch {
	case change.Type == mvccpb.DELETE && change.PrevKv == nil: // the old value has been compacted
		return e, &watchcache.ExpiredError{Version: e.Version - 1, Oldest: e.Version}
	case change.Type == mvccpb.DELETE:
		e.Type = watch.Deleted
		e.Object, err = s.object(change.PrevKv.Key, change.PrevKv.Value, change.PrevKv.ModRevision)
		return e, err
	case change.IsCreate():
		e.Type = watch.Added
	default:
		e.Type = watch.Modified
	}
	e.Object, err = s.object(change.Kv.Key, change.Kv.Value, change.Kv.ModRevision)
	return e, err
}

func (s *Storage) object(key, value []byte, revision int64) (*watchcache.Object, error) {
	o, err := watchcache.ParseJSON(value, s.fields...)
	if err == nil {
		o, err = o.WithIdentity(o.UID, uint64(revision))
	}
	if err != nil {
		return nil, fmt.Errorf("etcd's %s at revision %d: %w", key, revision, err)
	}
	if want := strings.TrimPrefix(string(key), s.prefix); o.Key != want {
		return nil, fmt.Errorf("etcd's %s at revision %d: its metadata has the key %s", key, revision, o.Key)
	}
	return o, nil
}

func (s *Storage) wrapError(what string, err error) error {
	return fmt.Errorf("%s %s in etcd: %w", what, s.prefix, err)
}
