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

// Writer stores objects for clients, as JSON. The storages in memory and in etcd are Writers.
// Methods must be safe for concurrent use. They return an error that wraps [watchcache.ErrExists],
// [watchcache.ErrNotFound] or [watchcache.ErrConflict] if the state of the storage doesn't allow
// the write. An apierrors.APIStatus is sent to the client as it is.
type Writer interface {
	// Create stores an object, and returns it with its resourceVersion.
	Create(ctx context.Context, data []byte) (*watchcache.Object, error)
	// Update replaces the object with the same uid and resourceVersion, and returns the new object
	// with its new resourceVersion.
	Update(ctx context.Context, data []byte) (*watchcache.Object, error)
	// Delete removes the object under a key, and returns its last state.
	Delete(ctx context.Context, key string, p watchcache.Preconditions) (*watchcache.Object, error)
}

type write struct {
	h       *Handler
	w       http.ResponseWriter
	ctx     context.Context
	res     Resource
	r       *request.Request
	content *request.Write
}

const bodyTimeout = 30 * time.Second

func (h *Handler) write(w http.ResponseWriter, req *http.Request, res Resource, r *request.Request) error {
	control := http.NewResponseController(w)
	_ = control.SetReadDeadline(time.Now().Add(bodyTimeout)) // fails without a network
	sent, err := r.ReadWrite(req, h.config.MaxBody)
	if err != nil {
		return err // keep the deadline: it also limits net/http's reading of the rest
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

func key(r *request.Request) string {
	if r.Namespace == "" {
		return r.Name
	}
	return r.Namespace + "/" + r.Name
}

// current returns the request's object, or nil. It waits for a version the cache may not have yet;
// if the cache doesn't reach it, the caller's comparison finds that out.
func (c *write) current(version uint64) (*watchcache.Object, error) {
	obj, err := c.res.Cache.Get(c.ctx, key(c.r), version)
	if errors.As(err, new(*watchcache.TooLargeError)) {
		return c.res.Cache.Get(c.ctx, key(c.r), 0)
	}
	return obj, err
}

func (c *write) answer(code int, data []byte) error {
	return c.h.writeObject(c.w, code, data, c.res, c.r)
}

// answerStored answers with a stored object once the cache has it, so that the client's next
// request sees it. The client doesn't wait long for that.
func (c *write) answerStored(code int, stored *watchcache.Object) error {
	_ = c.res.Cache.WaitUntilFresh(c.ctx, stored.Version)
	return c.answer(code, stored.Bytes)
}

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
