// SPDX-License-Identifier: Apache-2.0

package templates

import "strconv"

// locals names the loop variables of a function, avoiding variables in scope and imports of the
// file.
type locals struct {
	file  *file
	inUse map[string]bool
}

// name returns and takes a name similar to like.
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

func (l *locals) free(names ...string) {
	for _, name := range names {
		delete(l.inUse, name)
	}
}
