// SPDX-License-Identifier: Apache-2.0

package source

import (
	"reflect"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/informer-gen/informer-gen/runtime/object"
)

// slimType is a struct type with the fields of an API type, except that slimMeta stands in the place of metav1.ObjectMeta. Objects
// are decoded into one such struct and moved from there. That costs a copy of about a kilobyte; to look out for the dropped fields
// at every value of an object costs ten times as much.
type slimType struct {
	slim               reflect.Type // its first fields are slimHead's
	typeMeta, metadata int          // the fields of the API type that slimHead stands for
	fields             []slimField  // the others
}

// slimField is the place of a field in the API type and in the slim one.
type slimField struct{ api, slim int }

// slimHead is the beginning of every slim type.
type slimHead struct {
	Kind       string   `json:"kind,omitempty"`
	APIVersion string   `json:"apiVersion,omitempty"`
	Metadata   slimMeta `json:"metadata,omitempty"`
}

// newSlimType returns nil for a type that is not made like those of APIs: a struct that embeds metav1.TypeMeta and
// metav1.ObjectMeta, and nothing else.
func newSlimType(t reflect.Type) *slimType {
	if !slimMetaFits || t.Kind() != reflect.Struct || reflect.PointerTo(t).Implements(jsonUnmarshaler) || reflect.PointerTo(t).Implements(textUnmarshaler) {
		return nil
	}
	s := &slimType{typeMeta: -1, metadata: -1}
	fields := reflect.VisibleFields(reflect.TypeFor[slimHead]())[:reflect.TypeFor[slimHead]().NumField()]
	for i := range t.NumField() {
		f := t.Field(i)
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case f.Type == reflect.TypeFor[metav1.ObjectMeta]() && name == "metadata" && s.metadata < 0:
			s.metadata = i
		case f.Type == reflect.TypeFor[metav1.TypeMeta]() && f.Anonymous && name == "" && s.typeMeta < 0:
			s.typeMeta = i
		case f.Anonymous, !f.IsExported(), name == "kind", name == "apiVersion", name == "metadata",
			f.Name == "Kind", f.Name == "APIVersion", f.Name == "Metadata":
			return nil
		default:
			s.fields = append(s.fields, slimField{api: i, slim: len(fields)})
			fields = append(fields, reflect.StructField{Name: f.Name, Type: f.Type, Tag: f.Tag})
		}
	}
	if s.typeMeta < 0 || s.metadata < 0 {
		return nil
	}
	s.slim = reflect.StructOf(fields)
	return s
}

// slimObject is what the objects of one stream are decoded into, one after the other.
type slimObject struct {
	*slimType
	drop   *dropped
	value  reflect.Value
	target any // the pointer to value

	// Parts of value.
	kind, apiVersion *string
	meta             *slimMeta
}

func (s *slimType) new(drop *dropped) *slimObject {
	p := reflect.New(s.slim)
	v := p.Elem()
	return &slimObject{
		slimType: s, drop: drop, value: v, target: p.Interface(),
		kind:       v.Field(0).Addr().Interface().(*string),
		apiVersion: v.Field(1).Addr().Interface().(*string),
		meta:       v.Field(2).Addr().Interface().(*slimMeta),
	}
}

// decode decodes into obj, whose fields may have values before, as with any decoder.
func (s *slimObject) decode(obj object.Object, unmarshal func(any) error) error {
	dst := reflect.ValueOf(obj).Elem()
	typeMeta := dst.Field(s.typeMeta).Addr().Interface().(*metav1.TypeMeta)
	meta := dst.Field(s.metadata).Addr().Interface().(*metav1.ObjectMeta)
	*s.kind, *s.apiVersion = typeMeta.Kind, typeMeta.APIVersion
	s.meta.from(meta, s.drop)
	for _, f := range s.fields {
		s.value.Field(f.slim).Set(dst.Field(f.api))
	}
	err := unmarshal(s.target)
	typeMeta.Kind, typeMeta.APIVersion = *s.kind, *s.apiVersion
	s.meta.to(meta)
	for _, f := range s.fields {
		dst.Field(f.api).Set(s.value.Field(f.slim))
	}
	return err
}

// slimMeta has the fields of metav1.ObjectMeta.
type slimMeta struct {
	Name                       string                  `json:"name,omitempty"`
	GenerateName               string                  `json:"generateName,omitempty"`
	Namespace                  string                  `json:"namespace,omitempty"`
	SelfLink                   string                  `json:"selfLink,omitempty"`
	UID                        types.UID               `json:"uid,omitempty"`
	ResourceVersion            string                  `json:"resourceVersion,omitempty"`
	Generation                 int64                   `json:"generation,omitempty"`
	CreationTimestamp          metav1.Time             `json:"creationTimestamp,omitempty"`
	DeletionTimestamp          *metav1.Time            `json:"deletionTimestamp,omitempty"`
	DeletionGracePeriodSeconds *int64                  `json:"deletionGracePeriodSeconds,omitempty"`
	Labels                     map[string]string       `json:"labels,omitempty"`
	Annotations                slimAnnotations         `json:"annotations,omitempty"`
	OwnerReferences            []metav1.OwnerReference `json:"ownerReferences,omitempty"`
	Finalizers                 []string                `json:"finalizers,omitempty"`
	ManagedFields              slimManagedFields       `json:"managedFields,omitempty"`
}

// slimMetaFits is false with a version of apimachinery whose ObjectMeta has other fields. Then objects are decoded as they are, and
// what is dropped is dropped afterwards.
var slimMetaFits = func() bool {
	slim, full := reflect.TypeFor[slimMeta](), reflect.TypeFor[metav1.ObjectMeta]()
	fits := slim.NumField() == full.NumField()
	for i := 0; fits && i < full.NumField(); i++ {
		name, _, _ := strings.Cut(full.Field(i).Tag.Get("json"), ",")
		slimName, _, _ := strings.Cut(slim.Field(i).Tag.Get("json"), ",")
		fits = slim.Field(i).Name == full.Field(i).Name && slimName == name
	}
	return fits
}()

func (m *slimMeta) from(o *metav1.ObjectMeta, drop *dropped) {
	*m = slimMeta{
		Name:         o.Name,
		GenerateName: o.GenerateName,
		Namespace:    o.Namespace,
		//lint:ignore SA1019 it is decoded like the others
		SelfLink:                   o.SelfLink,
		UID:                        o.UID,
		ResourceVersion:            o.ResourceVersion,
		Generation:                 o.Generation,
		CreationTimestamp:          o.CreationTimestamp,
		DeletionTimestamp:          o.DeletionTimestamp,
		DeletionGracePeriodSeconds: o.DeletionGracePeriodSeconds,
		Labels:                     o.Labels,
		Annotations:                slimAnnotations{drop.annotations, o.Annotations},
		OwnerReferences:            o.OwnerReferences,
		Finalizers:                 o.Finalizers,
		ManagedFields:              slimManagedFields{drop.managedFields, o.ManagedFields},
	}
}

func (m *slimMeta) to(o *metav1.ObjectMeta) {
	o.Name = m.Name
	o.GenerateName = m.GenerateName
	o.Namespace = m.Namespace
	//lint:ignore SA1019 it is decoded like the others
	o.SelfLink = m.SelfLink
	o.UID = m.UID
	o.ResourceVersion = m.ResourceVersion
	o.Generation = m.Generation
	o.CreationTimestamp = m.CreationTimestamp
	o.DeletionTimestamp = m.DeletionTimestamp
	o.DeletionGracePeriodSeconds = m.DeletionGracePeriodSeconds
	o.Labels = m.Labels
	o.Annotations = m.Annotations.kept
	o.OwnerReferences = m.OwnerReferences
	o.Finalizers = m.Finalizers
	o.ManagedFields = m.ManagedFields.kept
}

// slimManagedFields are kept or not.
type slimManagedFields struct {
	skip bool
	kept []metav1.ManagedFieldsEntry
}

// UnmarshalJSONFrom implements json.UnmarshalerFrom.
func (m *slimManagedFields) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	if m.skip {
		return dec.SkipValue()
	}
	return json.UnmarshalDecode(dec, &m.kept)
}

// slimAnnotations are those that are kept.
type slimAnnotations struct {
	drop map[string]bool
	kept map[string]string
}

// UnmarshalJSONFrom implements json.UnmarshalerFrom.
func (a *slimAnnotations) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	if a.drop == nil || dec.PeekKind() != '{' {
		return json.UnmarshalDecode(dec, &a.kept)
	}
	if _, err := dec.ReadToken(); err != nil {
		return err
	}
	if a.kept == nil && dec.PeekKind() == '}' {
		a.kept = map[string]string{}
	}
	for dec.PeekKind() != '}' {
		tok, err := dec.ReadToken()
		if err != nil {
			return err
		}
		key := tok.String()
		if a.drop[key] {
			if err := dec.SkipValue(); err != nil {
				return err
			}
			continue
		}
		var value string
		if err := json.UnmarshalDecode(dec, &value); err != nil {
			return err
		}
		if a.kept == nil {
			a.kept = map[string]string{}
		}
		a.kept[key] = value
	}
	_, err := dec.ReadToken()
	return err
}
