// SPDX-License-Identifier: Apache-2.0

package serve

import (
	"net/http"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/informer-gen/informer-gen/runtime/watchcache"
	"github.com/informer-gen/informer-gen/runtime/watchcache/internal/request"
)

// get answers a request for one object.
func (h *Handler) get(w http.ResponseWriter, req *http.Request, res Resource, r *request.Request) error {
	key := r.Name
	if r.Namespace != "" {
		key = r.Namespace + "/" + r.Name
	}
	obj, err := res.Cache.Get(req.Context(), key, r.State.Version)
	if err != nil {
		return err
	}
	if obj == nil {
		return apierrors.NewNotFound(r.Resource.GroupResource(), r.Name)
	}
	data := obj.Bytes
	if r.Partial != "" {
		if data, err = appendPartial(nil, data, r.Partial); err != nil {
			return err
		}
	}
	h.writeAll(w, data, r.Gzip)
	return nil
}

// list answers a request for a collection.
func (h *Handler) list(w http.ResponseWriter, req *http.Request, res Resource, r *request.Request) error {
	o := watchcache.ListOptions{
		Filter: filter(r),
		Limit:  int(min(r.Limit, mostObjects)),
		From:   r.From,
	}
	if r.State.Match == request.Exactly {
		o.Exact = r.State.Version
	} else {
		o.NotOlderThan = r.State.Version
	}
	list, err := res.Cache.List(req.Context(), o)
	if err != nil {
		return expiredList(err, r)
	}
	meta := metav1.ListMeta{ResourceVersion: format(list.Version)}
	if list.Continue != "" {
		meta.Continue = request.Token{Version: int64(list.Version), Start: relative(list.Continue, r.Namespace)}.String()
		if r.Labels.Empty() && r.Fields.Empty() { // as in an API server, also if the cache knows
			meta.RemainingItemCount = new(int64(list.Remaining))
		}
	}
	return h.writeList(w, list.Objects, meta, kindOf(res, r.Partial), r)
}

// mostObjects is more than a list can have, and an int everywhere.
const mostObjects = 1<<31 - 1

func filter(r *request.Request) watchcache.Filter {
	return watchcache.Filter{Namespace: r.Namespace, Labels: r.Labels, Fields: r.Fields}
}

// relative returns a key as it is in the tokens of a list, which leave out its namespace.
func relative(key, namespace string) string {
	if namespace == "" {
		return key
	}
	return strings.TrimPrefix(key, namespace+"/")
}
