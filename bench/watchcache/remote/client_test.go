// SPDX-License-Identifier: Apache-2.0

package remote

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"testing/iotest"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	if PlayRole() {
		return
	}
	goleak.VerifyTestMain(m)
}

func TestClientsReadAnswersToTheirEnd(t *testing.T) {
	var asked atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		asked.Add(1)
		_, _ = w.Write([]byte("one\ntwo\n"))
	}))
	defer server.Close()
	c, err := Start(Task{URL: server.URL, Clients: 3, Times: 4})
	if err != nil {
		t.Fatal(err)
	}
	got, err := c.Await(func(n Count) bool { return n.Done == 3 })
	if err != nil {
		t.Fatal(err)
	}
	if want := (Count{Open: 3, Done: 3, Lines: 24, Bytes: 96}); got != want || asked.Load() != 12 {
		t.Errorf("got %+v from %d answers, want %+v from 12", got, asked.Load(), want)
	}
	if err := c.Stop(); err != nil {
		t.Error(err)
	}
}

func TestClientsComeBackWhenTheServerHasRoom(t *testing.T) {
	var asked atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if asked.Add(1) == 1 {
			w.Header().Set("Retry-After", "0")
			w.WriteHeader(http.StatusTooManyRequests)
		}
	}))
	defer server.Close()
	client := server.Client()
	resp, err := get(client, server.URL)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if asked.Load() != 2 {
		t.Errorf("the server was asked %d times, want 2", asked.Load())
	}
}

func TestClientsThatFailSayWhy(t *testing.T) {
	server := httptest.NewServer(http.NotFoundHandler())
	defer server.Close()
	c, err := Start(Task{URL: server.URL, Clients: 1, Times: 1})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Await(func(n Count) bool { return n.Done == 1 }); err == nil || !strings.Contains(err.Error(), "404") {
		t.Errorf("got error %v", err)
	}
	if err := c.Stop(); err != nil {
		t.Error(err)
	}
}

// The end may come in two reads.
func TestReadEndsWithALine(t *testing.T) {
	const text = "one\ntwo the-end\nthree\n"
	var c counter
	if err := (Task{Until: "the-end"}).read(iotest.OneByteReader(strings.NewReader(text)), &c); err != nil {
		t.Fatal(err)
	}
	if got, want := c.count(), (Count{Lines: 1, Bytes: int64(strings.Index(text, "\nthree"))}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
}
