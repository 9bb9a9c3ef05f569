// SPDX-License-Identifier: Apache-2.0

package config

import (
	"github.com/informer-gen/informer-gen/internal/generator/marker"
	"github.com/informer-gen/informer-gen/internal/generator/marker/kubebuilder"
)

// Markers returns the settings of the package itself as markers, named after the keys of the file
// and positioned at the values.
func (p *Package) Markers() []marker.Marker {
	var all []marker.Marker
	if v := p.GroupName; v.IsSet() {
		all = append(all, &marker.GroupName{At: at("groupName", v), Name: v})
	}
	if v := p.GroupGoName; v.IsSet() {
		all = append(all, &marker.GroupGoName{At: at("groupGoName", v), Name: v})
	}
	if v := p.VersionName; v.IsSet() {
		all = append(all, &marker.VersionName{At: at("versionName", v), Name: v})
	}
	return all
}

// Markers returns the settings of the kind as markers, like [Package.Markers].
func (k *Kind) Markers() []marker.Marker {
	var all []marker.Marker
	if v := k.Generate; v.IsSet() {
		all = append(all, &marker.Generate{At: at("generate", v), Value: v})
	}
	if v := k.Scope; v.IsSet() {
		all = append(all, &kubebuilder.Resource{At: at("scope", v), Scope: v})
	}
	if v := k.Resource; v.IsSet() {
		all = append(all, &marker.ResourceName{At: at("resource", v), Name: v})
	}
	if v := k.Plural; v.IsSet() {
		all = append(all, &marker.Plural{At: at("plural", v), Name: v})
	}
	if v := k.Deprecated; v.IsSet() {
		all = append(all, &kubebuilder.DeprecatedVersion{At: at("deprecated", v), Warning: v})
	}
	for _, index := range k.Indexes {
		all = append(all, index)
	}
	for _, projection := range k.Projections {
		all = append(all, projection)
	}
	return all
}

func at(key string, v marker.Value) marker.At { return marker.At{Name: key, Pos: v.Pos} }
