// SPDX-License-Identifier: Apache-2.0

package inspect

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/informer-gen/informer-gen/runtime/informer"
	"github.com/informer-gen/informer-gen/runtime/informer/factories"
	"github.com/informer-gen/informer-gen/runtime/reason"
	"github.com/informer-gen/informer-gen/runtime/reflector"
	"github.com/informer-gen/informer-gen/runtime/source"
)

type report struct {
	Time      time.Time        `json:"time"`
	Condition condition        `json:"condition"` // the worst of all
	Problems  []problem        `json:"problems,omitempty"`
	Informers []informerReport `json:"informers"`
	Queues    []queue          `json:"queues,omitempty"`
	Key       *keyReport       `json:"key,omitempty"`
}

// informerReport describes one informer. Why and Advice are "" if it has no problem.
type informerReport struct {
	ID        string    `json:"-"` // of its section of the page
	Condition condition `json:"condition"`
	Why       string    `json:"why,omitempty"`
	Advice    string    `json:"advice,omitempty"`
	informer.Status
}

func (i informerReport) LastEvent() (last time.Time) {
	for _, s := range i.Streams {
		if at := s.Reflector.LastEvent; at.After(last) {
			last = at
		}
	}
	return last
}

func (i informerReport) LastBookmark() (last time.Time) {
	for _, s := range i.Streams {
		if at := s.Reflector.LastBookmark; at.After(last) {
			last = at
		}
	}
	return last
}

func (i informerReport) RelistsBy() map[reason.Reason]int64 {
	by := map[reason.Reason]int64{}
	for _, s := range i.Streams {
		for cause, n := range s.Reflector.RelistsBy {
			by[cause] += n
		}
	}
	return by
}

type problem struct {
	Condition condition `json:"condition"`
	Name      string    `json:"name"` // of the informer
	Text      string    `json:"text"`
	Advice    string    `json:"advice,omitempty"`
	ID        string    `json:"-"` // of the page's section with details
}

func (s *server) report(query keyQuery, now time.Time) report {
	r := report{Time: now.UTC(), Condition: healthy, Informers: []informerReport{}}
	all := baseOf(s.factory).Informers()
	for n, i := range all {
		one := describe(withoutContents(i.Status()), now)
		one.ID = fmt.Sprintf("informer-%d", n+1)
		r.Informers = append(r.Informers, one)
		r.Condition = worse(r.Condition, one.Condition)
		if one.Why != "" {
			r.Problems = append(r.Problems, problem{one.Condition, one.Name, one.Why, one.Advice, one.ID})
		}
		for _, h := range one.Handlers {
			if c := conditionOfHandler(h, now); c == stuck || c == behind {
				r.Problems = append(r.Problems, problem{c, one.Name, whyOfHandler(h, now), adviceOfHandler[c], one.ID})
				r.Condition = worse(r.Condition, c)
			}
		}
	}
	slices.SortStableFunc(r.Problems, func(a, b problem) int { return cmp.Compare(b.Condition.rank(), a.Condition.rank()) })
	for _, read := range s.controllers {
		for _, c := range read() {
			r.Queues = append(r.Queues, queueOf(c))
		}
	}
	if query.text != "" && query.err == nil {
		r.Key = explain(query.key, all, r.Queues, now)
	}
	return r
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
