// SPDX-License-Identifier: Apache-2.0

package templates

import "strconv"

// locals names the variables of loops in a function, each of them differently from those that are
// in scope and from the imports of the file.
type locals struct {
	file  *file
	inUse map[string]bool
}

// name returns a name that is like the given one, and takes it.
func (l *locals) name(like string) string {
	for n := 1; ; n++ {
		name := like
		if n > 1 {
			name += strconv.Itoa(n)
		}
		if !l.inUse[name] && l.file.local(name) {
			if l.inUse == nil {
				l.inUse = map[string]bool{}
			}
			l.inUse[name] = true
			return name
		}
	}
}

// free gives names back at the end of their scope.
func (l *locals) free(names ...string) {
	for _, name := range names {
		delete(l.inUse, name)
	}
}
