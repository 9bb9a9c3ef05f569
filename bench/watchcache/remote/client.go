// SPDX-License-Identifier: Apache-2.0

package remote

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"sync"
	"sync/atomic"
	"time"
)

// counter is a Count that grows.
type counter struct {
	open, done   atomic.Int64
	lines, bytes atomic.Int64
	failed       atomic.Pointer[error] // the first error
}

func (c *counter) count() Count {
	n := Count{Open: int(c.open.Load()), Done: int(c.done.Load()), Lines: c.lines.Load(), Bytes: c.bytes.Load()}
	if err := c.failed.Load(); err != nil {
		n.Failed = (*err).Error()
	}
	return n
}

// do starts the clients, and answers each line with a count until there are no more lines. Then it
// leaves the clients to the end of the process.
func (t Task) do(in io.Reader, out io.Writer) error {
	var c counter
	client := &http.Client{Transport: &http.Transport{
		DisableCompression: true, MaxIdleConnsPerHost: t.Clients, ReadBufferSize: 16 << 10,
	}}
	for range t.Clients {
		go func() {
			if err := t.ask(client, &c); err != nil {
				c.failed.CompareAndSwap(nil, &err)
			}
			c.done.Add(1)
		}()
	}
	lines, answers := bufio.NewScanner(in), json.NewEncoder(out)
	for lines.Scan() {
		if err := answers.Encode(c.count()); err != nil {
			return err
		}
	}
	return lines.Err()
}

// ask is one client.
func (t Task) ask(client *http.Client, c *counter) error {
	for n := range t.Times {
		resp, err := get(client, t.URL)
		if err != nil {
			return err
		}
		if n == 0 {
			c.open.Add(1)
		}
		err = t.read(resp.Body, c)
		resp.Body.Close()
		if err != nil {
			return fmt.Errorf("reading %s: %w", t.URL, err)
		}
	}
	return nil
}

// get asks until the server has room for the client.
func get(client *http.Client, url string) (*http.Response, error) {
	for {
		resp, err := client.Get(url)
		if err != nil || resp.StatusCode == http.StatusOK {
			return resp, err
		}
		text, _ := io.ReadAll(resp.Body)
		resp.Body.Close()
		pause, err := strconv.Atoi(resp.Header.Get("Retry-After"))
		if resp.StatusCode != http.StatusTooManyRequests || err != nil {
			return nil, fmt.Errorf("%s: the server answers %s: %s", url, resp.Status, text)
		}
		time.Sleep(time.Duration(pause) * time.Second)
	}
}

// buffers are what answers are read into.
var buffers = sync.Pool{New: func() any { return new([64 << 10]byte) }}

// read reads an answer until it ends.
func (t Task) read(body io.Reader, c *counter) error {
	buffer := buffers.Get().(*[64 << 10]byte)
	defer buffers.Put(buffer)
	until, kept := []byte(t.Until), 0 // bytes of before, in which the end may have begun
	for {
		n, err := body.Read(buffer[kept:])
		c.bytes.Add(int64(n))
		c.lines.Add(int64(bytes.Count(buffer[kept:kept+n], []byte("\n"))))
		all := buffer[:kept+n]
		switch {
		case err == io.EOF:
			return nil
		case err != nil:
			return err
		case t.Until == "":
			continue
		case bytes.Contains(all, until):
			return nil
		}
		kept = copy(buffer[:], all[max(0, len(all)-len(until)):])
	}
}
