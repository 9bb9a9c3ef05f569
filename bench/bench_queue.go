// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"strconv"

	"github.com/informer-gen/informer-gen/bench/harness"
	"github.com/informer-gen/informer-gen/runtime/object"
)

const (
	// loopedKeys go round in a loop.
	loopedKeys = 1000
	// bursts come one after the other.
	bursts = 3
)

func queueBenches() []harness.Bench {
	list := []harness.Bench{cycleBench()}
	for _, workers := range []int{1, 4, 64} {
		list = append(list, loopBench(workers))
	}
	for _, workers := range []int{1, 4, 64} {
		list = append(list, burstBench(workers))
	}
	return append(list, idleQueueBench())
}

// queueKeys are keys of two strings, of about 35 bytes of text.
func queueKeys(n int) []object.Key {
	keys := make([]object.Key, n)
	for i := range keys {
		keys[i] = object.Key{Namespace: fmt.Sprintf("namespace-%03d", i%100), Name: fmt.Sprintf("%s%08d", queueKeyName, i)}
	}
	return keys
}

const queueKeyName = "deployment-"

// numberOf returns which of the queueKeys it is.
func numberOf(key object.Key) int {
	n, err := strconv.Atoi(key.Name[len(queueKeyName):])
	if err != nil {
		return -1
	}
	return n
}

// queueBench measures work on a queue.
func queueBench(name string, title func(harness.Sizes) string, once func(q aQueue, z harness.Sizes) (harness.Outcome, error), measures ...harness.Measure) harness.Bench {
	return harness.Bench{
		Name: "queue/" + name, Title: title, Measures: measures, Others: []harness.Side{harness.ControllerRuntime},
		Prepare: func(e harness.Env) (func() (harness.Outcome, error), func() error, error) {
			return func() (harness.Outcome, error) {
				q, err := newQueue(e.Side)
				if err != nil {
					return harness.Outcome{}, err
				}
				defer q.shutDown()
				o, err := once(q, e.Sizes)
				if err == nil {
					err = checkMetrics(e.Side)
				}
				return o, err
			}, nil, nil
		},
	}
}
