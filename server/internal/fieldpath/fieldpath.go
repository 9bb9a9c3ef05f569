// SPDX-License-Identifier: Apache-2.0

// Package fieldpath parses paths of members to drop from objects.
package fieldpath

import (
	"errors"
	"fmt"
	"strings"
)

// requiredMembers are the members of metadata required by a cache.
var requiredMembers = []string{"name", "namespace", "uid", "resourceVersion", "labels"}

// Parse splits a path such as .spec.template or .metadata.annotations["example.com/note"] into the
// names of its members. A path can't lead into a list. It must not lead to a member required by a
// cache, nor around or below one.
func Parse(path string) ([]string, error) {
	names, err := split(path)
	if err != nil {
		return nil, fmt.Errorf(`the path %q to drop: %w; write it like .spec.template or .metadata.annotations["example.com/note"]`, path, err)
	}
	switch names[0] {
	case "apiVersion", "kind":
		return nil, fmt.Errorf("the path %q to drop: every object needs its %s", path, names[0])
	case "metadata":
		if len(names) == 1 {
			return nil, fmt.Errorf("the path %q to drop: every object needs its metadata", path)
		}
		for _, name := range requiredMembers {
			if names[1] == name {
				return nil, fmt.Errorf("the path %q to drop: every object needs its metadata.%s", path, name)
			}
		}
	}
	return names, nil
}

func split(path string) (names []string, err error) {
	for rest := path; rest != ""; {
		var name string
		switch {
		case strings.HasPrefix(rest, `["`):
			end := strings.Index(rest, `"]`)
			if end < 0 {
				return nil, errors.New(`a [" has no "]`)
			}
			name, rest = rest[len(`["`):end], rest[end+len(`"]`):]
		case rest[0] == '.':
			rest = rest[1:]
			end := strings.IndexAny(rest, ".[")
			if end < 0 {
				end = len(rest)
			}
			name, rest = rest[:end], rest[end:]
		default:
			return nil, fmt.Errorf("%q begins with neither a dot nor a bracket with a quoted name", rest)
		}
		if name == "" {
			return nil, errors.New("a name is empty")
		}
		names = append(names, name)
	}
	if names == nil {
		return nil, errors.New("it is empty")
	}
	return names, nil
}
