// SPDX-License-Identifier: Apache-2.0

package model

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/informer-gen/informer-gen/runtime/object"
	"github.com/informer-gen/informer-gen/runtime/source"
)

// client connects one informer to the server. It is a Source, injects faults, and passes everything
// it delivers on to a model.
type client struct {
	*server
	scope scope // set once at construction
	// set once at construction: the largest page of the server; 0 for no pages
	pageCap int
	model   *naiveModel // fed by the goroutine that lists and watches

	// The server's mu guards the fields below.
	streams        []*stream
	faults         []fault // each for the next matching request
	refusesExpired bool    // refuses expired versions by a response, not by an event
	pagePause      time.Duration
}

// fault is the fault of one request.
type fault struct {
	on    verb
	err   error
	after int // objects or events delivered before
}

type verb int

const (
	anyVerb verb = iota
	listVerb
	watchVerb
	streamVerb // a watch-list
)

func (v verb) String() string { return [...]string{"request", "list", "watch", "watch-list"}[v] }

// order is a command to an open stream.
type order int

const (
	endStream order = iota
	cutStream
	expireStream // an ERROR event with 410
	sendBookmark
	repeatLast
)

// stream is one open watch. The server's mu guards it.
type stream struct {
	orders []order
}

// order gives an order to all open streams.
func (c *client) order(o order) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, s := range c.streams {
		s.orders = append(s.orders, o)
	}
	c.wakeLocked()
}

// inject adds faults of the next matching requests.
func (c *client) inject(f ...fault) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.faults = append(c.faults, f...)
}

// heal removes all pending faults.
func (c *client) heal() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.faults, c.pagePause = nil, 0
	for _, s := range c.streams {
		s.orders = append(s.orders, sendBookmark)
	}
	c.wakeLocked()
}

// faultFor takes the fault of a request from the list; the zero fault has no err.
func (c *client) faultFor(v verb) fault {
	c.mu.Lock()
	defer c.mu.Unlock()
	for n, f := range c.faults {
		if f.on == anyVerb || f.on == v {
			c.faults = slices.Delete(c.faults, n, n+1)
			reach(fmt.Sprintf("%s: %.30s", v, f.err))
			return f
		}
	}
	return fault{}
}

var (
	resource = schema.GroupResource{Resource: "configmaps"}

	errRefused   = fmt.Errorf("dial the server: %w", syscall.ECONNREFUSED)
	errExpired   = apierrors.NewResourceExpired("too old resource version")
	errThrottled = apierrors.NewTooManyRequests("slow down", 1)
	errInternal  = apierrors.NewInternalError(errors.New("out of order"))
	errForbidden = apierrors.NewForbidden(resource, "", errors.New("not now"))
	errNoStreams = apierrors.NewGenericServerResponse(http.StatusUnprocessableEntity, "watch", resource, "", "sendInitialEvents is forbidden", 0, false)
	errCut       = io.ErrUnexpectedEOF
)

// List implements source.Source.
func (c *client) List(ctx context.Context, opts source.ListOptions, item func(*corev1.ConfigMap) error) (source.ListResult, error) {
	f := c.faultFor(listVerb)
	if f.err != nil && f.after == 0 {
		return source.ListResult{}, f.err
	}
	page, result, err := c.page(opts)
	if err != nil {
		return source.ListResult{}, err
	}
	full := !opts.VersionOnly // a list for the version only is no full state
	if full && opts.Continue == "" {
		c.model.begin()
	}
	for n, obj := range page {
		if err := context.Cause(ctx); err != nil {
			return source.ListResult{}, err
		}
		if f.err != nil && n == f.after {
			return source.ListResult{}, f.err
		}
		obj = copyObject(obj)
		if full {
			c.model.replace(obj)
		}
		if err := item(obj); err != nil {
			return source.ListResult{}, err
		}
	}
	if f.err != nil {
		return source.ListResult{}, f.err
	}
	switch {
	case !full:
		return result, nil
	case result.Continue == "":
		c.model.complete(result.ResourceVersion)
		return result, nil
	}
	return result, c.pauseBetweenPages(ctx)
}

// page reads a page at one version.
func (c *client) page(opts source.ListOptions) ([]*corev1.ConfigMap, source.ListResult, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	version, after := c.versionLocked(), ""
	if opts.Continue != "" {
		text, last, _ := strings.Cut(opts.Continue, ":")
		version, after = number(text), last
		if version < c.floor {
			return nil, source.ListResult{}, errExpired
		}
	}
	all := c.stateLocked(version, c.scope)
	from, _ := slices.BinarySearchFunc(all, after, func(obj *corev1.ConfigMap, key string) int {
		if object.KeyOf(obj).String() <= key {
			return -1
		}
		return 1
	})
	result := source.ListResult{ResourceVersion: strconv.Itoa(version)}
	all = all[from:]
	if size := min(int(opts.Limit), c.pageCap); size > 0 && len(all) > size {
		all = all[:size]
		result.Continue = fmt.Sprintf("%d:%s", version, object.KeyOf(all[size-1]))
	}
	return all, result, nil
}

// pauseBetweenPages waits after each page except the last.
func (c *client) pauseBetweenPages(ctx context.Context) error {
	c.mu.Lock()
	pause := c.pagePause
	c.mu.Unlock()
	if pause > 0 {
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return nil
}

// Watch implements source.Source.
func (c *client) Watch(ctx context.Context, opts source.WatchOptions, opened func(), event func(source.Event[*corev1.ConfigMap]) error) error {
	v := watchVerb
	if opts.SendInitialEvents {
		v = streamVerb
	}
	f := c.faultFor(v)
	late := f.err == errLateBookmark
	if f.err != nil && f.after == 0 && !late {
		return f.err
	}
	c.mu.Lock()
	version, refuse := c.versionLocked(), false
	if !opts.SendInitialEvents {
		version = number(opts.ResourceVersion)
		refuse = version < c.floor
	}
	refusesExpired := c.refusesExpired
	if refuse {
		reach(compacted)
	}
	state := c.stateLocked(c.versionLocked(), c.scope)
	s := &stream{}
	c.streams = append(c.streams, s)
	c.mu.Unlock()
	defer func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.streams = slices.DeleteFunc(c.streams, func(open *stream) bool { return open == s })
	}()
	if refuse && refusesExpired {
		return errExpired
	}
	if opened != nil {
		opened()
	}
	if refuse {
		return errExpired
	}
	w := &serverStream{client: c, stream: s, event: event, version: version, announced: version, fault: f}
	if opts.SendInitialEvents {
		if err := w.initial(state); err != nil {
			return err
		}
		if !late {
			if err := w.bookmark(); err != nil {
				return err
			}
		}
	}
	return w.run(ctx, opts.Timeout)
}

func number(text string) int {
	n, err := strconv.Atoi(text)
	if err != nil {
		panic(fmt.Sprintf("a client asks for version %q", text))
	}
	return n
}

var _ source.Source[*corev1.ConfigMap] = (*client)(nil)
