// SPDX-License-Identifier: Apache-2.0

// Package config reads the configuration file, informer-gen.yaml: the settings of flags and
// markers, for a whole project and for packages whose comments the user can't edit.
//
// Unknown and repeated keys, values of the wrong type and forbidden values are errors with
// positions, reported all at once. Every value keeps its position, for errors found later.
//
// The structs of this package define the file format: their tags hold the names, allowed values and
// documentation, for the parser and the JSON schema alike.
package config

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/informer-gen/informer-gen/internal/generator/marker"
)

// FileName is the default name of the configuration file.
const FileName = "informer-gen.yaml"

// SchemaID is the address of the file's JSON schema, informer-gen.schema.json on the repository's
// main branch.
const SchemaID = "https://raw.githubusercontent.com/informer-gen/informer-gen/main/informer-gen.schema.json"

// File is a configuration file. File and folder names in it are relative to its own folder. A
// missing value has an invalid position.
type File struct {
	// Name is the name passed to [Read] or [Parse].
	Name string

	Version     marker.Value   `arg:"version" type:"integer" required:"true" allowed:"1" doc:"the version of this format"`
	Inputs      []marker.Value `arg:"inputs" flag:"PACKAGES" default:"./... from the folder of go.mod" doc:"the packages to read, as patterns of the go command: import paths, folders, ./..."`
	Output      marker.Value   `arg:"output" flag:"--output" default:"generated beside go.mod" doc:"the folder to write into"`
	Layout      marker.Value   `arg:"layout" flag:"--layout" default:"grouped" allowed:"grouped single" doc:"grouped has a folder for each group and version, single has one package for everything"`
	Controllers marker.Value   `arg:"controllers" flag:"--controllers" default:"false" allowed:"true false" doc:"gives informers a method Reconcile that creates a controller"`
	Apply       marker.Value   `arg:"applyConfigurations" flag:"--apply-configurations" default:"false" allowed:"true false" doc:"generates types for server-side apply that send the set fields only, zero values included"`
	Header      marker.Value   `arg:"header" flag:"--header" doc:"a file with comments for the top of each generated file, such as a licence and a //go:build line"`
	HeaderYear  marker.Value   `arg:"headerYear" type:"year" flag:"--header-year" doc:"replaces the word YEAR in the header"`
	Tags        []marker.Value `arg:"tags" flag:"--tags" doc:"build tags for the go command"`
	CRDs        []marker.Value `arg:"crds" flag:"--crds" doc:"YAML files with CustomResourceDefinitions, or folders with such files in them or below; group, scope and plural of the kinds are checked against them; templates are skipped"`
	Discover    marker.Value   `arg:"discover" flag:"--discover" default:"false" allowed:"true false" doc:"selects every type with metav1.TypeMeta and metav1.ObjectMeta in packages without marked types"`
	Plurals     []Entry        `arg:"plurals" flag:"--plural" doc:"the Go plurals of kinds for which the rules give the wrong one"`
	KeepGoing   marker.Value   `arg:"keepGoing" flag:"--keep-going" default:"false" allowed:"true false" doc:"generates for types that compile even if others don't"`
	Prune       marker.Value   `arg:"prune" flag:"--prune" default:"false" allowed:"true false" doc:"removes the files of packages that the inputs leave out"`
	AllowEmpty  marker.Value   `arg:"allowEmpty" flag:"--allow-empty" default:"false" allowed:"true false" doc:"lets a run without types to generate for succeed"`

	Packages []*Package `arg:"packages" doc:"settings of packages, instead of markers in their comments"`
}

// Entry is a user-chosen key, with its value.
type Entry struct {
	Key, Value marker.Value
}

// Package has the settings of one package.
type Package struct {
	marker.At

	Path        marker.Value   `arg:"path" required:"true" doc:"the import path of the package, or its folder if it begins with a dot; the inputs must include it"`
	GroupName   marker.Value   `arg:"groupName" empty:"true" marker:"+groupName" default:"the one in GroupVersion or SchemeGroupVersion" doc:"the API group of the package, empty for the core group"`
	GroupGoName marker.Value   `arg:"groupGoName" marker:"+groupGoName" default:"the first part of the group's name" doc:"the name of the group in Go, an exported identifier"`
	VersionName marker.Value   `arg:"versionName" marker:"+versionName" default:"the one in GroupVersion or SchemeGroupVersion, else the name of the package or of its folder" doc:"the API version of the package"`
	Discover    marker.Value   `arg:"discover" default:"that of the file" allowed:"true false" doc:"selects every type with metav1.TypeMeta and metav1.ObjectMeta if no type of the package is marked"`
	Only        []marker.Value `arg:"only" doc:"the kinds to generate for; all others of the package are left out"`
	Kinds       []*Kind        `arg:"kinds" doc:"settings of types, instead of markers above them"`
}

// Kind has the settings of one type of a Package.
type Kind struct {
	marker.At

	Name       marker.Value    `arg:"name" required:"true" doc:"the name of the type in Go"`
	Generate   marker.Value    `arg:"generate" allowed:"true false" marker:"+informer:generate" default:"whether a marker or discover selects it" doc:"true selects the type, false leaves it out, whatever the comments of the package say"`
	Scope      marker.Value    `arg:"scope" allowed:"Namespaced Cluster" marker:"+genclient:nonNamespaced" default:"that of the kind's other versions, else Namespaced" doc:"whether objects belong to namespaces"`
	Resource   marker.Value    `arg:"resource" marker:"+resourceName" default:"that of the kind's other versions, else the plural in lower case or, for types without +genclient and types that controller-gen reads, as controller-gen spells it" doc:"the plural in URLs"`
	Plural     marker.Value    `arg:"plural" marker:"+informer:plural" default:"the plural by the rules of Kubernetes' generators" doc:"the plural in Go, an exported identifier"`
	Deprecated marker.Value    `arg:"deprecated" marker:"+kubebuilder:deprecatedversion" doc:"deprecates the type, and says what to use instead"`
	Indexes    []*marker.Index `arg:"indexes" marker:"+informer:index" doc:"typed indexes, and the lister's methods that use them"`

	Projections []*marker.Project `arg:"projections" marker:"+informer:project" doc:"types with some of the fields, with their own informers and listers"`
}

// Find returns the name of the nearest FileName in dir or above it, not above top; "" if there is
// none.
func Find(dir, top string) (string, error) {
	for {
		name := filepath.Join(dir, FileName)
		switch info, err := os.Stat(name); {
		case err == nil && !info.IsDir():
			return name, nil
		case err != nil && !errors.Is(err, fs.ErrNotExist):
			return "", fmt.Errorf("looking for %s: %w", FileName, err)
		}
		parent := filepath.Dir(dir)
		if dir == top || parent == dir {
			return "", nil
		}
		dir = parent
	}
}

// Read reads the named file. If the file is readable but wrong, the error is a diag.List.
func Read(name string) (*File, error) {
	data, err := os.ReadFile(name)
	if err != nil {
		return nil, fmt.Errorf("reading the configuration file: %w", err)
	}
	file, wrong := Parse(name, data)
	if len(wrong) > 0 {
		return nil, wrong
	}
	return file, nil
}

// Texts returns the texts of values; nil if there are none.
func Texts(values []marker.Value) []string {
	var texts []string
	for _, v := range values {
		texts = append(texts, v.Text)
	}
	return texts
}

// True reports whether a boolean value is set and true.
func True(v marker.Value) bool { return v.Text == "true" }
