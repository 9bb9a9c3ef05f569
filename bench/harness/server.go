// SPDX-License-Identifier: Apache-2.0

package harness

import (
	"errors"
	"fmt"
	"strings"

	"github.com/informer-gen/informer-gen/bench/server"
)

// Server is the parent's handle of the process that serves a world. The zero value has no process
// yet.
type Server struct {
	process *process
	address string
	shown   server.World
}

// Show makes the server serve the world and returns its address.
func (s *Server) Show(w server.World) (address string, err error) {
	if s.process != nil && s.shown == w {
		return s.address, nil
	}
	s.Stop() // its files are gone, too
	if s.process, err = start(role{}); err != nil {
		return "", err
	}
	line, err := s.process.out.ReadString('\n')
	if err != nil {
		return "", fmt.Errorf("the server has written no address: %w", errors.Join(err, s.process.wait()))
	}
	s.address, s.shown = "http://"+strings.TrimSpace(line), w
	return s.address, server.Show(s.address, w)
}

// Stop ends the process, if there is one.
func (s *Server) Stop() {
	if s.process != nil {
		s.process.stop()
	}
	*s = Server{}
}
