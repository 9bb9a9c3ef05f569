// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
)

// side is one of the two that are compared.
type side int

const (
	ours side = iota
	theirs
)

var sides = []side{ours, theirs}

func (s side) String() string { return [...]string{"informer-gen", "lister-gen + informer-gen"}[s] }

// bench is a part of the table.
type bench struct {
	name string
	rows []measure
	// once makes one run of a side.
	once func(context.Context, *rig, side) (usage, error)
}

// measure is a row: what of a run's usage it shows, and the mark.
type measure struct {
	name string
	unit unit
	of   func(usage) float64
	mark mark
}

var (
	wall = func(u usage) float64 { return u.wall.Seconds() }
	cpu  = func(u usage) float64 { return u.cpu.Seconds() }
	peak = func(u usage) float64 { return float64(u.peak) }
)

// benches are all there are, in the order of the table.
var benches = []bench{
	{
		name: "generate",
		rows: []measure{
			{"generate: wall time", seconds, wall, 8},
			{"generate: CPU time", seconds, cpu, 8},
			{"generate: peak memory", bytes, peak, 4},
		},
		once: func(ctx context.Context, r *rig, s side) (usage, error) {
			if err := r.clean(s); err != nil {
				return usage{}, err
			}
			return r.generate(ctx, s, nil)
		},
	},
	{
		name: "cold",
		rows: []measure{
			{"cold build cache: wall time", seconds, wall, 1},
			{"cold build cache: CPU time", seconds, cpu, 1},
		},
		once: func(ctx context.Context, r *rig, s side) (usage, error) {
			if err := r.clean(s); err != nil {
				return usage{}, err
			}
			cache, err := os.MkdirTemp(r.temp, "cache")
			if err != nil {
				return usage{}, err
			}
			defer os.RemoveAll(cache)
			return r.generate(ctx, s, []string{"GOCACHE=" + cache})
		},
	},
	{
		name: "compile",
		rows: []measure{
			{"compile the output: CPU time", seconds, cpu, 3},
			{"compile the output: wall time", seconds, wall, 0},
		},
		once: func(ctx context.Context, r *rig, s side) (usage, error) {
			return r.compile(ctx, s)
		},
	},
}

// measure runs the sides in turn, once each before it counts.
func (b bench) measure(ctx context.Context, r *rig, runs int) ([]row, error) {
	var got [2][]usage
	for i := range runs + 1 {
		order := slices.Clone(sides)
		if i%2 == 1 {
			slices.Reverse(order)
		}
		for _, s := range order {
			u, err := b.once(ctx, r, s)
			if err != nil {
				return nil, fmt.Errorf("%v: %w", s, err)
			}
			if i > 0 {
				got[s] = append(got[s], u)
			}
		}
	}
	var rows []row
	for _, m := range b.rows {
		next := row{name: m.name, unit: m.unit, mark: m.mark}
		for _, s := range sides {
			for _, u := range got[s] {
				next.values[s] = append(next.values[s], m.of(u))
			}
		}
		rows = append(rows, next)
	}
	return rows, nil
}

// sizes generates on both sides and counts what comes out.
func (r *rig) sizes(ctx context.Context) ([]row, error) {
	rows := []row{{name: "kinds", unit: number}, {name: "files", unit: number}, {name: "lines", unit: number}}
	for _, s := range sides {
		if err := r.clean(s); err != nil {
			return nil, err
		}
		if _, err := r.generate(ctx, s, nil); err != nil {
			return nil, fmt.Errorf("%v: %w", s, err)
		}
		n, err := count(filepath.Join(r.module(s), generated))
		if err != nil {
			return nil, err
		}
		for i, v := range []int{n.kinds, n.files, n.lines} {
			rows[i].values[s] = []float64{float64(v)}
		}
	}
	if kinds := rows[0].values; kinds[ours][0] == 0 || kinds[theirs][0] == 0 {
		return nil, fmt.Errorf("the sides have generated %v and %v kinds", kinds[ours][0], kinds[theirs][0])
	}
	return rows, nil
}
