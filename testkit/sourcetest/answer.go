// SPDX-License-Identifier: Apache-2.0

package sourcetest

import (
	"context"
	"net/http"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/informer-gen/informer-gen/runtime/object"
)

// faultLocked returns the fault that hits a request, or nil, and counts the hit.
func (s *Server) faultLocked(r Request) *Fault {
	kept := s.faults[:0]
	var hit *Fault
	for _, f := range s.faults {
		about := f.Times != 0 && (f.On == 0 || f.On&r.Verb != 0) && r.Verb != 0 &&
			(f.Resource == schema.GroupVersionResource{} || f.Resource == r.Resource) && (f.Match == nil || f.Match(r))
		switch {
		case !about || hit != nil:
		case f.Skip > 0:
			f.Skip--
		default:
			hit = f
			if f.Times > 0 {
				f.Times--
			}
		}
		if f.Times != 0 {
			kept = append(kept, f)
		}
	}
	clear(s.faults[len(kept):])
	s.faults = kept
	return hit
}

func (s *Server) receive(r Request) (*collection, *Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests = append(s.requests, r)
	return s.collections[r.Resource], s.faultLocked(r)
}

// answer prepares the answer to a request, and applies the fault that hits it.
func (s *Server) answer(req *http.Request) (*Answer, *body) {
	r, target, err := parseRequest(req)
	c, fault := s.receive(r)
	a := &Answer{Request: r, Header: http.Header{}, encoding: jsonEncoding{c}}
	switch {
	case err != nil:
		a.Status = refusal(apierrors.NewBadRequest("reading the body: " + err.Error()))
	case c == nil, r.Verb != 0 && r.Subresource != "" && !(r.Subresource == statusPart && c.hasStatus()):
		a.Status = Status(http.StatusNotFound)
	case r.Verb == 0:
		a.Status = Status(http.StatusMethodNotAllowed)
	default:
		q, err := c.parse(req, target, r)
		if a.Status = refusal(err); err == nil {
			a.encoding = q.encoding
			a.Status = c.begin(req, a, q)
		}
	}
	watching := r.Verb&(Watch|WatchList) != 0
	streamed, content := a.encoding.contentType(watching), a.encoding.contentType(false)
	a.Header.Set("Content-Type", streamed)
	if fault != nil {
		fault.Do(a)
	}
	if a.write != nil && a.Err == nil && a.Body == nil && a.Status == nil {
		if err := a.write(a); err != nil {
			a.Status = refusal(err)
		}
	}
	if a.Status != nil && a.Body == nil && a.Header.Get("Content-Type") == streamed {
		a.Header.Set("Content-Type", content)
	}
	return a, newBody(req.Context(), a)
}

// begin answers a read, or parses a write. It returns a refusal, or nil.
func (c *collection) begin(req *http.Request, a *Answer, q query) *metav1.Status {
	r := a.Request
	if r.Verb == Write {
		var err error
		a.write, err = c.parseWrite(req, r, q)
		return refusal(err)
	}
	var status *metav1.Status
	switch r.Verb {
	case Watch, WatchList:
		a.stream = c.watch(req.Context(), q)
	case Get:
		a.Object, status = c.get(req.Context(), q, object.Key{Namespace: r.Namespace, Name: r.Name})
	default:
		a.Page, status = c.list(req.Context(), q)
	}
	return status
}

func (c *collection) get(ctx context.Context, q query, key object.Key) (runtime.Object, *metav1.Status) {
	h := c.present()
	found, err := h.cache.Get(ctx, key.String(), q.State.Version)
	switch {
	case err != nil:
		return nil, refusal(err)
	case found == nil:
		return nil, refusal(apierrors.NewNotFound(c.resource.GroupResource(), key.Name))
	}
	c.server.mu.Lock()
	defer c.server.mu.Unlock()
	return c.out(h.objects[found.Version], q.Partial), nil
}

func (c *collection) present() *history {
	c.server.mu.Lock()
	defer c.server.mu.Unlock()
	return c.history
}
