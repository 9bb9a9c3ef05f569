// SPDX-License-Identifier: Apache-2.0

package shard

import (
	"cmp"
	"fmt"
)

// Healthy returns an error if nobody has worked on some of the buckets for longer than twice
// LeaseDuration, as far as this process sees. It names them, the time, and who worked on them last.
// It is nil while this process takes no part.
func (r *Ring) Healthy() error {
	m := r.lastRun()
	if m == nil || m.hasEnded() {
		return nil
	}
	s := r.Status()
	if err := s.Healthy(); err != nil {
		return fmt.Errorf("ring %s/%s: %w; the coordinator is %s", r.options.Namespace, r.options.Name, err, cmp.Or(s.Coordinator, "unknown"))
	}
	return nil
}

func (m *run) hasEnded() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.ended
}
