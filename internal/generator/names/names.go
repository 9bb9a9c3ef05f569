// SPDX-License-Identifier: Apache-2.0

// Package names knows which names Go and the Kubernetes API allow.
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

// IsExported reports whether name is an exported identifier of Go.
func IsExported(name string) bool { return token.IsIdentifier(name) && token.IsExported(name) }

// SuggestExported ends a message about a name that isn't exported: with the same name in upper
// case, if that is an exported one.
func SuggestExported(name string) string {
	if up := UpperFirst(name); IsExported(up) {
		return ", did you mean " + up + "?"
	}
	return ""
}

// Folder returns the name of the folder and package of a group or version that Go calls name: the
// same in lower case, unless that has a meaning of its own in Go.
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

// IsGroup reports whether an API group can have this name; the core group has none.
func IsGroup(name string) bool {
	return name == "" || len(validation.IsDNS1123Subdomain(name)) == 0
}

// IsVersion reports whether an API version can have this name.
func IsVersion(name string) bool { return IsResource(name) && !strings.Contains(name, "-") }

// LooksLikeVersion reports whether a name is that of a version by Kubernetes' conventions, like v1
// or v2beta1.
func LooksLikeVersion(name string) bool { return version.MatchString(name) }

// IsResource reports whether a resource can have this name.
func IsResource(name string) bool { return len(validation.IsDNS1035Label(name)) == 0 }

var version = regexp.MustCompile(`^v[0-9]+((alpha|beta)[0-9]+)?$`)
