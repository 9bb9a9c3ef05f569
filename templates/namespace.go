// SPDX-License-Identifier: Apache-2.0

package templates

import (
	"fmt"
)

type space struct {
	c     *checker
	where string
	hint  string // what else can be done
	by    map[string]string
}

// space returns a name space in which some names are taken by what is generated for everyone.
func (c *checker) space(where string, taken ...string) *space {
	s := &space{c: c, where: where, by: map[string]string{}}
	for _, name := range taken {
		s.by[name] = "the generated code itself"
	}
	return s
}

func (s *space) add(name, what string) {
	if other, ok := s.by[name]; ok {
		s.c.errs = append(s.c.errs,
			fmt.Errorf("%s and %s both need the name %q in %s: one must be called otherwise%s", other, what, name, s.where, s.hint))
		return
	}
	s.by[name] = what
}
