// SPDX-License-Identifier: Apache-2.0

package harness

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Choose returns the benchmarks with one of the comma-separated names, or below one; all of them
// for "".
func Choose(all []Bench, names string) ([]Bench, error) {
	if names == "" {
		return all, nil
	}
	var chosen []Bench
	wanted := strings.Split(names, ",")
	for _, b := range all {
		if slices.ContainsFunc(wanted, b.isOrLiesBelow) {
			chosen = append(chosen, b)
		}
	}
	for _, name := range wanted {
		if !slices.ContainsFunc(chosen, func(b Bench) bool { return b.isOrLiesBelow(name) }) {
			return nil, fmt.Errorf("there is no benchmark %q; there are %s; and the commands ./bench/generator, ./bench/watchcache, ./bench/shard", name, listNames(all))
		}
	}
	return chosen, nil
}

func (b Bench) isOrLiesBelow(name string) bool {
	return b.Name == name || strings.HasPrefix(b.Name, name+"/")
}

func listNames(benches []Bench) string {
	var names []string
	for _, b := range benches {
		names = append(names, b.Name)
	}
	return strings.Join(names, ", ")
}

func byName(all []Bench, name string) (Bench, error) {
	for _, b := range all {
		if b.Name == name {
			return b, nil
		}
	}
	return Bench{}, errors.New("there is no benchmark " + name)
}
