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

	apiVersion, kind   string // as far as read
	meta               listMeta
	hasItems           bool // items have begun
	skipped            int  // items not handed over
	hasItemWithoutKind bool // an item had no kind of its own
}

type listMeta struct {
	ResourceVersion string `json:"resourceVersion"`
	Continue        string `json:"continue"`
	ShardInfo       struct {
		Selector string `json:"selector"`
	} `json:"shardInfo"`
}

func (l *listReader) read() (List, error) {
	err := l.stream.format.list(l)
	if err == nil {
		err = l.check(l.hasItems)
	}
	if err == nil && !isVersion(l.meta.ResourceVersion) {
		err = fmt.Errorf("%w: the list has no metadata.resourceVersion, from which to watch", ErrMalformed)
	}
	if err == nil {
		return List{
			ResourceVersion: l.meta.ResourceVersion, Continue: l.meta.Continue, Skipped: l.skipped, Sharded: l.meta.ShardInfo.Selector != "",
		}, nil
	}
	switch err := err.(type) {
	case CallbackError, *Error, *BrokenError:
		return List{}, err
	case *scanError:
		if err.inItem {
			l.stream.itemNumber++
			return List{}, l.stream.fail(err.key, err.err, err.offset)
		}
	}
	l.stream.itemNumber = 0
	return List{}, l.stream.fail(object.Key{}, err, l.stream.feed.offset())
}

// begin is called before the first item. An API server writes kind and apiVersion before the items
// in JSON, and may do so in other formats. If they are wrong, no item is handed over.
func (l *listReader) begin() error {
	l.hasItems = true
	if l.kind != "" && l.apiVersion != "" {
		return l.check(true)
	}
	return nil
}

func (l *listReader) take(r *Item) error {
	l.stream.itemNumber++
	if r.err == nil && !r.known {
		r.err = l.stream.accept(r, l.itemKind())
		l.hasItemWithoutKind = l.hasItemWithoutKind || r.id.kind == ""
	}
	if r.err != nil {
		return l.stream.fail(r.id.key, r.err, r.offset)
	}
	if r.dropped {
		if l.stream.skipped != nil {
			l.stream.skipped()
		}
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
	kind, learned := l.stream.codec.expectedKind(), l.stream.firstKind
	if kind == "" && l.stream.codec.learn(l.itemKind()) {
		kind = l.itemKind()
	}
	kindMatches := l.itemKind() != "" && (kind == "" || l.itemKind() == kind)
	switch {
	case l.kind == "" || l.apiVersion == "":
		return fmt.Errorf("%w: the response does not say its apiVersion and kind; is this the address of a Kubernetes API?", ErrWrongKind)
	case l.stream.codec.metadataOnly && l.apiVersion == metadataAPIVersion && l.kind == metadataListKind:
		return nil
	case l.apiVersion != l.stream.codec.apiVersion, l.kind == "Status", l.kind == "Table", !kindMatches && (!items || l.hasItemWithoutKind):
		return fmt.Errorf("%w (of a list)", l.stream.codec.wrongKind(l.apiVersion, l.kind))
	case kind != "" && learned != "" && learned != kind:
		return l.stream.codec.wrongKind(l.apiVersion, learned)
	}
	return nil
}

// isVersion reports whether an object, a list or a bookmark can have this resourceVersion.
func isVersion(resourceVersion string) bool { return resourceVersion != "" && resourceVersion != "0" }
