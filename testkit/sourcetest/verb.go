// SPDX-License-Identifier: Apache-2.0

package sourcetest

import (
	"net/url"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Request is a request as understood by the server.
type Request struct {
	// Verb is the kind of request; 0 if the server doesn't support it.
	Verb Verb
	// Resource, Namespace, Name and Subresource come from the path. Namespace "" means all
	// namespaces, or an object without one. Name "" means a collection, Subresource "" the object
	// itself.
	Resource                     schema.GroupVersionResource
	Namespace, Name, Subresource string
	// Method, Path and Query are as sent.
	Method, Path string
	Query        url.Values
	// Accept is the header field: the formats the client understands.
	Accept string
	// ContentType is the header field, Body the content; both are empty for reads.
	ContentType string
	Body        []byte
	// UserAgent is the header field.
	UserAgent string
	// Time is when the request arrived.
	Time time.Time
}

// String returns the verb, or the method of a write, with path and query, in one line.
func (r Request) String() string {
	s := r.Verb.String() + " " + r.Path
	if r.Verb == Write {
		s = r.Method + " " + r.Path
	}
	if len(r.Query) > 0 {
		s += "?" + r.Query.Encode()
	}
	return s
}

// Verb is a kind of request, or a set of kinds joined by |.
type Verb uint8

// A list and its later pages have different verbs, and so have a watch and a watch-list.
const (
	List      Verb = 1 << iota // the first page of a list, or a list without pages
	Continue                   // a later page
	Watch                      // a watch that sends changes only
	WatchList                  // a watch that sends the present objects first (sendInitialEvents)
	Get                        // one object
	Write                      // create, update, patch and delete; see Request.Method
)

var verbNames = []string{"list", "continue", "watch", "watch-list", "get", "write"}

// String returns the names of the verbs, joined by |; "other" for 0.
func (v Verb) String() string {
	var names []string
	for i, name := range verbNames {
		if v&(1<<i) != 0 {
			names = append(names, name)
		}
	}
	if names == nil {
		return "other"
	}
	return strings.Join(names, "|")
}
