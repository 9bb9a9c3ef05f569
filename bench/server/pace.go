// SPDX-License-Identifier: Apache-2.0

package server

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"time"
)

// pace is how fast a watch sends the events of a world.
type pace struct {
	mu    sync.Mutex    // guards what follows
	apart time.Duration // 0: as fast as they are read
	sent  []time.Time   // when each was sent, if they are apart
}

// set is called when nothing has been sent yet.
func (p *pace) set(apart time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.apart, p.sent = apart, nil
}

func (p *pace) get() time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.apart
}

func (p *pace) note(sent time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.sent = append(p.sent, sent)
}

// send sends events until ctx is done.
func (p *pace) send(ctx context.Context, w http.ResponseWriter, events *file) {
	apart := p.get()
	if apart == 0 {
		send(w, events.between(0, events.len()))
		return
	}
	for k := range events.len() {
		select {
		case <-time.After(apart):
		case <-ctx.Done():
			return
		}
		p.note(time.Now())
		if !send(w, events.between(k, k+1)) {
			return
		}
	}
}

// report answers with the times.
func (p *pace) report(w http.ResponseWriter, _ *http.Request) {
	p.mu.Lock()
	sent := slices.Clone(p.sent)
	p.mu.Unlock()
	_ = json.NewEncoder(w).Encode(sent) // the client is gone, then
}

// Play lets open watches send the world's events one by one, so much time apart.
func Play(address string, apart time.Duration) error {
	_, err := command(address, "play", apart.String())
	return err
}

// Sent returns when a watch has sent each of the events that Play lets it send, so far, by this
// machine's clock. There must be one watch only.
func Sent(address string) (times []time.Time, err error) {
	text, err := command(address, "sent", "")
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(text, &times); err != nil {
		return nil, fmt.Errorf("the times of events: %w", err)
	}
	return times, nil
}
