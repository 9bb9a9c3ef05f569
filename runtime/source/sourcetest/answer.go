// SPDX-License-Identifier: Apache-2.0

package sourcetest

import (
	"net/http"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// faultLocked returns the fault that hits a request, or nil, and counts the hit.
func (s *Server) faultLocked(r Request) *Fault {
	kept := s.faults[:0]
	var hit *Fault
	for _, f := range s.faults {
		about := f.Times != 0 && f.On&r.Verb != 0 && (f.Resource == schema.GroupVersionResource{} || f.Resource == r.Resource)
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

// answer makes the answer to a request, and applies the fault that hits it.
func (s *Server) answer(req *http.Request) (*Answer, *body) {
	r := parseRequest(req)
	s.mu.Lock()
	s.requests = append(s.requests, r)
	c := s.collections[r.Resource]
	fault := s.faultLocked(r)
	s.mu.Unlock()

	a := &Answer{Request: r, Header: http.Header{}, encoding: jsonEncoding{c}}
	watching := r.Verb&(Watch|WatchList) != 0
	switch {
	case c == nil:
		a.Status = Status(http.StatusNotFound)
	case r.Verb == 0:
		a.Status = Status(http.StatusMethodNotAllowed)
	default:
		q, refusal := c.parseQuery(r)
		if q.encoding != nil {
			a.encoding = q.encoding
		}
		if refusal == nil && r.Verb != Watch {
			s.await(q.number, req.Context().Done())
		}
		switch {
		case refusal != nil:
			a.Status = refusal
		case watching:
			a.stream = c.watch(q)
		default:
			a.Page, a.Status = c.list(q)
		}
	}
	streamed, whole := a.encoding.contentType(watching), a.encoding.contentType(false)
	a.Header.Set("Content-Type", streamed)
	if fault != nil {
		fault.Do(a)
	}
	if a.Status != nil && a.Body == nil && a.Header.Get("Content-Type") == streamed {
		a.Header.Set("Content-Type", whole)
	}
	return a, newBody(req.Context(), a)
}
