// SPDX-License-Identifier: Apache-2.0

package informer

import (
	"errors"
	"fmt"
	"time"

	"k8s.io/klog/v2"

	"github.com/informer-gen/informer-gen/runtime/informer/internal/fanout"
)

// HandlerOption configures one registration of a handler.
type HandlerOption interface {
	String() string
	applyHandler(*fanout.HandlerConfig) error
}

// SharedOption is an [Option] and a [HandlerOption]. Given to a factory or an informer, it is the
// default of their handlers; given to AddEventHandler, it applies to that registration.
type SharedOption interface {
	Option
	HandlerOption
}

// Never is the backlog threshold of a handler whose events are never merged.
const Never = fanout.Never

// WithResyncPeriod makes handlers get every object of the store again, as OnUpdate(obj, obj), a
// period after the last resync has ended. A resync sends no request to the server. 0, the default,
// means never. Periods under a second are raised to a second; negative ones are an error.
func WithResyncPeriod(period time.Duration) SharedOption {
	return sharedOption{"WithResyncPeriod", func(s *fanout.HandlerConfig) error {
		if period < 0 {
			return fmt.Errorf("%v; want 0 or more", period)
		}
		if period > 0 {
			period = max(period, time.Second)
		}
		s.Resync = period
		return nil
	}}
}

// WithBacklogThreshold sets the number of events that may wait for a handler. Above it, the watch
// is read more slowly if the handler is quick; if it is slow, waiting events of the same object are
// merged (the package documentation defines both). The default is 1,024. With a threshold under
// 128, every handler above it counts as slow; with 0, all waiting events are merged. With [Never],
// no events are merged and the watch is not slowed down, so the backlog of a stuck handler grows
// without bound. Other negative values are an error.
func WithBacklogThreshold(events int) SharedOption {
	return sharedOption{"WithBacklogThreshold", func(s *fanout.HandlerConfig) error {
		if events < Never {
			return fmt.Errorf("%d events; want 0 or more, or Never", events)
		}
		s.Threshold = events
		return nil
	}}
}

// WithPanicOnHandlerCrash sets whether a panic in a handler ends the process, as in client-go. The
// default is false: the panic is logged with the key and the stack, and the handler gets its next
// event.
func WithPanicOnHandlerCrash(enabled bool) SharedOption {
	return sharedOption{"WithPanicOnHandlerCrash", func(s *fanout.HandlerConfig) error {
		s.Crash = enabled
		return nil
	}}
}

// WithEveryDeletion makes the handler get an OnDelete for each object that vanishes from the store,
// even if waiting events are merged. Without it, an object added and deleted while the handler was
// slow is not reported; with it, the handler gets an OnDelete without an OnAdd. So a program can
// wait for the deletion of a certain UID. At most one event for the existing object and one for
// each vanished UID then wait for a key.
func WithEveryDeletion() HandlerOption {
	return handlerOption{"WithEveryDeletion", func(s *fanout.HandlerConfig) error {
		s.EveryDeletion = true
		return nil
	}}
}

// WithHandlerLogger sets the logger for a handler's panics, and for callbacks that do not return.
// The default is the logger of its informer.
func WithHandlerLogger(logger klog.Logger) HandlerOption {
	return handlerOption{"WithHandlerLogger", func(s *fanout.HandlerConfig) error {
		s.Logger = &logger
		return nil
	}}
}

// WithHandlerName sets the name of a handler in logs, errors and Status. The default is the name of
// the first function of [HandlerFuncs], or the handler's type; for a [FilteringHandler] that of its
// Handler.
func WithHandlerName(name string) HandlerOption {
	return handlerOption{"WithHandlerName", func(s *fanout.HandlerConfig) error {
		if name == "" {
			return errors.New("the name is empty")
		}
		s.Name = name
		return nil
	}}
}
