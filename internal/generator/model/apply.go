// SPDX-License-Identifier: Apache-2.0

package model

// ClientGoConfigurations begins the import paths of client-go's apply configurations.
const ClientGoConfigurations = "k8s.io/client-go/applyconfigurations/"

// ApplyConfiguration is a generated type with the fields of an API type for server-side apply.
type ApplyConfiguration struct {
	// Structs are the struct types: first that of the kind, then those of its fields, without those
	// that come with another kind of the same package. Of their fields, Name, Embedded, Tag and the
	// Type of Value are set.
	Structs []*Struct
	// Deprecated means that a field's type has a "Deprecated: " doc comment.
	Deprecated bool
}
