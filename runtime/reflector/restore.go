// SPDX-License-Identifier: Apache-2.0

package reflector

import (
	"context"
	"errors"
	"time"

	"github.com/informer-gen/informer-gen/runtime/reason"
)

// An event of the watch from a restored version shows that the server still has the changes since,
// and that its versions have not gone back behind it. The silence of an accepted watch shows only
// the first, because API servers report a forgotten version at once in its stream; then the server
// is asked for its version.

// confirmationTimeout is how long an accepted watch from a restored version may be silent before
// the server is asked for its version.
const confirmationTimeout = 500 * time.Millisecond

var errUnconfirmed = errors.New("the watch has brought no event yet")

// restore passes the full state of Restore, if any, to the sink and returns its version.
func (r *run[T]) restore() (version string) {
	if r.config.Restore == nil || r.machine.version != "" || r.machine.noReuse || r.beginReplace() != nil {
		return ""
	}
	version = r.config.Restore(r.ctx, func(obj T) error {
		if r.stopping() {
			return context.Cause(r.ctx)
		}
		return r.trySink(func() error { return r.config.Sink.Replace(obj) })
	})
	if version == "" && r.sinkErr == nil {
		r.replacing = false
		_ = r.trySink(r.config.Sink.AbortReplace) // the error is in sinkErr
	}
	return version
}

// confirm handles the first event or bookmark of that watch.
func (m *machine) confirm(in *input) action {
	if older(in.version, m.version) {
		return action{task: taskStop, detected: reason.WentBack}
	}
	a := m.accept(taskContinue)
	m.state = StateWatching
	return a
}

func (m *machine) unconfirmed() action {
	if !m.restored { // an event came just then
		return m.enter(StateConnecting)
	}
	m.probed = true
	return action{task: taskProbe}
}

func (m *machine) accept(next task) action {
	m.restored = false
	m.complete(m.version)
	return action{call: callEndReplace, callVersion: m.version, restored: true, task: next, version: m.version}
}

// awaitAnswer bounds the time until the server accepts that watch.
func (w *watch[T]) awaitAnswer() {
	limit := w.config.InitialEventsTimeout
	w.startTimer = time.AfterFunc(limit, func() { w.cancel(reasonError(reason.Silent, "no answer to a watch for %v", limit)) })
}

// awaitConfirmation is called when the server has accepted it. If asking for the server's version
// has failed, the watch may be silent as long as any other.
func (w *watch[T]) awaitConfirmation() {
	w.startTimer.Stop()
	if !w.machine.probed {
		w.startTimer = time.AfterFunc(confirmationTimeout, func() { w.cancel(errUnconfirmed) })
	}
}

// confirm completes a restored full state before the watch's first event, unless that is older.
func (w *watch[T]) confirm(version string) error {
	w.startTimer.Stop()
	var a action
	w.step(&input{typ: inConfirmed, version: version}, &a)
	if a.task == taskStop {
		w.stopReason = a.detected
		return errStop
	}
	if err := w.finishReplace(&a); err != nil {
		return err
	}
	w.publish(&a)
	w.watchingSince = w.openedAt
	return nil
}
