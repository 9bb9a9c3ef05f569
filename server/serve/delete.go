// SPDX-License-Identifier: Apache-2.0

package serve

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/informer-gen/informer-gen/internal/request"
	"github.com/informer-gen/informer-gen/server/watchcache"
)

// delete deletes an object, or marks it as being deleted while it has finalizers. If the storage
// has another version than the cache, delete waits for the cache and tries again.
func (c *write) delete() error {
	for {
		version := c.res.Cache.Status().Version
		err := c.deleteCached()
		if !errors.Is(err, watchcache.ErrConflict) {
			return refusal(err, c.r)
		}
		if err := c.res.Cache.WaitUntilFresh(c.ctx, version+1); err != nil {
			return err
		}
	}
}

func (c *write) deleteCached() error {
	stored, err := c.current(0)
	if err == nil && stored == nil {
		err = watchcache.ErrNotFound
	}
	if err != nil {
		return err
	}
	obj, err := parse(stored)
	if err == nil {
		err = c.content.Check(schema.GroupKind{Group: c.res.Group, Kind: c.res.Kind}, obj)
	}
	switch {
	case err != nil:
		return err
	case len(obj.GetFinalizers()) > 0:
		return c.markDeleted(obj, stored)
	case !c.content.DryRun:
		if err := c.remove(stored); err != nil {
			return err
		}
	}
	return c.answerDeleted(obj)
}

// markDeleted sets the object's deletionTimestamp. The object is removed with its last finalizer.
func (c *write) markDeleted(obj *unstructured.Unstructured, stored *watchcache.Object) error {
	if !request.MarkDeleted(obj) {
		return c.answer(http.StatusOK, stored.Bytes)
	}
	data, err := json.Marshal(obj.Object)
	if err != nil {
		return err
	}
	if c.content.DryRun {
		return c.answer(http.StatusOK, data)
	}
	if stored, err = c.res.Writer.Update(c.ctx, data); err != nil {
		return err
	}
	return c.answerStored(http.StatusOK, stored)
}

const deleteTimeout = 3 * time.Second

// remove removes an object from the storage unless it has changed. It waits, not for long, until
// the cache has seen that, so that the client's next request doesn't show the object.
func (c *write) remove(stored *watchcache.Object) error {
	ctx, cancel := context.WithTimeout(c.ctx, deleteTimeout)
	defer cancel()
	watcher, err := c.res.Cache.Watch(ctx, watchcache.WatchOptions{
		Filter: watchcache.Filter{Namespace: stored.Namespace(), Name: stored.Name()},
	})
	if err != nil {
		return err
	}
	defer watcher.Close()
	if _, err := c.res.Writer.Delete(c.ctx, stored.Key, watchcache.Preconditions{UID: stored.UID, Version: stored.Version}); err != nil {
		return err
	}
	for {
		events, err := watcher.Next(ctx)
		if err != nil {
			return nil
		}
		for _, e := range events {
			if e.Type == watch.Deleted && e.Object.UID == stored.UID {
				return nil
			}
		}
	}
}

func (c *write) answerDeleted(obj *unstructured.Unstructured) error {
	data, err := json.Marshal(c.r.Deleted(obj))
	if err != nil {
		return err
	}
	c.h.writeAll(c.w, http.StatusOK, request.JSON, append(data, '\n'), c.r.Gzip)
	return nil
}
