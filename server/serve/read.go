// SPDX-License-Identifier: Apache-2.0

package serve

import (
	"errors"
	"net/http"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/informer-gen/informer-gen/internal/request"
	"github.com/informer-gen/informer-gen/server/watchcache"
)

func (h *Handler) get(w http.ResponseWriter, req *http.Request, res Resource, r *request.Request) error {
	obj, err := res.Cache.Get(req.Context(), key(r), r.State.Version)
	if err != nil {
		return err
	}
	if obj == nil {
		return apierrors.NewNotFound(r.Resource.GroupResource(), r.Name)
	}
	return h.writeObject(w, http.StatusOK, obj.Bytes, res, r)
}

func (h *Handler) list(w http.ResponseWriter, req *http.Request, res Resource, r *request.Request) error {
	if err := res.Cache.WaitUntilFresh(req.Context(), r.State.Version); err != nil {
		return err
	}
	leave, err := h.joins.enter(req)
	if err != nil {
		return err
	}
	defer leave()
	o := watchcache.ListOptions{
		Filter: filter(r),
		Limit:  int(min(r.Limit, maxListLimit)),
		From:   r.From,
	}
	if r.State.Match == request.Exactly {
		o.Exact = r.State.Version
	} else {
		o.NotOlderThan = r.State.Version
	}
	list, err := res.Cache.List(req.Context(), o)
	if err != nil {
		if errors.As(err, new(*watchcache.ExpiredError)) {
			return r.Expired()
		}
		return err
	}
	meta := listMeta{ListMeta: metav1.ListMeta{ResourceVersion: formatVersion(list.Version)}}
	if r.Shard != "" {
		meta.Shard = &shardInfo{r.Shard}
	}
	if list.Continue != "" {
		meta.Continue = r.Next(int64(list.Version), list.Continue)
		if r.Labels.Empty() && r.Fields.Empty() && r.Shard == "" { // as in an API server
			meta.RemainingItemCount = new(int64(list.Remaining))
		}
	}
	h.writeList(w, list.Objects, meta, res, r)
	return nil
}

// maxListLimit exceeds the length of any list, and fits an int on every platform.
const maxListLimit = 1<<31 - 1

func filter(r *request.Request) watchcache.Filter {
	return watchcache.Filter{Namespace: r.Namespace, Labels: r.Labels, Fields: r.Fields, Shard: r.Shard}
}
