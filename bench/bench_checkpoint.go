// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"sync/atomic"

	"github.com/informer-gen/informer-gen/bench/harness"
	"github.com/informer-gen/informer-gen/bench/probe"
	"github.com/informer-gen/informer-gen/bench/report"
	"github.com/informer-gen/informer-gen/bench/rig"
	"github.com/informer-gen/informer-gen/bench/server"
	"github.com/informer-gen/informer-gen/runtime/informer"
)

// ourList is our side without a checkpoint.
const ourList harness.Side = "informer-gen's watch-list"

const (
	listRequests  = "requests that list"
	filePerObject = "size of the file, per object"
)

// checkpointBenches measure an informer that starts with the checkpoint of an earlier one, and the
// writing of one.
func checkpointBenches() []harness.Bench {
	json := func(z harness.Sizes) server.World { return server.World{Pods: z.Pods, Events: z.Changes / 10} }
	protobuf := func(z harness.Sizes) server.World {
		w := json(z)
		w.Protobuf = true
		return w
	}
	return []harness.Bench{
		restartBench("checkpoint/restart", "a watch-list in JSON", json),
		restartBench("checkpoint/restart-protobuf", "a watch-list in protobuf", protobuf),
		writeBench(json),
	}
}

// restartBench measures a start, from the first request to the handler's last event, beside a
// watch-list.
func restartBench(name, beside string, has func(harness.Sizes) server.World) harness.Bench {
	return harness.Bench{
		Name: name,
		Title: func(z harness.Sizes) string {
			w := has(z)
			return fmt.Sprintf("restart of an informer of %s Pods with a checkpoint, %s changes since, beside %s",
				report.Digits(float64(w.Pods)), report.Digits(float64(w.Events)), beside)
		},
		Measures: []harness.Measure{
			{Name: wallTime, Unit: harness.Time},
			{Name: cpuUsed, Unit: harness.Time, Ratio: 1},
			{Name: listRequests, Limit: harness.AtMost(0)},
			{Name: allocatedPer, Unit: harness.Bytes},
			{Name: retainedPer, Unit: harness.Bytes},
		},
		Against: ourList,
		Others:  []harness.Side{harness.ClientGo},
		World:   has,
		Prepare: func(e harness.Env) (func() (harness.Outcome, error), func() error, error) {
			dir, done, err := keepState(&e, has(e.Sizes))
			if err == nil {
				err = server.Move(e.Server)
			}
			return func() (harness.Outcome, error) { return restartOnce(e, has(e.Sizes), dir) }, done, err
		},
	}
}

// keepState has an informer of our side write a checkpoint. It returns the directory, "" for other
// sides, and what removes it.
func keepState(e *harness.Env, w server.World) (dir string, done func() error, err error) {
	if err := server.Begin(e.Server); err != nil || e.Side != harness.Ours {
		if e.Side == ourList {
			e.Side = harness.Ours
		}
		return "", nil, err
	}
	if dir, err = os.MkdirTemp("", "informer-gen-bench-"); err != nil {
		return "", nil, err
	}
	f, err := newFleet(*e, w, watchList, withCheckpoint(dir), 0, server.From{})
	if err == nil {
		var stop func()
		if stop, err = f.Start(); err == nil {
			err = f.WaitAdded()
			stop()
		}
	}
	return dir, func() error { return os.RemoveAll(dir) }, err
}

func withCheckpoint(dir string) rig.Setup {
	return rig.Setup{Strip: true, Options: []informer.Option{informer.WithCheckpoint(dir)}}
}

func restartOnce(e harness.Env, w server.World, dir string) (harness.Outcome, error) {
	var asked listCounter
	base := probe.LiveHeap()
	f, err := newFleet(e, w, watchList, withCheckpoint(dir), w.Events, server.From{Around: asked.around})
	if err != nil {
		return harness.Outcome{}, err
	}
	stop := func() {}
	c, err := probe.CostOf(func() (err error) {
		if stop, err = f.Start(); err != nil {
			return err
		}
		if err := f.WaitAdded(); err != nil {
			return err
		}
		return rig.Wait(f[0].Updated(), "the handler to be told of the changes")
	})
	defer func() { stop() }()
	if err != nil {
		return harness.Outcome{}, err
	}
	retained := probe.LiveHeap() - base
	stop()
	return harness.Outcome{Values: map[string]float64{
		wallTime:     float64(c.Wall),
		cpuUsed:      float64(c.CPU),
		listRequests: float64(asked.lists.Load()),
		allocatedPer: c.Per(w.Objects()).Bytes,
		retainedPer:  retained / float64(w.Objects()),
	}, Seen: f.See(e.Deep)}, nil
}

// listCounter counts requests for all objects.
type listCounter struct{ lists atomic.Int64 }

func (l *listCounter) around(next http.RoundTripper) http.RoundTripper {
	return roundTripper(func(r *http.Request) (*http.Response, error) {
		if query := r.URL.Query(); query.Get("watch") == "" || query.Get("sendInitialEvents") == "true" {
			l.lists.Add(1)
		}
		return next.RoundTrip(r)
	})
}

// writeBench measures what it costs to write a checkpoint, beside the watch-list that it saves.
func writeBench(has func(harness.Sizes) server.World) harness.Bench {
	return harness.Bench{
		Name: "checkpoint/write",
		Title: func(z harness.Sizes) string {
			return fmt.Sprintf("writing the checkpoint of %s Pods, beside their watch-list", report.Digits(float64(has(z).Pods)))
		},
		Measures: []harness.Measure{
			{Name: wallTime, Unit: harness.Time},
			{Name: cpuUsed, Unit: harness.Time},
			{Name: allocatedPer, Unit: harness.Bytes},
			{Name: filePerObject, Unit: harness.Bytes},
		},
		Against: ourList,
		World:   has,
		Prepare: func(e harness.Env) (func() (harness.Outcome, error), func() error, error) {
			if err := server.Begin(e.Server); err != nil {
				return nil, nil, err
			}
			if e.Side == ourList {
				e.Side = harness.Ours
				return func() (harness.Outcome, error) {
					o, err := syncAs(e, has(e.Sizes), watchList, rig.Setup{Strip: true})
					if err == nil {
						o.Values[filePerObject] = 0
					}
					return o, err
				}, nil, nil
			}
			dir, err := os.MkdirTemp("", "informer-gen-bench-")
			return func() (harness.Outcome, error) { return writeOnce(e, has(e.Sizes), dir) }, func() error { return os.RemoveAll(dir) }, err
		},
	}
}

// writeOnce stops an informer right after the sync, which writes its checkpoint.
func writeOnce(e harness.Env, w server.World, dir string) (harness.Outcome, error) {
	f, err := newFleet(e, w, watchList, withCheckpoint(dir), 0, server.From{})
	if err != nil {
		return harness.Outcome{}, err
	}
	stop, err := f.Start()
	if err == nil {
		err = f.WaitAdded()
	}
	if err != nil {
		return harness.Outcome{}, err
	}
	c, err := probe.CostOf(func() error {
		stop()
		return nil
	})
	if err != nil {
		return harness.Outcome{}, err
	}
	size, err := bytesIn(dir)
	return harness.Outcome{Values: map[string]float64{
		wallTime:      float64(c.Wall),
		cpuUsed:       float64(c.CPU),
		allocatedPer:  c.Per(w.Objects()).Bytes,
		filePerObject: size / float64(w.Objects()),
	}, Seen: f.See(e.Deep)}, err
}

// bytesIn returns the size of all files in a directory.
func bytesIn(dir string) (bytes float64, err error) {
	files, err := filepath.Glob(filepath.Join(dir, "*"))
	for _, path := range files {
		info, statErr := os.Stat(path)
		if statErr != nil {
			return 0, statErr
		}
		bytes += float64(info.Size())
	}
	return bytes, err
}
