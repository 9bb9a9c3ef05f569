// SPDX-License-Identifier: Apache-2.0

package protodec

import (
	"fmt"
	"reflect"
	"slices"

	"github.com/informer-gen/informer-gen/runtime/internal/dropped"
	"github.com/informer-gen/informer-gen/runtime/internal/gotype"
	"github.com/informer-gen/informer-gen/runtime/internal/share"
)

const (
	metadataNumber      = 1
	nameNumber          = 1
	namespaceNumber     = 3
	uidNumber           = 5
	versionNumber       = 6
	annotationsNumber   = 12
	ownersNumber        = 13
	managedFieldsNumber = 17
)

func (c *compiler) withDrop(root *compiled, drop *dropped.Parts) (*message, error) {
	fields := root.fields
	if len(fields) <= metadataNumber || !gotype.IsMetadata(fields[metadataNumber].fieldType) {
		return nil, fmt.Errorf("its field %d is not metadata", metadataNumber)
	}
	meta, err := c.metadataWithout(fields[metadataNumber].fieldType, drop)
	if err != nil {
		return nil, err
	}
	fields = slices.Clone(fields)
	fields[metadataNumber].msg = meta
	return newMessage(root, fields), nil
}

type metadataKey struct {
	typ     reflect.Type
	dropped string
}

func (c *compiler) metadataWithout(t reflect.Type, drop *dropped.Parts) (*message, error) {
	key := metadataKey{t, drop.String()}
	if m, ok := c.metadata.Load(key); ok {
		return m.(*message), nil
	}
	whole := c.message(gotype.Of(t)).get()
	if whole.err != nil {
		return nil, whole.err
	}
	fields := slices.Clone(whole.fields)
	has := func(number int) bool { return number < len(fields) && fields[number].container != containerNone }
	if drop.ManagedFields && has(managedFieldsNumber) {
		fields[managedFieldsNumber].container = containerDropped
	}
	if len(drop.Annotations) > 0 && has(annotationsNumber) {
		fields[annotationsNumber].container = containerAnnotations
		fields[annotationsNumber].site = c.site(share.Reference, fields[annotationsNumber].fieldType)
	}
	m, _ := c.metadata.LoadOrStore(key, newMessage(whole, fields))
	return m.(*message), nil
}

func newMessage(like *compiled, fields []field) *message {
	m := &message{}
	m.compiled.Store(&compiled{fields: fields, unnumbered: like.unnumbered})
	return m
}
