// SPDX-License-Identifier: Apache-2.0

package decode

import (
	"fmt"

	"github.com/informer-gen/informer-gen/runtime/object"
)

// Object decodes a response body with a single object. The object owns its parts, and has its kind
// set. It may have no resourceVersion, as in the answer to a dry-run create. An error about the
// body is an [*Error].
func (c *Codec) Object(body []byte, f Format) (object.Object, error) {
	var r Item
	formats[f].object(c, body, &r)
	s := Stream{codec: c}
	if r.err == nil {
		r.err = s.acceptSingle(&r)
	}
	if r.err != nil {
		return nil, s.fail(r.id.key, r.err, r.offset)
	}
	return r.Object, nil
}

func (s *Stream) acceptSingle(r *Item) error {
	kind, err := s.checkKind(r.id.apiVersion, r.id.kind, "")
	if err == nil && r.id.key.Name == "" {
		err = fmt.Errorf("%w: the object has no metadata.name", ErrMalformed)
	}
	if err != nil {
		return err
	}
	s.codec.setKind(r.Object, kind)
	return nil
}

func jsonObject(c *Codec, body []byte, r *Item) {
	pool := c.pools.json.pool(false)
	d := pool.get()
	if d == nil {
		d = &jsonDecoder{codec: c}
	}
	d.item(body, r)
	pool.put(d)
}

func protoObject(c *Codec, body []byte, r *Item) {
	e, err := parseEnvelope(body)
	if err != nil {
		r.err = err
		return
	}
	pool := c.pools.proto.pool(false)
	d := pool.get()
	if d == nil {
		d = &protoDecoder{codec: c}
	}
	d.object(e, r, false)
	pool.put(d)
}
