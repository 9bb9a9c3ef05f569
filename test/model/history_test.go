// SPDX-License-Identifier: Apache-2.0

package model

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
)

// A history is a sequence of bytes, so it can be random, made by a fuzzer, and shortened.
const (
	configBytes = 4
	stepBytes   = 3 // an operation and two arguments
	maxSteps    = 80
	minSteps    = 20
)

// randomHistory returns the history of a seed.
func randomHistory(seed uint64) []byte {
	rng := rand.New(rand.NewPCG(seed, 0))
	data := make([]byte, configBytes+stepBytes*(minSteps+rng.IntN(41)))
	for n := range data {
		data[n] = byte(rng.Uint32())
	}
	return data
}

// op is one kind of step.
type op struct {
	weight int
	name   string
	do     func(p *player, a, b byte)
}

var ops = []op{
	{10, "change", func(p *player, a, b byte) { p.change(a, b) }},
	{4, "burst", func(p *player, a, b byte) { p.burst(a, 2+int(b)%30) }},
	{4, "check", func(p *player, _, _ byte) { p.check() }},
	{4, "pause", func(p *player, a, b byte) { p.pause(a, b) }},
	{1, "bookmark", func(p *player, _, _ byte) { p.order(sendBookmark) }},
	{2, "end streams", func(p *player, _, _ byte) { p.order(endStream) }},
	{2, "cut streams", func(p *player, _, _ byte) { p.order(cutStream) }},
	{1, "repeat the last event", func(p *player, _, _ byte) { p.order(repeatLast) }},
	{1, "compact", func(p *player, _, _ byte) { p.server.compact() }},
	{3, "expire", func(p *player, a, b byte) { p.expire(a, b) }},
	{3, "fault", func(p *player, a, b byte) { p.fault(a, b) }},
	{1, "slow pages", func(p *player, a, _ byte) { p.slowPages(a) }},
	{2, "add handler", func(p *player, a, b byte) { p.addHandler(a, b) }},
	{1, "remove handler", func(p *player, a, _ byte) { p.removeHandler(a) }},
	{1, "stall handler", func(p *player, a, b byte) { p.stallHandler(a, b) }},
	{1, "add index", func(p *player, a, _ byte) { p.addIndex(int(a) % 3) }},
	{1, "stop or start", func(p *player, a, _ byte) { p.toggle(a%2 == 0) }},
	{1, "fail transforms", func(p *player, a, _ byte) { p.failTransforms(a) }},
	{1, "await", func(p *player, _, _ byte) { p.await() }},
}

var opOf = func() (all []op) {
	for _, o := range ops {
		all = append(all, slices.Repeat([]op{o}, o.weight)...)
	}
	return all
}()

// describe returns the text of a history, with a line for each step.
func describe(data []byte) string {
	var b strings.Builder
	config, steps := split(data)
	fmt.Fprintf(&b, "config %v\n", config)
	for step := range slices.Chunk(steps, stepBytes) {
		fmt.Fprintf(&b, "%s %d %d\n", opOf[int(step[0])%len(opOf)].name, step[1], step[2])
	}
	return b.String()
}

// split returns the two parts of a history, and cuts or fills them to valid lengths.
func split(data []byte) (config, steps []byte) {
	if len(data) < configBytes {
		data = append(bytes.Clone(data), make([]byte, configBytes-len(data))...)
	}
	config, steps = data[:configBytes], data[configBytes:]
	n := min(len(steps)/stepBytes, maxSteps)
	return config, steps[:n*stepBytes]
}
