// SPDX-License-Identifier: Apache-2.0

package templates

import "github.com/informer-gen/informer-gen/internal/generator/model"

// configurations is sample with apply configurations: of a cluster-scoped type, which is deprecated
// and has a struct without fields, and of one with structs of client-go and types of packages that
// are all called v1.
func configurations() *model.Output {
	out := sample()
	types := out.Groups[0].Versions[0].Types
	types[0].Deprecated = "use gardens."
	types[0].Apply = &model.ApplyConfiguration{Structs: []*model.Struct{configured("Site")}}
	meta := []model.GoType{{Path: metaPath, Package: "v1", Name: "Time"}}
	list := []model.GoType{{Path: "k8s.io/api/core/v1", Package: "v1", Name: "ResourceList"}}
	pods := []model.GoType{{Name: "[]"}, {Path: model.ClientGoConfigurations + "core/v1", Package: "v1", Name: "PodSpecApplyConfiguration"}}
	spec := &model.Struct{Name: "WidgetSpecApplyConfiguration", Of: "v1alpha1.WidgetSpec", Fields: []*model.Field{
		member("Since", pointer(plain(meta))), member("Limits", plain(list)), member("Pods", plain(pods)),
	}}
	types[1].Apply = &model.ApplyConfiguration{Deprecated: true, Structs: []*model.Struct{
		configured("Widget", member("Spec", part(spec))), spec, {Name: "EmptyApplyConfiguration", Of: "v1alpha1.Empty"},
	}}
	return out
}

// configured returns the struct of a kind's apply configuration.
func configured(name string, fields ...*model.Field) *model.Struct {
	meta := func(of, tag string) *model.Field {
		t := model.GoType{Path: model.ClientGoConfigurations + "meta/v1", Package: "v1", Name: of + "ApplyConfiguration"}
		return &model.Field{Name: t.Name, Embedded: true, Tag: tag, Value: plain([]model.GoType{t})}
	}
	fields = append([]*model.Field{meta("TypeMeta", `json:",inline"`), meta("ObjectMeta", `json:"metadata,omitzero"`)}, fields...)
	return &model.Struct{Name: name + "ApplyConfiguration", Fields: fields}
}

// configurationsSingle is configurations in the layout Single.
func configurationsSingle() *model.Output {
	out := configurations()
	out.Layout, out.Package = model.Single, "generated"
	return out
}
