// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"

	"github.com/go-json-experiment/json/jsontext"
)

// The lower bounds of what comes from the wire.
const (
	reading   side = "reading the bytes"
	splitting side = "splitting into JSON values"
)

// prepareBound reads the bytes that the informers of a sync read, and doesn't decode them.
func prepareBound(e env, w world, by way) (func() (outcome, error), func() error, error) {
	run := func() (outcome, error) {
		c, err := costOf(func() error {
			for _, k := range []struct {
				kind kind
				n    int
			}{{pods, w.Pods}, {certificates, w.Certificates}, {routes, w.Routes}} {
				if k.n == 0 {
					continue
				}
				url, events := e.server+k.kind.path()+"?resourceVersion=0", 0
				// events of protobuf can't be counted without decoding them; a list has as many
				// bytes
				if by == watchList && !w.Protobuf {
					url, events = e.server+k.kind.path()+watchListQuery, k.n+1
				}
				if err := readBound(e.side, url, w.Protobuf, events, func() error { return nil }); err != nil {
					return err
				}
			}
			return nil
		})
		return outcome{Values: map[string]float64{wallTime: float64(c.wall), cpuUsed: float64(c.cpu)}}, err
	}
	return run, nil, begin(e.server)
}

// prepareEventBound reads the events of a watch.
func prepareEventBound(e env, w world) (func() (outcome, error), func() error, error) {
	run := func() (outcome, error) {
		if err := begin(e.server); err != nil {
			return outcome{}, err
		}
		url := fmt.Sprintf("%s%s?watch=true&resourceVersion=%d", e.server, pods.path(), collectionVersion)
		c, err := costOf(func() error {
			return readBound(e.side, url, w.Protobuf, w.Events, func() error { return move(e.server) })
		})
		per := c.per(w.Events)
		return outcome{Values: map[string]float64{eventsPerSecond: 1e9 / per.wall, "CPU time, per event": per.cpu}}, err
	}
	return run, nil, nil
}

const watchListQuery = "?watch=true&sendInitialEvents=true&allowWatchBookmarks=true&resourceVersionMatch=NotOlderThan&resourceVersion="

// readBound reads an answer until it has so many events, or with 0 to its end. It calls opened when
// the answer has begun.
func readBound(s side, url string, protobuf bool, events int, opened func() error) error {
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
	return read(resp.Body, events)
}

func read(from io.Reader, events int) error {
	buf := make([]byte, 256<<10)
	for lines := 0; ; {
		n, err := from.Read(buf)
		if events > 0 {
			if lines += bytes.Count(buf[:n], []byte("\n")); lines >= events {
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

func split(from io.Reader, events int) error {
	d := jsontext.NewDecoder(from)
	for range max(1, events) {
		if err := d.SkipValue(); err != nil {
			return err
		}
	}
	return nil
}
