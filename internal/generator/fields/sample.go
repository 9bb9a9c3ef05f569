// SPDX-License-Identifier: Apache-2.0

package fields

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
)

// Sample is a number of objects in JSON. ReadSample reads one.
type Sample struct {
	byKind map[string][]map[string]any
}

// ReadSample reads objects: a List as kubectl prints it, a list of one kind as the API server sends
// it, single objects, or several of these behind one another.
func ReadSample(r io.Reader) (*Sample, error) {
	s := &Sample{byKind: map[string][]map[string]any{}}
	decoder := json.NewDecoder(r)
	decoder.UseNumber()
	for n := 1; ; n++ {
		var document map[string]any
		err := decoder.Decode(&document)
		switch {
		case errors.Is(err, io.EOF) && n > 1:
			return s, nil
		case errors.Is(err, io.EOF):
			return nil, errors.New("it is empty, and no List of objects in JSON")
		case err != nil:
			return nil, fmt.Errorf("document %d isn't an object in JSON: %w", n, err)
		}
		if err := s.add(document, ""); err != nil {
			return nil, fmt.Errorf("document %d: %w", n, err)
		}
	}
}

// add adds an object, or those of a list. kind is that of an object that doesn't say it.
func (s *Sample) add(object map[string]any, kind string) error {
	if own, ok := object["kind"].(string); ok {
		kind = own
	}
	items, list := object["items"]
	if !list || !strings.HasSuffix(kind, "List") {
		if kind == "" {
			return errors.New("an object has no kind")
		}
		s.byKind[kind] = append(s.byKind[kind], object)
		return nil
	}
	all, ok := items.([]any)
	if !ok && items != nil {
		return fmt.Errorf("the items of %s are no list", kind)
	}
	for i, item := range all {
		object, ok := item.(map[string]any)
		if !ok {
			return fmt.Errorf("item %d of %s is no object", i, kind)
		}
		if err := s.add(object, strings.TrimSuffix(kind, "List")); err != nil {
			return fmt.Errorf("item %d of %s: %w", i, kind, err)
		}
	}
	return nil
}

// Kinds returns the kinds of the objects, sorted.
func (s *Sample) Kinds() []string {
	kinds := make([]string, 0, len(s.byKind))
	for kind := range s.byKind {
		kinds = append(kinds, kind)
	}
	slices.Sort(kinds)
	return kinds
}

// Saving is what a projection would save of the objects of a sample.
type Saving struct {
	Objects int
	// Bytes is the size of the objects in JSON without spaces, and KeptBytes that of the fields
	// that the projection has.
	Bytes, KeptBytes int
	// Heap is what the objects take in memory, as Go values that share nothing, and KeptHeap the
	// same for the projection. Both are estimates.
	Heap, KeptHeap int64
}

// Measure returns what the projection of k would save of the objects of its kind; ok is false if
// there can be no projection, or if the sample has no such objects.
func (k *Kind) Measure(s *Sample) (saving Saving, ok bool) {
	named, ok := k.Projection()
	if !ok {
		return Saving{}, false
	}
	return k.measure(named, s)
}

// measure is Measure for a projection with some fields. s may be nil.
func (k *Kind) measure(named []string, s *Sample) (saving Saving, ok bool) {
	if s == nil || len(s.byKind[k.Name]) == 0 {
		return Saving{}, false
	}
	objects, keep := s.byKind[k.Name], selected(named)
	narrow := keep.of(k.typ)
	for _, object := range objects {
		kept := keep.cut(object)
		saving.Objects++
		saving.Bytes += size(object)
		saving.KeptBytes += size(kept)
		saving.Heap += heap(k.typ, object)
		saving.KeptHeap += heap(narrow, kept)
	}
	return saving, true
}

func size(v any) int {
	data, err := json.Marshal(v)
	if err != nil { // what was decoded can be encoded
		return 0
	}
	return len(data)
}
