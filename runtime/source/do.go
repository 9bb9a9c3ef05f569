// SPDX-License-Identifier: Apache-2.0

package source

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"

	"github.com/informer-gen/informer-gen/runtime/internal/decode"
	"github.com/informer-gen/informer-gen/runtime/object"
)

// Request is a request about one object of a resource, for [HTTP.Do].
type Request struct {
	// Method is the HTTP method: GET, POST, PUT, PATCH or DELETE.
	Method string
	// Key is the object's key. Its Namespace must be empty for a cluster-scoped resource. Its Name
	// is empty for POST, which goes to the collection.
	Key object.Key
	// Subresource is the requested part of the object, such as "status"; "" is the object itself.
	Subresource string
	// Query has the URL's parameters. nil means none.
	Query url.Values

	// Object, if not nil, is encoded as the body. A missing apiVersion and kind are added to a
	// copy. If ContentType is "", the format is protobuf or JSON, as in Formats of [Options]. With
	// types.ApplyPatchType it is JSON without zero-valued struct fields, because an apply claims
	// every field in its body.
	Object object.Object
	// Body is the body if Object is nil, in the format ContentType. The request has no body if
	// ContentType is "".
	Body        []byte
	ContentType string
}

// Do sends a request about one object, and returns the object in the server's answer, which belongs
// to the caller. It returns the zero T if the answer is a Status of success, as for a delete. The
// restrictions of [Options] don't apply to it.
//
// If a server refuses protobuf (406 or 415), Do repeats the request with JSON alone, which every
// later one uses, too. Do repeats no other request. It fails without a request if the method is
// none of the five, if a part of the address is invalid in a URL path, if Object can't be encoded,
// and if metadata alone would replace an object: T is *metav1.PartialObjectMetadata and the method
// POST or PUT. Other errors are listed in the package documentation. After any error except a
// StatusError, the server may have carried out the request; after a [DecodeError] it has.
//
// The text of an error names the object: where a StatusError's own text doesn't, an error wraps it
// as "update the status of widgets.samples.io/v1 (shop/blue): …".
func (h *HTTP[T]) Do(ctx context.Context, req Request) (T, error) {
	obj, err := h.c.do(ctx, req)
	typed, _ := obj.(T)
	return typed, err
}

var verbs = map[string]string{
	http.MethodGet: "get", http.MethodPost: "create", http.MethodPut: "update", http.MethodPatch: "patch", http.MethodDelete: "delete",
}

func (c *collection) do(ctx context.Context, req Request) (object.Object, error) {
	err := c.checkRequest(req)
	if ctx == nil {
		err = errors.New("the context is nil")
	}
	if err != nil {
		return nil, fmt.Errorf("source.HTTP.Do of %s: %w", describe(c.gvr), err)
	}
	obj, err := c.exchange(ctx, req)
	if err != nil {
		return nil, c.requestError(ctx, err)
	}
	return obj, nil // even if the context is done by now
}

func (c *collection) checkRequest(req Request) error {
	if verbs[req.Method] == "" {
		return fmt.Errorf("the method is %q; it must be GET, POST, PUT, PATCH or DELETE", req.Method)
	}
	for _, part := range []struct{ name, value string }{
		{"namespace", req.Key.Namespace}, {"name", req.Key.Name}, {"subresource", req.Subresource},
	} {
		if err := checkPath(part.name, part.value); err != nil {
			return err
		}
	}
	switch replaces := req.Method == http.MethodPost || req.Method == http.MethodPut; {
	case req.Key.Name == "" && req.Method != http.MethodPost:
		return errors.New("the key has no name, which only a POST may lack")
	case isNil(req.Object) && req.Object != nil:
		return fmt.Errorf("the object is a nil %T", req.Object)
	case isProjection(req.Object):
		return fmt.Errorf("a %T lacks fields, and the server would remove them; send a patch, or use the object's own type", req.Object)
	case replaces && c.codec.SentAs(false) != "":
		return errors.New("metadata alone can't replace an object; send a patch, or use the object's own type")
	}
	return nil
}

func (c *collection) exchange(ctx context.Context, req Request) (object.Object, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	key := req.Key
	if req.Object != nil {
		key = object.KeyOf(req.Object)
	}
	fail := func(err error) error {
		what := describe(c.gvr)
		if req.Subresource != "" {
			what = "the " + req.Subresource + " of " + what
		}
		return fmt.Errorf("%s %s (%s): %w", verbs[req.Method], what, key, err)
	}
	address := c.client.objectURL(c.gvr, req.Key, req.Subresource)
	address.RawQuery = req.Query.Encode()
	for {
		formats, accept := c.accept("get")
		body, contentType, err := c.body(req)
		if err != nil {
			return nil, fail(err)
		}
		resp, err := c.client.send(ctx, req.Method, address, accept, body, contentType)
		if err != nil {
			return nil, fail(err)
		}
		refused := resp.StatusCode == http.StatusNotAcceptable && c.fallBack(accept) ||
			resp.StatusCode == http.StatusUnsupportedMediaType && contentType == Protobuf.mediaType() && c.fallBackToJSON(accept)
		if refused {
			resp.Body.Close()
			continue
		}
		defer resp.Body.Close()
		if resp.StatusCode < 200 || resp.StatusCode > 299 {
			refused := responseError(resp, req.Method, c.gvr.GroupResource(), key.Name)
			if refersTo(refused, key.Name) {
				return nil, refused
			}
			return nil, fail(refused)
		}
		decodeErr := &DecodeError{Verb: verbs[req.Method], Resource: c.gvr, Key: key}
		f, err := formatOf(resp.Header.Get("Content-Type"), formats)
		if err != nil {
			decodeErr.Err = err
			return nil, decodeErr
		}
		body, err = io.ReadAll(io.LimitReader(resp.Body, maxObjectBytes))
		if err != nil {
			return nil, fail(fmt.Errorf("reading the response: %w", err))
		}
		return c.readObject(body, f, decodeErr)
	}
}

// readObject decodes an answer. decodeErr is the error if that fails.
func (c *collection) readObject(body []byte, f Format, decodeErr *DecodeError) (object.Object, error) {
	obj, err := c.codec.Object(body, decode.Format(f))
	if cause, ok := err.(*decode.Error); ok {
		if status, err := decode.Format(f).Status(body); err == nil && status.Kind == "Status" {
			return nil, nil
		}
		decodeErr.Offset, decodeErr.Err = cause.Offset, cause.Err
		return nil, decodeErr
	}
	return obj, err
}

// maxObjectBytes bounds the size of one object, at a hundred times the largest one a server can
// store.
const maxObjectBytes = 256 << 20

// body returns the body of a request and its media type, "" if there is none.
func (c *collection) body(req Request) (body []byte, mediaType string, err error) {
	if req.Object == nil {
		return req.Body, req.ContentType, nil
	}
	if mediaType = req.ContentType; mediaType == "" {
		mediaType = JSON.mediaType()
		if slices.Contains(c.formats, Protobuf) && !c.refused.formats.Load() {
			mediaType = Protobuf.mediaType()
		}
	}
	encode, ok := encoders[mediaType]
	if !ok {
		return nil, "", fmt.Errorf("objects can't be encoded as %q; encode the object, and set Body", mediaType)
	}
	obj, err := c.codec.Stamped(req.Object)
	if err == nil {
		body, err = encode(obj)
	}
	return body, mediaType, err
}
