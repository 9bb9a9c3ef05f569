// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"sync"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// podServer answers list and watch requests for Pods from prepared bytes, as an API server with a watch cache does:
// lists at resourceVersion 0 whole, others in pages; watch-lists, watches from its resourceVersion on, in which nothing
// happens; 410 for others. It speaks JSON only, does not compress, and is the client's transport, without a socket. The
// bytes lie in files, outside of the heap that is measured. Set up once, it may be used by several goroutines.
type podServer struct {
	items           prepared // what stands between the brackets of a list: objects with a comma behind each
	events          prepared // what a watch-list sends: a line with an ADDED event for each
	resourceVersion string
	bytesPerPod     int
}

// newPodServer prepares a server with the first n of the full Pods. Close removes its files.
func newPodServer(n int) (_ *podServer, err error) {
	s := &podServer{resourceVersion: strconv.Itoa(n + 1)}
	defer func() {
		if err != nil {
			err = errors.Join(fmt.Errorf("preparing %d Pods: %w", n, err), s.Close())
		}
	}()
	if err := errors.Join(s.items.create(), s.events.create()); err != nil {
		return nil, err
	}
	for i := range n {
		pod, err := json.Marshal(fullPod(i))
		if err != nil {
			return nil, err
		}
		s.bytesPerPod += len(pod)
		// An API server leaves out the kind in lists of built-in kinds, and has it in events.
		item := append([]byte("{"), bytes.TrimPrefix(pod, []byte(`{"kind":"Pod","apiVersion":"v1",`))...)
		s.items.add(append(item, ','))
		s.events.add(fmt.Appendf(nil, `{"type":"ADDED","object":%s}`+"\n", pod))
	}
	s.bytesPerPod /= max(n, 1)
	return s, errors.Join(s.items.flush(), s.events.flush())
}

// Close removes the files.
func (s *podServer) Close() error { return errors.Join(s.items.remove(), s.events.remove()) }

// RoundTrip implements http.RoundTripper.
func (s *podServer) RoundTrip(req *http.Request) (*http.Response, error) {
	if req.Method != http.MethodGet || req.URL.Path != "/api/v1/pods" {
		return refuse(req, http.StatusNotFound, metav1.StatusReasonNotFound, "there are only pods here")
	}
	if !strings.Contains(req.Header.Get("Accept"), "application/json") {
		return refuse(req, http.StatusNotAcceptable, metav1.StatusReasonNotAcceptable, "there is only JSON here")
	}
	query := req.URL.Query()
	if query.Get("watch") != "" {
		return s.watch(req, query)
	}
	return s.list(req, query)
}

func (s *podServer) list(req *http.Request, query url.Values) (*http.Response, error) {
	n := len(s.items.ends)
	from, err := strconv.Atoi("0" + query.Get("continue"))
	if err != nil || from > n {
		return refuse(req, http.StatusBadRequest, metav1.StatusReasonBadRequest, "wrong continue token")
	}
	limit, err := strconv.Atoi("0" + query.Get("limit"))
	if err != nil {
		return refuse(req, http.StatusBadRequest, metav1.StatusReasonBadRequest, "wrong limit")
	}
	to := n
	if limit > 0 && query.Get("resourceVersion") != "0" {
		to = min(n, from+limit)
	}
	next := ""
	if to < n {
		next = fmt.Sprintf(`,"continue":"%d","remainingItemCount":%d`, to, n-to)
	}
	head := fmt.Sprintf(`{"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"%s"%s},"items":[`, s.resourceVersion, next)
	return answer(req, http.StatusOK, false, strings.NewReader(head), s.items.between(from, to, 1), strings.NewReader("]}\n")), nil
}

func (s *podServer) watch(req *http.Request, query url.Values) (*http.Response, error) {
	switch {
	case query.Get("sendInitialEvents") == "true":
		if query.Get("allowWatchBookmarks") != "true" || query.Get("resourceVersionMatch") != string(metav1.ResourceVersionMatchNotOlderThan) {
			return refuse(req, http.StatusUnprocessableEntity, metav1.StatusReasonInvalid, "a watch-list needs bookmarks and NotOlderThan")
		}
		end := fmt.Sprintf(`{"type":"BOOKMARK","object":{"kind":"Pod","apiVersion":"v1","metadata":{"resourceVersion":"%s",`+
			`"annotations":{%q:"true"}},"spec":{"containers":null},"status":{}}}`+"\n", s.resourceVersion, metav1.InitialEventsAnnotationKey)
		return answer(req, http.StatusOK, true, s.events.between(0, len(s.events.ends), 0), strings.NewReader(end)), nil
	case query.Get("resourceVersion") == s.resourceVersion:
		return answer(req, http.StatusOK, true), nil
	default:
		return refuse(req, http.StatusGone, metav1.StatusReasonExpired, "too old resource version")
	}
}

func refuse(req *http.Request, code int, reason metav1.StatusReason, message string) (*http.Response, error) {
	status, err := json.Marshal(metav1.Status{
		TypeMeta: metav1.TypeMeta{Kind: "Status", APIVersion: "v1"},
		Status:   metav1.StatusFailure, Code: int32(code), Reason: reason, Message: message,
	})
	return answer(req, code, false, bytes.NewReader(status)), err
}

// answer returns a response whose body is the parts; with hold, it then stays open until the client ends it.
func answer(req *http.Request, code int, hold bool, parts ...io.Reader) *http.Response {
	return &http.Response{
		StatusCode: code, Status: strconv.Itoa(code) + " " + http.StatusText(code),
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header:        http.Header{"Content-Type": {"application/json"}},
		ContentLength: -1,
		Request:       req,
		Body:          &body{ctx: req.Context(), parts: io.MultiReader(parts...), hold: hold, closed: make(chan struct{})},
	}
}

// body is the body of a response.
type body struct {
	ctx   context.Context // of the request, which it belongs to
	parts io.Reader
	hold  bool

	closing sync.Once
	closed  chan struct{}
}

func (b *body) Read(p []byte) (int, error) {
	select {
	case <-b.closed:
		return 0, http.ErrBodyReadAfterClose
	case <-b.ctx.Done():
		return 0, b.ctx.Err()
	default:
	}
	n, err := b.parts.Read(p)
	if n > 0 || err != io.EOF || !b.hold {
		return n, err
	}
	select {
	case <-b.closed:
		return 0, http.ErrBodyReadAfterClose
	case <-b.ctx.Done():
		return 0, b.ctx.Err()
	}
}

func (b *body) Close() error {
	b.closing.Do(func() { close(b.closed) })
	return nil
}

// prepared is a file of things that stand one behind the other.
type prepared struct {
	file    *os.File
	removed bool          // while it is open, where the system allows that: nothing is left if the program is killed
	buf     *bufio.Writer // remembers its first error for flush
	ends    []int64       // where each thing ends
}

func (p *prepared) create() (err error) {
	p.file, err = os.CreateTemp("", "informer-gen-bench-")
	if err == nil {
		p.removed = os.Remove(p.file.Name()) == nil
	}
	p.buf = bufio.NewWriter(p.file)
	return err
}

func (p *prepared) add(thing []byte) {
	_, _ = p.buf.Write(thing)
	end := int64(len(thing))
	if n := len(p.ends); n > 0 {
		end += p.ends[n-1]
	}
	p.ends = append(p.ends, end)
}

func (p *prepared) flush() error { return p.buf.Flush() }

// between returns the things from the one to before the other, without the last tail bytes.
func (p *prepared) between(from, to int, tail int64) io.Reader {
	if from >= to {
		return strings.NewReader("")
	}
	var begin int64
	if from > 0 {
		begin = p.ends[from-1]
	}
	return io.NewSectionReader(p.file, begin, p.ends[to-1]-tail-begin)
}

func (p *prepared) remove() error {
	if p.file == nil {
		return nil
	}
	err := p.file.Close()
	if !p.removed {
		err = errors.Join(err, os.Remove(p.file.Name()))
	}
	return err
}

var _ http.RoundTripper = (*podServer)(nil)

// podsResource is what it serves.
var podsResource = corev1.SchemeGroupVersion.WithResource("pods")
