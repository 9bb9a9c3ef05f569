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

// Fault is something that goes wrong with some of the requests.
type Fault struct {
	// On are the verbs of requests that are hit; 0 means all of them.
	On Verb
	// Resource restricts the fault to requests for one resource; the zero value means all.
	Resource schema.GroupVersionResource
	// Match, if not nil, restricts the fault to the requests for which it returns true, such as
	// those with one Method or Name. It is called with a lock held: it must not call methods of the
	// server or of its collections.
	Match func(Request) bool
	// Skip is the number of requests that pass before the first one is hit.
	Skip int
	// Times is the number of requests that are hit; 0 means one, [Always] all that follow.
	Times int
	// Do changes the answer. It runs on the goroutine of the request, may be called by several at
	// once, and may call the methods of the server and of its collections. For a write it runs
	// before anything is written, so what it writes itself comes first.
	Do func(*Answer)
}

// Always is the Times of a Fault that does not end by itself.
const Always = -1

// Inject adds a fault. A request is hit by the first fault, in the order of Inject, that matches it
// and is not used up. So a test can inject several faults as a script. The returned function ends
// the fault; calling it again, or after the fault is used up, does nothing.
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

// Answer is the answer that the server is about to send. A [Fault] changes it. Of the contents that
// it may have, the first of Err, Body, Status, Page, Object and the events of a watch is sent.
//
// A write is done after the fault, unless the fault has set Err, Body or Status: then nothing is
// written. A write that is done although the client does not learn of it is one with a Delay that
// is longer than the client's timeout, or with a Cut.
type Answer struct {
	// Request is the request.
	Request Request

	// Delay is how long the server takes before it answers.
	Delay time.Duration
	// Err makes the connection fail before any answer. In memory it is the error of the request;
	// over a socket, syscall.ECONNRESET and syscall.ECONNREFUSED reset the connection and other
	// errors close it. [ErrHang] keeps it open, and nothing is sent.
	Err error
	// Code is the status code; 0 means that of Status, or 200, and 201 for what was created.
	Code int
	// Header has the Content-Type already. If Status is set, the Content-Type follows from it,
	// unless a Fault changes it here.
	Header http.Header
	// Body, if not nil, is sent unchanged.
	Body []byte
	// Status is a refusal. It is set if the server itself refuses the request.
	Status *metav1.Status
	// Page is the answer to a list; nil for other requests, and if the server itself refuses the
	// request.
	Page *Page
	// Object is the answer to a get: a copy, which may be changed. It is nil for other requests;
	// the answer to a write is made after the fault.
	Object runtime.Object
	// Events, if not nil, is called with each event of a watch, also with bookmarks, and returns
	// the events to send instead. It is called by one goroutine at a time.
	Events func(Event) []Event

	// Wire, if not nil, is called with the encoded body, or with each encoded event of a watch, and
	// returns the bytes to send instead.
	Wire func([]byte) []byte
	// Gzip compresses the body and sets the header. (Only net/http's own transport decompresses
	// it.)
	Gzip bool
	// Chunk is the number of bytes that are sent at once, after a pause of Pause each; 0 means all
	// at once.
	Chunk int
	Pause time.Duration
	// Cut, if positive, is the number of bytes of the body that are sent. If it is negative, so
	// many bytes are missing at the end of the body, which must not be a watch. Then the body ends
	// with CutErr, or normally if that is nil.
	Cut    int
	CutErr error

	write    write // nil unless the request is a write
	created  bool
	code     int
	encoding encoding
	stream   *stream
}

// ErrHang is the Answer.Err or Answer.CutErr of a connection that stays open although nothing comes
// any more.
var ErrHang = errors.New("sourcetest: the connection hangs")

// Refuse returns the Do of a [Fault] that answers with a Status; see the function [Status]. 429 has
// the header Retry-After, as in API servers: the client comes back after a second.
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

// Page is a list, or one page of it, before it is encoded.
type Page struct {
	// APIVersion and Kind are those of the list.
	APIVersion, Kind string
	// ResourceVersion and Continue are the list's metadata.
	ResourceVersion, Continue string
	// Items are copies of the objects; they may be changed. nil is sent as null, in protobuf as an
	// empty object.
	Items []runtime.Object

	remaining *int64
}

// Event is one event of a watch, before it is encoded.
type Event struct {
	// Type is ADDED, MODIFIED, DELETED, BOOKMARK or ERROR; a [Fault] may set any other.
	Type string
	// Object is a copy of the object; of an ERROR it is a *metav1.Status. It may be changed. nil is
	// sent as null, in protobuf as an empty object.
	Object runtime.Object
}

// Status returns the Status of a refusal as API servers send it: code 410 has the reason Expired,
// 403 Forbidden, and so on.
func Status(code int) *metav1.Status {
	if code == http.StatusGone {
		status := apierrors.NewResourceExpired("too old resource version").Status()
		return typed(&status)
	}
	status := apierrors.NewGenericServerResponse(code, "get", schema.GroupResource{}, "", http.StatusText(code), 0, false).Status()
	return typed(&status)
}
