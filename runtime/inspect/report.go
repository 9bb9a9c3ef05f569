// SPDX-License-Identifier: Apache-2.0

package inspect

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/informer-gen/informer-gen/runtime/informer"
	"github.com/informer-gen/informer-gen/runtime/informer/factories"
	"github.com/informer-gen/informer-gen/runtime/reason"
	"github.com/informer-gen/informer-gen/runtime/reflector"
	"github.com/informer-gen/informer-gen/runtime/source"
)

type report struct {
	Time        time.Time          `json:"time"`
	Condition   condition          `json:"condition"` // the worst of all that should run
	Problems    []problem          `json:"problems,omitempty"`
	Informers   []informerReport   `json:"informers"` // the worst first
	Leadership  *Leadership        `json:"leadership,omitempty"`
	Controllers []controllerReport `json:"controllers,omitempty"` // the worst first
	Ring        *ringReport        `json:"ring,omitempty"`
	Key         *keyReport         `json:"key,omitempty"`
}

// informerReport describes one informer. Why and Advice are "" if it has no problem.
type informerReport struct {
	ID        string    `json:"-"` // of its section of the page
	Condition condition `json:"condition"`
	Why       string    `json:"why,omitempty"`
	Advice    string    `json:"advice,omitempty"`
	informer.Status
	Handlers []handlerReport `json:"handlers,omitempty"`
}

type handlerReport struct {
	Condition condition
	informer.HandlerStatus
}

// MarshalJSON adds the condition to the handler's own JSON.
func (h handlerReport) MarshalJSON() ([]byte, error) {
	status, err := h.HandlerStatus.MarshalJSON()
	if err != nil {
		return nil, err
	}
	return append(fmt.Appendf(nil, `{"condition":%q,`, h.Condition), status[1:]...), nil
}

type problem struct {
	Condition condition `json:"condition"`
	Name      string    `json:"name"` // of the informer, controller or ring
	Text      string    `json:"text"`
	Advice    string    `json:"advice,omitempty"`
	ID        string    `json:"-"` // of the page's section with details
}

func (s *server) report(query keyQuery, now time.Time) report {
	r := report{Time: now.UTC(), Condition: healthy, Informers: []informerReport{}}
	all := baseOf(s.factory).Informers()
	for n, i := range all {
		one := describe(withoutContents(i.Status()), resourceOf(i), now)
		one.ID = fmt.Sprintf("informer-%d", n+1)
		r.Informers = append(r.Informers, one)
		r.Condition = worse(r.Condition, one.Condition)
		if one.Why != "" {
			r.Problems = append(r.Problems, problem{one.Condition, one.Name, one.Why, one.Advice, one.ID})
		}
		for _, h := range one.Handlers {
			if c := h.Condition; c == stuck || c == behind {
				r.Problems = append(r.Problems, problem{c, one.Name, whyOfHandler(h.HandlerStatus, now), adviceOfHandler[c], one.ID})
				r.Condition = worse(r.Condition, c)
			}
		}
	}
	s.reportControllers(&r, now)
	s.reportRing(&r)
	slices.SortStableFunc(r.Informers, func(a, b informerReport) int { return b.Condition.rank() - a.Condition.rank() })
	slices.SortStableFunc(r.Controllers, func(a, b controllerReport) int { return b.Condition.rank() - a.Condition.rank() })
	slices.SortStableFunc(r.Problems, func(a, b problem) int { return b.Condition.rank() - a.Condition.rank() })
	if query.text != "" && query.err == nil {
		r.Key = explain(query.key, all, r.Controllers, now)
	}
	return r
}

// resourceOf returns an informer's resource. It is empty if the informer was made without one.
func resourceOf(i factories.Informer) schema.GroupVersionResource {
	if i, ok := i.(interface {
		Resource() schema.GroupVersionResource
	}); ok {
		return i.Resource()
	}
	return schema.GroupVersionResource{}
}

// baseOf returns the factory below f, or nil, which has no informers.
func baseOf(f factories.SharedInformerFactory) *factories.Factory {
	if f == nil {
		return nil
	}
	return f.Base()
}

// withoutContents replaces errors that may quote an object.
func withoutContents(s informer.Status) informer.Status {
	s.Reflector = reflectorWithoutContents(s.Reflector)
	if s.Namespaces != nil {
		n := *s.Namespaces
		n.Reflector = reflectorWithoutContents(n.Reflector)
		s.Namespaces = &n
	}
	s.Streams = slices.Clone(s.Streams)
	for n := range s.Streams {
		s.Streams[n].Reflector = reflectorWithoutContents(s.Streams[n].Reflector)
	}
	return s
}

func reflectorWithoutContents(s reflector.Status) reflector.Status {
	var decode *source.DecodeError
	var transform *source.TransformError
	switch why := reason.Of(s.LastError); {
	case why != reason.BadData && why != reason.Transform:
	case errors.As(s.LastError, &transform):
		s.LastError = fmt.Errorf("%s: the transform returned an error; the log has it", transform.Key)
	case errors.As(s.LastError, &decode) && decode.Key.Name != "":
		s.LastError = fmt.Errorf("%s: the object could not be decoded; the log has the error", decode.Key)
	default:
		s.LastError = errors.New("an object could not be decoded; the log has the error")
	}
	return s
}
