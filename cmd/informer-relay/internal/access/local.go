// SPDX-License-Identifier: Apache-2.0

package access

import (
	"errors"
	"net"
	"net/http"
	"net/netip"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// LocalOnly returns a handler that calls next if the request's Host is localhost or a loopback
// address, and refuses it with 403 otherwise. Without it, a web page could point a name of its own
// at this machine, and the browser would let it read the answers.
func LocalOnly(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		if !isLocal(req.Host) {
			Refuse(w, apierrors.NewForbidden(schema.GroupResource{}, "", errors.New("callers without authentication must use localhost or a loopback address as Host")))
			return
		}
		next.ServeHTTP(w, req)
	})
}

func isLocal(host string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	if strings.EqualFold(strings.TrimSuffix(host, "."), "localhost") {
		return true
	}
	address, err := netip.ParseAddr(strings.TrimSuffix(strings.TrimPrefix(host, "["), "]"))
	return err == nil && address.Unmap().IsLoopback()
}
