// SPDX-License-Identifier: Apache-2.0

package watchcache

import (
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/informer-gen/informer-gen/server/memory"
	"github.com/informer-gen/informer-gen/server/serve"
	"github.com/informer-gen/informer-gen/server/watchcache"
	"github.com/informer-gen/informer-gen/test/internal/caches"
)

// TestWrites sends writes to an API server, and to a handler with a storage in memory. It sends
// them one after the other, so equal answers mean equal objects.
func TestWrites(t *testing.T) {
	const file = "testdata/writes.txt"
	sections, known := readSections(t, file), readDeviations(t, "testdata/writes-deviations.txt")
	server, handler := newWriter(t, startAPI(t)), newWriter(t, startWritable(t))
	n := 0
	for _, s := range sections {
		for _, e := range s.exchanges {
			n++
			got := server.send(t, n, e)
			if got != e.answer && !*update {
				t.Errorf("%s: %s\n got %s\nwant %s", s.name, e.request, got, e.answer)
			}
			e.answer = got
			known.compare(t, s, e, handler.send(t, n, e))
		}
	}
	known.end(t)
	if *update {
		writeSections(t, file, sections)
	}
}

// startWritable starts a handler with its widgets in memory.
func startWritable(t *testing.T) *play {
	t.Helper()
	fields := []string{"spec.node", "spec.color"}
	storage := memory.New(fields...)
	cache := caches.Run(t, watchcache.Config{Storage: storage})
	handler, err := serve.New(serve.Config{Resources: []serve.Resource{{
		GroupVersionResource: schema.GroupVersionResource{Group: "samples.dev", Version: "v1", Resource: "widgets"},
		Kind:                 "Widget", Namespaced: true, Fields: fields, Cache: cache, Writer: storage,
	}}})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	return newPlay(t, server.URL)
}

// writer sends writes to a server. It names versions and uids after the number of the request that
// made them: {w3} and {u3}.
type writer struct {
	*play
	uids map[string]string // names by uid
}

func newWriter(t *testing.T, p *play) *writer {
	t.Helper()
	p.versions.add("r0", p.listVersion(t))
	p.server.tokens = map[string]string{"big": strings.Repeat("x", 4<<20), "long": strings.Repeat("x", 254)}
	return &writer{p, map[string]string{}}
}

// written is the content of answers to writes, besides [content].
type written struct {
	Kind     string `json:"kind"`
	Metadata struct {
		UID               string   `json:"uid"`
		ResourceVersion   string   `json:"resourceVersion"`
		Generation        int64    `json:"generation"`
		DeletionTimestamp string   `json:"deletionTimestamp"`
		Finalizers        []string `json:"finalizers"`
	} `json:"metadata"`
	Spec    json.RawMessage `json:"spec"`
	Status  any             `json:"status"`
	Details struct {
		Name string `json:"name"`
		UID  string `json:"uid"`
		Kind string `json:"kind"`
	} `json:"details"`
}

var (
	// generated is a name with an end made by the server.
	generated = regexp.MustCompile(`\bgen-[a-z0-9]{5}\b`)
	// compared is a version in a message about a precondition.
	compared = regexp.MustCompile(`\b(?:precondition|record) \((\d+)\)`)
)

// send sends the nth request, and returns the answer as a line of the file.
func (w *writer) send(t *testing.T, n int, e *exchange) string {
	t.Helper()
	x := w.play.send(t, w.server, []*exchange{e})[0]
	await(t, x.ended)
	var answer written
	if err := json.Unmarshal(x.reply.body, &answer); err == nil {
		w.learn(n, answer)
	}
	text := w.line(t, x)
	switch {
	case x.err != nil || x.reply.code >= 300:
	case answer.Kind == "Status":
		text += fmt.Sprintf(" %v of %s %s %s", answer.Status, answer.Details.Kind, answer.Details.Name, answer.Details.UID)
	case answer.Kind == "Widget":
		text += fmt.Sprintf(" %s gen=%d", answer.Metadata.UID, answer.Metadata.Generation)
		if answer.Metadata.DeletionTimestamp != "" {
			text += " deleting"
		}
		if len(answer.Metadata.Finalizers) > 0 {
			text += fmt.Sprintf(" finalizers=%v", answer.Metadata.Finalizers)
		}
		text += " " + string(answer.Spec)
	}
	if x.reply.warning != "" {
		text += " Warning=" + strconv.Quote(x.reply.warning)
	}
	text = compared.ReplaceAllStringFunc(text, func(found string) string {
		what, version, _ := strings.Cut(found, " (")
		return what + " (" + w.versions.name(strings.TrimSuffix(version, ")")) + ")"
	})
	for uid, name := range w.uids {
		text = strings.ReplaceAll(text, uid, name)
	}
	return strings.TrimSpace(generated.ReplaceAllString(text, "gen-*"))
}

// learn names the version and the uid of an answer if they are new.
func (w *writer) learn(n int, answer written) {
	version, err := strconv.ParseUint(answer.Metadata.ResourceVersion, 10, 64)
	if numbers := w.versions.numbers; err == nil && version > numbers[len(numbers)-1] {
		w.versions.add(fmt.Sprint("w", n), version)
	}
	uid := answer.Metadata.UID
	if name := fmt.Sprint("u", n); uid != "" && w.uids[uid] == "" {
		w.uids[uid] = name
		w.server.tokens[name] = uid
	}
}
