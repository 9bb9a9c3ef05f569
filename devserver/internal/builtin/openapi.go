// SPDX-License-Identifier: Apache-2.0

package builtin

import (
	"maps"
	"reflect"
	"slices"

	autoscalingv1 "k8s.io/api/autoscaling/v1"
	genericapiserver "k8s.io/apiserver/pkg/server"
	"k8s.io/kube-openapi/pkg/builder3"
	"k8s.io/kube-openapi/pkg/cached"
	"k8s.io/kube-openapi/pkg/common"
	"k8s.io/kube-openapi/pkg/common/restfuladapter"
	"k8s.io/kube-openapi/pkg/spec3"
	"k8s.io/kube-openapi/pkg/validation/spec"
)

// OpenAPIPrefixes returns the paths of built-in kinds. A server must leave them out of its OpenAPI
// when it prepares to run; ServeOpenAPI adds them.
func OpenAPIPrefixes() []string {
	prefixes := []string{"/api/"}
	for _, gv := range versions() {
		if gv.Group != "" {
			prefixes = append(prefixes, "/apis/"+gv.Group+"/")
		}
	}
	return prefixes
}

// ServeOpenAPI serves OpenAPI v3 of all kinds by a server that is prepared to run. It is built on
// the first request. The definitions of config must include those of apimachinery's types.
func (all *Kinds) ServeOpenAPI(server *genericapiserver.GenericAPIServer, config common.OpenAPIV3Config) {
	config.IgnorePrefixes = nil
	known := config.Definitions
	for _, path := range all.paths {
		server.OpenAPIV3VersionedService.UpdateGroupVersionLazy(path, cached.Once(cached.Func(func() (*spec3.OpenAPI, string, error) {
			config := config
			config.Definitions = cloned(known)
			d := definitions{known: config.Definitions, name: config.GetDefinitionName}
			d.refer(reflect.TypeFor[autoscalingv1.Scale]())
			for gvk, t := range schemeOf().AllKnownTypes() {
				if slices.Contains(versions(), gvk.GroupVersion()) {
					d.refer(t)
				}
			}
			for _, service := range restfuladapter.AdaptWebServices(server.Handler.GoRestfulContainer.RegisteredWebServices()) {
				if service.RootPath() == "/"+path {
					doc, err := builder3.BuildOpenAPISpecFromRoutes([]common.RouteContainer{service}, &config)
					return doc, path, err
				}
			}
			return &spec3.OpenAPI{}, path, nil
		})))
	}
}

// cloned returns a copy for one document: the builder writes to the map of definitions, and deletes
// from their extensions.
func cloned(known map[string]common.OpenAPIDefinition) map[string]common.OpenAPIDefinition {
	copied := make(map[string]common.OpenAPIDefinition, len(known))
	for name, d := range known {
		d.Schema.Extensions = maps.Clone(d.Schema.Extensions)
		copied[name] = d
	}
	return copied
}

// definitions describes Go types: their fields by reflection, their texts as generated into
// k8s.io/api. Facts found only in comments of the types are missing: required fields, and how
// server-side apply merges lists.
type definitions struct {
	known map[string]common.OpenAPIDefinition
	name  func(name string) (string, spec.Extensions)
}

// refer adds the definition of a struct, and returns a schema that refers to it.
func (d definitions) refer(t reflect.Type) (schema spec.Schema, name string) {
	named, ok := reflect.Zero(t).Interface().(interface{ OpenAPIModelName() string })
	if !ok {
		return d.define(t).Schema, ""
	}
	name = named.OpenAPIModelName()
	if _, ok := d.known[name]; !ok {
		d.known[name] = common.OpenAPIDefinition{} // ends the recursion of types
		d.known[name] = d.define(t)
	}
	title, _ := d.name(name)
	return *spec.RefSchema("#/components/schemas/" + common.EscapeJsonPointer(title)), name
}

func (d definitions) define(t reflect.Type) common.OpenAPIDefinition {
	zero := reflect.Zero(t).Interface()
	texts := textsOf(t)
	def := common.OpenAPIDefinition{Schema: spec.Schema{SchemaProps: spec.SchemaProps{Description: texts[""]}}}
	schema := &def.Schema
	if scalar, ok := zero.(interface {
		OpenAPISchemaType() []string
		OpenAPISchemaFormat() string
	}); ok {
		schema.Type, schema.Format = scalar.OpenAPISchemaType(), scalar.OpenAPISchemaFormat()
		if either, ok := zero.(interface{ OpenAPIV3OneOfTypes() []string }); ok {
			schema.Type, schema.OneOf = nil, common.GenerateOpenAPIV3OneOfSchema(either.OpenAPIV3OneOfTypes())
		}
		return def
	}
	schema.Type, schema.Properties = spec.StringOrArray{"object"}, map[string]spec.Schema{}
	for _, field := range reflect.VisibleFields(t) {
		name, inline := jsonName(field)
		if inline || name == "" || len(field.Index) > 1 && !promoted(t, field) {
			continue
		}
		property, dependencies := d.describe(field.Type)
		property.Description = texts[name]
		if depth := len(field.Index) - 1; depth > 0 {
			property.Description = textsOf(t.FieldByIndex(field.Index[:depth]).Type)[name]
		}
		for tag, extension := range map[string]string{"patchStrategy": "x-kubernetes-patch-strategy", "patchMergeKey": "x-kubernetes-patch-merge-key"} {
			if value := field.Tag.Get(tag); value != "" {
				property.AddExtension(extension, value)
			}
		}
		schema.Properties[name] = property
		def.Dependencies = append(def.Dependencies, dependencies...)
	}
	return def
}

// textsOf returns the texts of a struct's fields by their names in JSON, and its own under "".
func textsOf(t reflect.Type) map[string]string {
	if documented, ok := reflect.Zero(t).Interface().(interface{ SwaggerDoc() map[string]string }); ok {
		return documented.SwaggerDoc()
	}
	return nil
}

func (d definitions) describe(t reflect.Type) (schema spec.Schema, dependencies []string) {
	switch t.Kind() {
	case reflect.Pointer:
		return d.describe(t.Elem())
	case reflect.Struct:
		schema, name := d.refer(t)
		if name != "" {
			dependencies = []string{name}
		}
		return schema, dependencies
	case reflect.Slice:
		if t.Elem().Kind() == reflect.Uint8 {
			return *spec.StrFmtProperty("byte"), nil
		}
		items, dependencies := d.describe(t.Elem())
		return *spec.ArrayProperty(&items), dependencies
	case reflect.Map:
		values, dependencies := d.describe(t.Elem())
		return *spec.MapProperty(&values), dependencies
	default:
		schema := spec.Schema{}
		name, format := common.OpenAPITypeFormat(t.Kind().String())
		if name != "" {
			schema.Type, schema.Format = spec.StringOrArray{name}, format
		}
		return schema, nil
	}
}
