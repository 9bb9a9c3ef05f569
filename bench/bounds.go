// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net/http"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/informer-gen/informer-gen/bench/data"
	"github.com/informer-gen/informer-gen/bench/harness"
	"github.com/informer-gen/informer-gen/bench/probe"
	"github.com/informer-gen/informer-gen/bench/server"
)

// The lower bounds of what comes from the wire.
const (
	reading   harness.Side = "reading the bytes"
	splitting harness.Side = "splitting into JSON values"
)

// prepareBound reads the bytes that the informers of a sync read, and doesn't decode them.
func prepareBound(e harness.Env, w server.World, by way) (func() (harness.Outcome, error), func() error, error) {
	run := func() (harness.Outcome, error) {
		c, err := probe.CostOf(func() error {
			for _, k := range []struct {
				kind data.Kind
				n    int
			}{{data.Pods, w.Pods}, {data.Certificates, w.Certificates}, {data.Routes, w.Routes}} {
				if k.n == 0 {
					continue
				}
				url, events := e.Server+k.kind.Path()+"?resourceVersion=0", 0
				if by == watchList {
					url, events = e.Server+k.kind.Path()+server.WatchListQuery, k.n+1
				}
				if err := readBound(e.Side, url, w.Protobuf, events, func() error { return nil }); err != nil {
					return err
				}
			}
			return nil
		})
		return harness.Outcome{Values: map[string]float64{wallTime: float64(c.Wall), cpuUsed: float64(c.CPU)}}, err
	}
	return run, nil, server.Begin(e.Server)
}

// prepareEventBound reads the events of a watch.
func prepareEventBound(e harness.Env, w server.World) (func() (harness.Outcome, error), func() error, error) {
	run := func() (harness.Outcome, error) {
		if err := server.Begin(e.Server); err != nil {
			return harness.Outcome{}, err
		}
		url := fmt.Sprintf("%s%s?watch=true&resourceVersion=%d", e.Server, data.Pods.Path(), data.CollectionVersion)
		c, err := probe.CostOf(func() error {
			return readBound(e.Side, url, w.Protobuf, w.Events, func() error { return server.Move(e.Server) })
		})
		per := c.Per(w.Events)
		return harness.Outcome{Values: map[string]float64{eventsPerSecond: 1e9 / per.Wall, "CPU time, per event": per.CPU}}, err
	}
	return run, nil, nil
}

// readBound reads an answer until it has so many events, or with 0 to its end. It calls opened when
// the answer has begun.
func readBound(s harness.Side, url string, protobuf bool, events int, opened func() error) error {
	req, err := http.NewRequest(http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	req.Header.Set("Accept", "application/json")
	if protobuf {
		req.Header.Set("Accept", "application/vnd.kubernetes.protobuf")
	}
	transport := &http.Transport{DisableCompression: true}
	defer transport.CloseIdleConnections()
	resp, err := (&http.Client{Transport: transport}).Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return errors.New("the server answers " + resp.Status)
	}
	if err := opened(); err != nil {
		return err
	}
	if s == splitting {
		return split(resp.Body, events)
	}
	count := lines
	if protobuf {
		count = new(frames).count
	}
	return read(resp.Body, events, count)
}

// read reads until the end, or until it has so many events, which count finds in the bytes.
func read(from io.Reader, events int, count func([]byte) int) error {
	buf := make([]byte, 256<<10)
	for seen := 0; ; {
		n, err := from.Read(buf)
		if events > 0 {
			if seen += count(buf[:n]); seen >= events {
				return nil
			}
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// lines counts events of JSON.
func lines(b []byte) int { return bytes.Count(b, []byte("\n")) }

// frames counts events of protobuf, each of which follows its length in four bytes.
type frames struct {
	head []byte // of a length that is not whole
	left int    // bytes of the present event that have not come
}

func (f *frames) count(b []byte) (n int) {
	for len(b) > 0 {
		if f.left > 0 {
			skip := min(f.left, len(b))
			b = b[skip:]
			if f.left -= skip; f.left == 0 {
				n++
			}
			continue
		}
		take := min(4-len(f.head), len(b))
		f.head, b = append(f.head, b[:take]...), b[take:]
		if len(f.head) == 4 {
			f.left, f.head = int(binary.BigEndian.Uint32(f.head)), f.head[:0]
		}
	}
	return n
}

func split(from io.Reader, events int) error {
	d := jsontext.NewDecoder(from)
	for range max(1, events) {
		if err := d.SkipValue(); err != nil {
			return err
		}
	}
	return nil
}
