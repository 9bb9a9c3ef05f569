// SPDX-License-Identifier: Apache-2.0

// Package names has the rules for names of Go and the Kubernetes API.
package names

import (
	"go/doc"
	"go/token"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"k8s.io/apimachinery/pkg/util/validation"
)

// UpperFirst returns s with its first letter in upper case.
func UpperFirst(s string) string {
	first, size := utf8.DecodeRuneInString(s)
	if size == 0 {
		return s
	}
	return string(unicode.ToUpper(first)) + s[size:]
}

// IsExported reports whether name is an exported Go identifier.
func IsExported(name string) bool { return token.IsIdentifier(name) && token.IsExported(name) }

// SuggestExported ends a message about an unexported name: it suggests the name in upper case, if
// that is exported.
func SuggestExported(name string) string {
	if up := UpperFirst(name); IsExported(up) {
		return ", did you mean " + up + "?"
	}
	return ""
}

// Folder returns the folder and package name for a group or version called name in Go: name in
// lower case, unless Go gives that a special meaning.
func Folder(name string) string {
	name = strings.ToLower(name)
	switch name {
	case "documentation", "internal", "main", "testdata", "vendor":
		return name + "api"
	}
	if !token.IsIdentifier(name) || doc.IsPredeclared(name) || name == "init" || strings.HasSuffix(name, "_test") {
		return strings.ReplaceAll(name, "_", "") + "api"
	}
	return name
}

// IsGroup reports whether name is valid for an API group; the core group is "".
func IsGroup(name string) bool {
	return name == "" || len(validation.IsDNS1123Subdomain(name)) == 0
}

// IsVersion reports whether name is valid for an API version.
func IsVersion(name string) bool { return IsResource(name) && !strings.Contains(name, "-") }

// LooksLikeVersion reports whether name follows Kubernetes' conventions for versions, like v1 or
// v2beta1.
func LooksLikeVersion(name string) bool { return version.MatchString(name) }

// IsResource reports whether name is valid for a resource.
func IsResource(name string) bool { return len(validation.IsDNS1035Label(name)) == 0 }

var version = regexp.MustCompile(`^v[0-9]+((alpha|beta)[0-9]+)?$`)
