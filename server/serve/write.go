// SPDX-License-Identifier: Apache-2.0

package serve

import (
	"context"
	"errors"
	"net/http"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/informer-gen/informer-gen/internal/request"
	"github.com/informer-gen/informer-gen/server/watchcache"
)

// Writer stores what clients create, update and delete, as JSON. The storages in memory and in etcd
// are Writers. Methods may be called by any number of goroutines. They return an error that wraps
// [watchcache.ErrExists], [watchcache.ErrNotFound] or [watchcache.ErrConflict] if the state of the
// storage does not allow the write. An error that is an apierrors.APIStatus is the client's answer.
type Writer interface {
	// Create stores an object, and returns it with its resourceVersion.
	Create(ctx context.Context, data []byte) (*watchcache.Object, error)
	// Update stores an object in the place of the one that has the same uid and resourceVersion,
	// and returns it with its new resourceVersion.
	Update(ctx context.Context, data []byte) (*watchcache.Object, error)
	// Delete removes the object under a key, and returns its last state.
	Delete(ctx context.Context, key string, p watchcache.Preconditions) (*watchcache.Object, error)
}

// write is a request that writes, and its answer.
type write struct {
	h    *Handler
	w    http.ResponseWriter
	ctx  context.Context
	res  Resource
	r    *request.Request
	sent *request.Write
}

// bodyTimeout is how long a client may take to send a body.
const bodyTimeout = 30 * time.Second

// write answers a request that writes.
func (h *Handler) write(w http.ResponseWriter, req *http.Request, res Resource, r *request.Request) error {
	control := http.NewResponseController(w)
	_ = control.SetReadDeadline(time.Now().Add(bodyTimeout)) // there is none without a network
	sent, err := r.ReadWrite(req, h.config.MaxBody)
	if err != nil {
		return err // with the deadline, which is also that of what net/http reads of the rest
	}
	_ = control.SetReadDeadline(time.Time{})
	c := &write{h, w, req.Context(), res, r, sent}
	switch r.Verb {
	case request.Create:
		return c.create()
	case request.Update:
		return c.update()
	}
	return c.delete()
}

// key returns the key of the object that the request is about.
func key(r *request.Request) string {
	if r.Namespace == "" {
		return r.Name
	}
	return r.Namespace + "/" + r.Name
}

// current returns the object that the request is about, nil if there is none. The cache is waited
// for if it may not know a version yet. One that it doesn't reach is left to be compared.
func (c *write) current(version uint64) (*watchcache.Object, error) {
	obj, err := c.res.Cache.Get(c.ctx, key(c.r), version)
	if errors.As(err, new(*watchcache.TooLargeError)) {
		return c.res.Cache.Get(c.ctx, key(c.r), 0)
	}
	return obj, err
}

// answer answers with an object.
func (c *write) answer(code int, data []byte) error {
	return c.h.writeObject(c.w, code, data, c.res, c.r)
}

// answerStored answers with an object that was stored, when the cache has it: what the client asks
// for next has what it has written. If that takes too long, the client need not wait.
func (c *write) answerStored(code int, stored *watchcache.Object) error {
	_ = c.res.Cache.WaitUntilFresh(c.ctx, stored.Version)
	return c.answer(code, stored.Bytes)
}

// refusal returns the answer to a write that the storage has refused.
func refusal(err error, r *request.Request) error {
	resource := r.Resource.GroupResource()
	switch {
	case errors.Is(err, watchcache.ErrExists):
		return apierrors.NewAlreadyExists(resource, r.Name)
	case errors.Is(err, watchcache.ErrNotFound):
		return apierrors.NewNotFound(resource, r.Name)
	case errors.Is(err, watchcache.ErrConflict):
		return r.Conflict(request.ErrModified)
	}
	return err
}
