// SPDX-License-Identifier: Apache-2.0

package decode

import (
	"fmt"
	"strings"

	"github.com/informer-gen/informer-gen/runtime/object"
)

type listReader struct {
	stream  *Stream
	deliver func(object.Object) error

	apiVersion, kind string // as far as read
	meta             listMeta
	items            bool // items have begun
	skipped          int  // items outside the shard
	silent           bool // an item had no kind of its own
}

type listMeta struct {
	ResourceVersion string `json:"resourceVersion"`
	Continue        string `json:"continue"`
}

func (l *listReader) read() (List, error) {
	err := l.stream.format.list(l)
	if err == nil {
		err = l.check(l.items)
	}
	if err == nil && !isVersion(l.meta.ResourceVersion) {
		err = fmt.Errorf("%w: no metadata.resourceVersion, without which the list can't be watched from", ErrMalformed)
	}
	if err == nil {
		return List{ResourceVersion: l.meta.ResourceVersion, Continue: l.meta.Continue, Skipped: l.skipped}, nil
	}
	switch err := err.(type) {
	case CallbackError, *Error, *BrokenError:
		return List{}, err
	case *scanError:
		if err.inItem {
			l.stream.number++
			return List{}, l.stream.fail(err.key, err.err, err.offset)
		}
	}
	l.stream.number = 0
	return List{}, l.stream.fail(object.Key{}, err, l.stream.feed.offset())
}

// begin is called before the first item. An API server writes kind and apiVersion before the items
// in JSON, and may do so in other formats. If they are wrong, no item is handed over.
func (l *listReader) begin() error {
	l.items = true
	if l.kind != "" && l.apiVersion != "" {
		return l.check(true)
	}
	return nil
}

func (l *listReader) take(r *Item) error {
	l.stream.number++
	if r.err == nil && !r.known {
		r.err = l.stream.accept(r, l.itemKind())
		l.silent = l.silent || r.id.kind == ""
	}
	if r.err != nil {
		return l.stream.fail(r.id.key, r.err, r.offset)
	}
	if !l.stream.codec.has(r.Object) {
		l.skipped++
		return nil
	}
	if err := l.deliver(r.Object); err != nil {
		return CallbackError{err}
	}
	return nil
}

func (l *listReader) itemKind() string {
	if kind, ok := strings.CutSuffix(l.kind, "List"); ok {
		return kind
	}
	return ""
}

// check checks the list's kind and apiVersion. A custom resource may have a list kind of any name;
// then the items decide, each with a kind.
func (l *listReader) check(items bool) error {
	kind, learned := l.stream.codec.expects(), l.stream.learned
	if kind == "" && l.stream.codec.learn(l.itemKind()) {
		kind = l.itemKind()
	}
	named := l.itemKind() != "" && (kind == "" || l.itemKind() == kind)
	switch {
	case l.kind == "" || l.apiVersion == "":
		return fmt.Errorf("%w: the response does not say its apiVersion and kind; is this the address of a Kubernetes API?", ErrWrongKind)
	case l.stream.codec.partial && l.apiVersion == metadataAPIVersion && l.kind == metadataListKind:
		return nil
	case l.apiVersion != l.stream.codec.apiVersion, l.kind == "Status", l.kind == "Table", !named && (!items || l.silent):
		return fmt.Errorf("%w (of a list)", l.stream.codec.wrongKind(l.apiVersion, l.kind))
	case kind != "" && learned != "" && learned != kind:
		return l.stream.codec.wrongKind(l.apiVersion, learned)
	}
	return nil
}

// isVersion reports whether an object, a list or a bookmark can have this resourceVersion.
func isVersion(resourceVersion string) bool { return resourceVersion != "" && resourceVersion != "0" }
