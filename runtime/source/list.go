// SPDX-License-Identifier: Apache-2.0

package source

import (
	"fmt"
	"strings"

	"github.com/informer-gen/informer-gen/runtime/object"
)

// listReader reads a list: what it says of itself and its items, in any order.
type listReader struct {
	stream  *stream
	deliver func(object.Object) error

	apiVersion, kind string // as far as read
	meta             listMeta
	items            bool // items have begun
	skipped          int  // items that are not of the shard
	silent           bool // an item did not say its kind
}

// listMeta is what matters of a list's metadata.
type listMeta struct {
	ResourceVersion string `json:"resourceVersion"`
	Continue        string `json:"continue"`
}

func (l *listReader) read() (ListResult, error) {
	err := l.stream.format.list(l)
	if err == nil {
		err = l.check(l.items)
	}
	if err == nil && !isVersion(l.meta.ResourceVersion) {
		err = fmt.Errorf("%w: the list can't be watched from", ErrNoResourceVersion)
	}
	if err == nil {
		return ListResult{ResourceVersion: l.meta.ResourceVersion, Continue: l.meta.Continue, Skipped: l.skipped}, nil
	}
	switch err := err.(type) {
	case callbackError, *DecodeError:
		return ListResult{}, err
	case *scanError:
		if err.item {
			l.stream.item++
			return ListResult{}, l.stream.fail(err.key, err.err, err.offset)
		}
	}
	l.stream.item = 0
	return ListResult{}, l.stream.fail(object.Key{}, err, l.stream.feed.offset())
}

// begin is called before the first item. The API server says what the list is before its items, or
// in other formats may do so; then nothing of a wrong list is handed over.
func (l *listReader) begin() error {
	l.items = true
	if l.kind != "" && l.apiVersion != "" {
		return l.check(true)
	}
	return nil
}

// take checks what an item was read as, and hands it over.
func (l *listReader) take(r *reading) error {
	l.stream.item++
	if r.err == nil && !r.known {
		r.err = l.stream.accept(r, l.itemKind())
		l.silent = l.silent || r.id.kind == ""
	}
	if r.err != nil {
		return l.stream.fail(r.id.key, r.err, r.offset)
	}
	if !l.stream.codec.shard.has(r.obj) {
		l.skipped++
		return nil
	}
	if err := l.deliver(r.obj); err != nil {
		return callbackError{err}
	}
	return nil
}

// itemKind is the kind of items that don't say it themselves, "" if the list hasn't told it.
func (l *listReader) itemKind() string {
	if kind, ok := strings.CutSuffix(l.kind, "List"); ok {
		return kind
	}
	return ""
}

// check checks what the list says it is. A custom resource may name its list kind as it likes;
// there the items decide, all of which say their kind.
func (l *listReader) check(items bool) error {
	named := l.itemKind() != "" && (l.stream.codec.kind == "" || l.itemKind() == l.stream.codec.kind)
	switch {
	case l.kind == "" || l.apiVersion == "":
		return fmt.Errorf("%w: the response does not say its apiVersion and kind; is this the address of a Kubernetes API?", ErrWrongKind)
	case l.stream.codec.partial && l.apiVersion == metadataAPIVersion && l.kind == metadataListKind:
		return nil
	case l.apiVersion != l.stream.codec.apiVersion, l.kind == "Status", l.kind == "Table", !named && (!items || l.silent):
		return fmt.Errorf("%w (of a list)", l.stream.codec.wrongKind(l.apiVersion, l.kind))
	}
	return nil
}
