// SPDX-License-Identifier: Apache-2.0

package templates

import "fmt"

// space is a set of names of which each can be taken once, such as those that a package exports.
type space struct {
	c     *checker
	where string
	hint  string // what else can be done
	by    map[string]string
}

// space returns one in which the generated code itself has taken some names.
func (c *checker) space(where string, taken ...string) *space {
	s := &space{c: c, where: where, by: map[string]string{}}
	for _, name := range taken {
		s.by[name] = "the generated code itself"
	}
	return s
}

// add takes a name for what, or adds the error that something else has it.
func (s *space) add(name, what string) {
	if other, ok := s.by[name]; ok {
		s.c.errs = append(s.c.errs,
			fmt.Errorf("%s and %s both need the name %q in %s: one must be called otherwise%s", other, what, name, s.where, s.hint))
		return
	}
	s.by[name] = what
}
