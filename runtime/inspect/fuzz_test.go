// SPDX-License-Identifier: Apache-2.0

package inspect

import (
	"encoding/xml"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/informer-gen/informer-gen/runtime/controller"
	"github.com/informer-gen/informer-gen/runtime/informer"
	"github.com/informer-gen/informer-gen/runtime/internal/partition"
	"github.com/informer-gen/informer-gen/runtime/object"
	"github.com/informer-gen/informer-gen/runtime/reflector"
	"github.com/informer-gen/informer-gen/runtime/workqueue"
)

// FuzzFromThisMachine: a request is accepted only if package net parses its address and Host as the
// loopback, and no proxy has named itself.
func FuzzFromThisMachine(f *testing.F) {
	for _, host := range []string{"localhost", "LOCALHOST.:80", "127.0.0.1:1", "[::1]:1", "[::ffff:127.0.0.1]", "::1%lo", "localhost.evil.example", "127.0.0.1.evil.example:80", "[localhost]", "0", "", "127.1", "0x7f.1", "localhost:80:80", "a@localhost"} {
		f.Add("127.0.0.1:1", host, "X-Forwarded-For", "")
	}
	f.Add("[::1]:1", "localhost", "via", "x")
	f.Add("192.0.2.1:1", "localhost", "", "")
	f.Add("@", "localhost", "", "")
	f.Fuzz(func(t *testing.T, from, host, header, value string) {
		req := &http.Request{RemoteAddr: from, Host: host, URL: &url.URL{}, Header: http.Header{}}
		req.Header.Set(header, value)
		if FromThisMachine(req) != nil {
			return
		}
		for _, text := range []string{from, host} {
			name, port := text, ""
			if inner, rest, ok := strings.Cut(strings.TrimPrefix(text, "["), "]"); ok {
				name, port = inner, rest
			} else if strings.Count(text, ":") == 1 {
				name, port, _ = strings.Cut(text, ":")
			}
			address, _, _ := strings.Cut(name, "%")
			if !net.ParseIP(address).IsLoopback() && (text == from || !strings.EqualFold(strings.TrimSuffix(name, "."), "localhost")) {
				t.Errorf("%q, with port %q, counts as the loopback", text, port)
			}
		}
		for _, name := range forwarded {
			if req.Header.Get(name) != "" {
				t.Errorf("a request with %v is accepted", req.Header)
			}
		}
	})
}

// FuzzPage shows a text wherever the page has names, keys, versions or errors. The page must have
// the same elements as with a harmless one, and links and forms only to itself.
func FuzzPage(f *testing.F) {
	for _, s := range []string{"a", "<script>alert(1)</script>", `" onload="x`, `' onload='x`, "javascript:alert(1)", "//evil.example/", "../x?y#z", "&lt;", "&#x3c;", "</style>", "<!--", "]]>", "\x00\x01\x7f\u0085", "\xff\xfe", "\uFFFE\u202E", "a\r\nb"} {
		f.Add(s)
	}
	isOwn := regexp.MustCompile(`^(\?[-\w.%&=+*~]*|#(informer|controller)-\d|#ring|controllers/[^/]*|data:,)$`)
	want, _ := elementsOf(f, "a")
	f.Fuzz(func(t *testing.T, s string) {
		if s == "" { // then cells are empty
			return
		}
		got, texts := elementsOf(t, s)
		if !slices.EqualFunc(got, want, func(a, b xml.StartElement) bool { return a.Name == b.Name && len(a.Attr) == len(b.Attr) }) {
			t.Errorf("%q: the page has the elements %v, want %v", s, got, want)
		}
		for _, e := range got {
			for n, a := range e.Attr {
				if a.Name.Local == "href" && !isOwn.MatchString(a.Value) {
					t.Errorf("%q: a link to %q", s, a.Value)
				}
				if strings.HasPrefix(a.Name.Local, "on") || a.Name.Local == "style" {
					t.Errorf("%q: attribute %d of %v", s, n, e)
				}
			}
		}
		if !strings.Contains(texts, shownAs(s)) {
			t.Errorf("%q is not on the page", s)
		}
	})
}

// shownAs returns a text without the characters that the page replaces.
func shownAs(s string) string {
	var b strings.Builder
	for _, r := range s { // an invalid byte is U+FFFD
		if r < ' ' && r != '\n' && r != '\t' || r >= 0x7F && r < 0xA0 || r == 0xFFFE || r == 0xFFFF {
			r = '\uFFFD'
		}
		b.WriteRune(r)
	}
	return b.String()
}

// elementsOf returns the elements and the text of a page that shows s everywhere.
func elementsOf(t testing.TB, s string) (all []xml.StartElement, texts string) {
	key, now := object.Key{Namespace: s, Name: s}, time.Now()
	in := workqueue.KeyStatus[object.Key]{Key: key, Since: now, Failures: 9, Ready: true}
	failed := reflector.Status{LastError: errors.New(s)}
	status := informer.Status{
		Name: s, ResourceVersion: s, Reflector: failed,
		Streams:  []informer.StreamStatus{{Namespace: s, ResourceVersion: s, CheckpointError: s, Reflector: failed}, {}},
		Handlers: []informer.HandlerStatus{{Name: s, Callback: s, Key: key}},
	}
	one := describe(status, schema.GroupVersionResource{}, now)
	one.ID = "informer-1"
	c := controllerReport{ID: "controller-1", Condition: keysFail, Why: s, Status: controller.Status{
		Name: s, RunError: s, LastError: s, LastErrorKey: s + "x",
		Failing: []controller.KeyStatus{{KeyStatus: in, Error: s}},
		Queue:   workqueue.Status[object.Key]{Oldest: &in, Running: []workqueue.KeyStatus[object.Key]{in}},
	}}
	ring := describeRing(s, partition.Status{
		Identity: s, State: s, Coordinator: s + "x", By: s, Informers: []partition.Mode{{Informer: s, Mode: s}},
		Buckets: []partition.BucketStatus{{Owner: s, Next: s, Spare: s, State: s}, {LastOwner: s, UnownedFor: time.Minute, Revoking: true, State: s}},
		Members: []partition.MemberStatus{{Identity: s, State: s}, {Identity: s + "x", State: "active"}},
	})
	p := page{keyText: "x" + s, keyError: errors.New(s), refresh: 10, links: "controllers/", report: report{
		Informers: []informerReport{one}, Controllers: []controllerReport{c}, Leadership: &Leadership{Holder: s},
		Problems: []problem{{failing, s, s, s, "informer-1"}}, Ring: &ring,
		Key: &keyReport{
			Key:         s,
			Informers:   []keyInformer{{Informer: s, Stored: true, ResourceVersion: s, Why: s, Handlers: status.Handlers}, {Informer: s, Why: s}},
			Controllers: []keyController{{Controller: s, Where: "x" + s, Error: "x" + s}},
		},
	}}
	body := string(p.markup())
	decoder := xml.NewDecoder(strings.NewReader(strings.TrimPrefix(body, "<!DOCTYPE html>")))
	for {
		token, err := decoder.Token()
		if errors.Is(err, io.EOF) {
			return all, texts
		} else if err != nil {
			t.Fatalf("%q: the page is not well-formed: %v: %s", s, err, body)
		}
		switch token := token.(type) {
		case xml.StartElement:
			all = append(all, token.Copy())
		case xml.CharData:
			texts += string(token)
		case xml.EndElement:
		default:
			t.Errorf("%q: a token of type %T", s, token)
		}
	}
}
