// SPDX-License-Identifier: Apache-2.0

package watchcache

import (
	"github.com/informer-gen/informer-gen/runtime/object"
	"github.com/informer-gen/informer-gen/server/internal/rawjson"
)

// ParseJSON returns the object encoded in data, which becomes its Bytes. fields names the declared
// fields, such as "spec.nodeName"; string, number and boolean values become Fields. It fails if
// data is not a JSON object with a name.
func ParseJSON(data []byte, fields ...string) (*Object, error) {
	reader, err := rawjson.NewReader(fields, nil)
	if err != nil {
		return nil, err
	}
	h, err := reader.Parse(data)
	if err != nil {
		return nil, err
	}
	return &Object{
		Key:     object.Key{Namespace: h.Namespace, Name: h.Name}.String(),
		UID:     h.UID,
		Version: h.Version,
		Labels:  PairsOf(h.Labels),
		Fields:  PairsOf(h.Fields),
		Bytes:   data,
	}, nil
}

// WithIdentity returns a copy of the object with this uid and version, also in its bytes, which
// must be JSON. Storages use it for objects they have written.
func (o *Object) WithIdentity(uid string, version uint64) (*Object, error) {
	data, err := rawjson.SetIdentity(o.Bytes, uid, version)
	if err != nil {
		return nil, err
	}
	c := *o
	c.UID, c.Version, c.Bytes = uid, version, data
	return &c, nil
}
