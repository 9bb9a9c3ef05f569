// SPDX-License-Identifier: Apache-2.0

package relay

import (
	"bufio"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// clientsEnv makes the test binary run many clients, so that they are not measured with the relay.
// Its value is a [clientOptions] as text.
const clientsEnv = "INFORMER_RELAY_CLIENTS"

// clientOptions configures a process of clients.
type clientOptions struct {
	url, ca                string
	watches, perConnection int
}

func (c clientOptions) String() string {
	return fmt.Sprint(c.url, " ", c.ca, " ", c.watches, " ", c.perConnection)
}

// clientProcess is a running process of clients.
type clientProcess struct {
	lines *bufio.Scanner
	in    io.Writer
}

func startClients(b *testing.B, c clientOptions) *clientProcess {
	b.Helper()
	cmd := exec.CommandContext(b.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), clientsEnv+"="+c.String())
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		b.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		in.Close() // ends the process
		_ = cmd.Wait()
	})
	return &clientProcess{bufio.NewScanner(out), in}
}

// await sends a line to the clients, and waits until they repeat it.
func (p *clientProcess) await(b *testing.B, what string) {
	b.Helper()
	if _, err := fmt.Fprintln(p.in, what); err != nil {
		b.Fatal(err)
	}
	if !p.lines.Scan() || p.lines.Text() != what {
		b.Fatalf("the clients answered %q, %v; want %s", p.lines.Text(), p.lines.Err(), what)
	}
}

// runClients opens watches, and repeats each line of its input: "open" when all watches are open, a
// number when that many events have arrived.
func runClients(text string) error {
	var c clientOptions
	if _, err := fmt.Sscan(text, &c.url, &c.ca, &c.watches, &c.perConnection); err != nil {
		return err
	}
	data, err := os.ReadFile(c.ca)
	if err != nil {
		return err
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(data)
	var events atomic.Int64
	var opening sync.WaitGroup
	failed := make(chan error, c.watches)
	turn := make(chan struct{}, 50)
	var transport *http.Transport
	for n := range c.watches {
		if n%c.perConnection == 0 {
			transport = &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots}, ForceAttemptHTTP2: c.perConnection > 1}
		}
		turn <- struct{}{}
		opening.Add(1)
		client := &http.Client{Transport: transport}
		go func() {
			failed <- watchPods(client, c.url, n, &events, func() { <-turn; opening.Done() })
		}()
	}
	opening.Wait()
	for in := bufio.NewScanner(os.Stdin); in.Scan(); {
		want, err := strconv.ParseInt(in.Text(), 10, 64)
		for err == nil && events.Load() < want {
			select {
			case err := <-failed:
				return err
			case <-time.After(100 * time.Microsecond):
			}
		}
		fmt.Println(in.Text())
	}
	return nil
}

// watchPods counts the events of a watch. It calls opened when the answer begins.
func watchPods(client *http.Client, url string, n int, events *atomic.Int64, opened func()) error {
	opened = sync.OnceFunc(opened)
	defer opened()
	req, err := http.NewRequest(http.MethodGet, url+"/api/v1/pods?watch=true&timeoutSeconds=3600&sendInitialEvents=false&resourceVersion=0&resourceVersionMatch=NotOlderThan", nil)
	if err != nil {
		return err
	}
	req.Header.Set("Authorization", fmt.Sprint("Bearer client-", n))
	resp, err := client.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("watch %d: %s", n, resp.Status)
	}
	opened()
	buffer := make([]byte, 4096)
	for {
		read, err := resp.Body.Read(buffer)
		for _, char := range buffer[:read] {
			if char == '\n' {
				events.Add(1)
			}
		}
		if err != nil {
			return fmt.Errorf("watch %d: %w", n, err)
		}
	}
}
