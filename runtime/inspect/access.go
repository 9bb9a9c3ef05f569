// SPDX-License-Identifier: Apache-2.0

package inspect

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"strings"
)

var forwarded = []string{"Forwarded", "X-Forwarded-For", "X-Forwarded-Host", "X-Real-Ip", "Via"}

// FromThisMachine is the default rule of [Handler], for use by other handlers. It returns an error
// unless a request came from the loopback, was sent to it, and passed no proxy that names itself.
// The Host header counts because an internet name may lead a browser on this machine here (DNS
// rebinding).
func FromThisMachine(req *http.Request) error {
	const instead = "; only requests from this machine are answered, for example by kubectl port-forward; inspect.WithAuthorizer replaces this rule"
	from, err := netip.ParseAddrPort(req.RemoteAddr)
	if err != nil || !from.Addr().Unmap().IsLoopback() {
		return errors.New("the request came from an address other than the loopback" + instead)
	}
	for _, name := range forwarded {
		if req.Header.Get(name) != "" {
			return fmt.Errorf("the request came through a proxy, which set %s%s", name, instead)
		}
	}
	if !isLoopback(req.Host) {
		return errors.New("the Host header names a host other than localhost" + instead)
	}
	return nil
}

func isLoopback(host string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	host = strings.TrimSuffix(strings.TrimPrefix(host, "["), "]")
	if strings.EqualFold(strings.TrimSuffix(host, "."), "localhost") {
		return true
	}
	addr, err := netip.ParseAddr(host)
	return err == nil && addr.Unmap().IsLoopback()
}
