// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"fmt"
	"slices"
	"time"

	"github.com/informer-gen/informer-gen/runtime/object"
	"github.com/informer-gen/informer-gen/runtime/reflector"
)

// HandlerStatus is how one subscription keeps up.
type HandlerStatus struct {
	Name     string
	Synced   bool
	Backlog  int
	Merging  bool
	Callback string
	Key      object.Key
	Since    time.Time
}

// Reflector returns the status of the reflector, the zero Status if there is none.
func (i *Informer) Reflector() reflector.Status {
	if i.reader == nil {
		return reflector.Status{LastError: i.broken}
	}
	return i.reader.Status()
}

// Claimed says whether the informer is running, or Begin has claimed it.
func (i *Informer) Claimed() bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.run != nil
}

// Handlers returns the status of each subscription, in the order in which they were added.
func (i *Informer) Handlers() []HandlerStatus {
	i.mu.Lock()
	subs := slices.Clone(i.subs)
	i.mu.Unlock()
	all := make([]HandlerStatus, len(subs))
	for n, s := range subs {
		all[n] = s.Status()
	}
	return all
}

// Status says how the handler keeps up.
func (s *Subscription) Status() HandlerStatus {
	s.mu.Lock()
	defer s.mu.Unlock()
	status := HandlerStatus{
		Name:    s.config.Name,
		Synced:  s.HasSynced(),
		Backlog: s.behind + s.backlog.events,
		Merging: !s.backlog.empty(),
	}
	if s.replay != nil {
		status.Backlog += s.replay.Len() - s.replayed
	}
	if s.calling {
		status.Callback, status.Key, status.Since = s.kind.callback(), s.key, s.epoch.Add(s.since)
	}
	return status
}

// Running says what keeps a run from ending: one line for each callback that has not returned, at least one line in all.
func (i *Informer) Running() []string {
	var lines []string
	for _, h := range i.Handlers() {
		if h.Callback != "" {
			lines = append(lines, fmt.Sprintf("%s: handler %q has not returned from %s of %s for %v",
				i.config.Name, h.Name, h.Callback, h.Key, time.Since(h.Since).Round(time.Millisecond)))
		}
	}
	if lines == nil {
		lines = append(lines, i.config.Name+": Run has not returned")
	}
	return lines
}
