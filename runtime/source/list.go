// SPDX-License-Identifier: Apache-2.0

package source

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/go-json-experiment/json"

	"github.com/informer-gen/informer-gen/runtime/object"
)

// listDecoder reads {"kind", "apiVersion", "metadata", "items", …}, in any order and each at most once.
type listDecoder struct {
	*stream
	deliver func(object.Object) error

	apiVersion, kind string // as far as read
	silent           bool   // an item did not say its kind
	meta             struct {
		ResourceVersion string `json:"resourceVersion"`
		Continue        string `json:"continue"`
	}
}

func (d *listDecoder) decode() (ListResult, error) {
	if err := d.run(); err != nil {
		if cb, ok := err.(callbackError); ok {
			return ListResult{}, cb
		}
		var done *DecodeError
		if errors.As(err, &done) {
			return ListResult{}, err
		}
		d.item = 0
		return ListResult{}, d.fail(object.Key{}, err)
	}
	return ListResult{ResourceVersion: d.meta.ResourceVersion, Continue: d.meta.Continue}, nil
}

func (d *listDecoder) run() error {
	if _, err := d.token('{', "the response"); err != nil {
		return err
	}
	seen := map[string]bool{}
	for d.dec.PeekKind() != '}' {
		tok, err := d.dec.ReadToken()
		if err != nil {
			return err
		}
		name := tok.String()
		switch name {
		case "kind":
			d.kind, err = d.text("the list's kind")
		case "apiVersion":
			d.apiVersion, err = d.text("the list's apiVersion")
		case "metadata":
			err = json.UnmarshalDecode(d.dec, &d.meta)
		case "items":
			err = d.items()
		default:
			if err := d.dec.SkipValue(); err != nil {
				return err
			}
			continue
		}
		if err != nil {
			return err
		}
		if seen[name] {
			return fmt.Errorf("%w: the list has two of %q", ErrMalformed, name)
		}
		seen[name] = true
	}
	if _, err := d.dec.ReadToken(); err != nil {
		return err
	}
	if tok, err := d.dec.ReadToken(); err == nil {
		return fmt.Errorf("%w: a JSON %v after the end of the list", ErrMalformed, tok.Kind())
	} else if err != io.EOF {
		return err
	}
	if err := d.checkList(seen["items"]); err != nil {
		return err
	}
	if d.meta.ResourceVersion == "" {
		return fmt.Errorf("%w: the list can't be watched from", ErrNoResourceVersion)
	}
	return nil
}

func (d *listDecoder) items() error {
	if d.dec.PeekKind() == 'n' {
		_, err := d.dec.ReadToken()
		return err
	}
	if _, err := d.token('[', "the list's items"); err != nil {
		return err
	}
	// The API server says what the list is before its items; then nothing of a wrong list is handed over.
	if d.kind != "" && d.apiVersion != "" {
		if err := d.checkList(true); err != nil {
			return err
		}
	}
	for d.dec.PeekKind() != ']' {
		d.item++
		obj, id, err := d.object(nil, d.itemKind())
		if err != nil {
			return d.fail(id.key, err)
		}
		d.silent = d.silent || id.kind == ""
		if err := d.deliver(obj); err != nil {
			return callbackError{err}
		}
	}
	_, err := d.dec.ReadToken()
	return err
}

// itemKind is the kind of items that don't say it themselves, "" if the list hasn't told it.
func (d *listDecoder) itemKind() string {
	if kind, ok := strings.CutSuffix(d.kind, "List"); ok {
		return kind
	}
	return ""
}

// checkList checks what the list says it is. A custom resource may name its list kind as it likes; there the items decide,
// all of which say their kind.
func (d *listDecoder) checkList(items bool) error {
	named := d.itemKind() != "" && (d.codec.kind == "" || d.itemKind() == d.codec.kind)
	switch {
	case d.kind == "" || d.apiVersion == "":
		return fmt.Errorf("%w: the response does not say its apiVersion and kind; is this the address of a Kubernetes API?", ErrWrongKind)
	case d.apiVersion != d.codec.apiVersion, d.kind == "Status", d.kind == "Table", !named && (!items || d.silent):
		return fmt.Errorf("%w (of a list)", d.wrongKind(d.apiVersion, d.kind))
	}
	return nil
}
