// SPDX-License-Identifier: Apache-2.0

package sourcetest

import (
	"errors"
	"net/http"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Fault makes some requests go wrong.
type Fault struct {
	// On selects requests by verb; 0 means all.
	On Verb
	// Resource selects requests for one resource; the zero value means all.
	Resource schema.GroupVersionResource
	// Match, if not nil, selects requests, for instance by Method or Name. It is called with a lock
	// held: it must not call methods of the server or of its collections.
	Match func(Request) bool
	// Skip is the number of matching requests that pass before the first hit.
	Skip int
	// Times is the number of hits; 0 means one, [Always] no limit.
	Times int
	// Do changes the answer. It runs on the request's goroutine, may be called by several at once,
	// and may call the methods of the server and of its collections. For a write it runs before
	// anything is written, so its own writes come first.
	Do func(*Answer)
}

// Always is the Times of a permanent Fault.
const Always = -1

// Inject adds a fault. The first matching fault, in the order of Inject, that isn't used up hits a
// request. The returned function ends the fault; calling it again, or after the fault is used up,
// does nothing.
func (s *Server) Inject(f Fault) (end func()) {
	if f.Do == nil {
		panic("sourcetest: Inject: the fault does nothing: Do is nil")
	}
	if f.Times == 0 {
		f.Times = 1
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults = append(s.faults, &f)
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		f.Times = 0
	}
}

// Answer is the answer the server is about to send, for a [Fault] to change. Its content is the
// first one set of Err, Body, Status, Page, Object and the events of a watch.
//
// A write is done after the fault, unless the fault has set Err, Body or Status: then nothing is
// written. To have a write done without the client learning of it, set a Delay longer than the
// client's timeout, or a Cut.
type Answer struct {
	Request Request

	// Delay is how long the server waits before it answers.
	Delay time.Duration
	// Err makes the connection fail before any answer. In memory it is the request's error; over a
	// socket, syscall.ECONNRESET and syscall.ECONNREFUSED reset the connection and other errors
	// close it. [ErrHang] keeps it open without sending anything.
	Err error
	// Code is the status code; 0 means Status's code, or 201 for a created object, or 200.
	Code int
	// Header includes the Content-Type. If Status is set, it determines the Content-Type, unless a
	// Fault changes that here.
	Header http.Header
	// Body, if not nil, is sent unchanged.
	Body []byte
	// Status is a refusal. It is set if the server itself refuses the request.
	Status *metav1.Status
	// Page is the answer to a list; nil for other requests, and if the server itself refuses the
	// request.
	Page *Page
	// Object is the answer to a get, a copy that may be changed. It is nil for other requests; the
	// answer to a write is made after the fault.
	Object runtime.Object
	// Events, if not nil, is called with each event of a watch, bookmarks included, and returns the
	// events to send instead. It is called by one goroutine at a time.
	Events func(Event) []Event

	// Wire, if not nil, is called with the encoded body, or with each encoded event of a watch, and
	// returns the bytes to send instead.
	Wire func([]byte) []byte
	// Gzip compresses the body and sets the header. (Only net/http's own transport decompresses
	// it.)
	Gzip bool
	// Chunk is the number of bytes sent at once, after a pause of Pause each; 0 means all bytes.
	Chunk int
	Pause time.Duration
	// Cut, if positive, is the number of bytes of the body to send. If negative, it is the number
	// of bytes missing at the end of the body, which must not be a watch. Then the body ends with
	// CutErr, or normally if that is nil.
	Cut    int
	CutErr error

	write    write // nil unless the request is a write
	created  bool
	code     int
	encoding encoding
	stream   *stream
}

// ErrHang is the Answer.Err or Answer.CutErr of a connection that stays open but silent.
var ErrHang = errors.New("sourcetest: the connection hangs")

// Refuse returns the Do of a [Fault] that answers with a Status; see the function [Status]. For 429
// it sets the header Retry-After to a second, as API servers do.
func Refuse(code int) func(*Answer) {
	return func(a *Answer) {
		a.Status = Status(code)
		if code == http.StatusTooManyRequests {
			a.Header.Set("Retry-After", "1")
		}
	}
}

// Fail returns the Do of a [Fault] that makes the connection fail before any answer: with
// syscall.ECONNREFUSED, syscall.ECONNRESET, ErrHang, or any other error.
func Fail(err error) func(*Answer) {
	return func(a *Answer) { a.Err = err }
}

// Edit returns the Do of a [Fault] that changes the objects of a list, or the events of a watch,
// one by one. edit is called with each event, or with each object of a list as an ADDED event, and
// returns the events to send instead.
func Edit(edit func(Event) []Event) func(*Answer) {
	return func(a *Answer) {
		a.Events = edit
		if a.Page == nil {
			return
		}
		items := a.Page.Items
		a.Page.Items = nil
		for _, item := range items {
			for _, e := range edit(Event{"ADDED", item}) {
				a.Page.Items = append(a.Page.Items, e.Object)
			}
		}
	}
}

// Page is a list, or one page of it, before encoding.
type Page struct {
	APIVersion, Kind          string
	ResourceVersion, Continue string
	// Items are copies of the objects; they may be changed. nil is sent as null, in protobuf as an
	// empty object.
	Items []runtime.Object

	remaining *int64
}

// Event is one event of a watch, before encoding.
type Event struct {
	// Type is ADDED, MODIFIED, DELETED, BOOKMARK or ERROR; a [Fault] may set any other.
	Type string
	// Object is a copy of the object, which may be changed; an ERROR has a *metav1.Status. nil is
	// sent as null, in protobuf as an empty object.
	Object runtime.Object
}

// Status returns an API server's Status for a refusal: code 410 has the reason Expired, 403
// Forbidden, and so on.
func Status(code int) *metav1.Status {
	if code == http.StatusGone {
		status := apierrors.NewResourceExpired("too old resource version").Status()
		return typed(&status)
	}
	status := apierrors.NewGenericServerResponse(code, "get", schema.GroupResource{}, "", http.StatusText(code), 0, false).Status()
	return typed(&status)
}
