// SPDX-License-Identifier: Apache-2.0

package inspect

import (
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/informer-gen/informer-gen/runtime/informer"
	"github.com/informer-gen/informer-gen/runtime/informer/factories"
	"github.com/informer-gen/informer-gen/runtime/reason"
)

// Check is a readiness check. It is an http.Handler, and has the function type of other libraries:
// controller-runtime's is healthz.Checker(inspect.Ready(factory)).
type Check func(*http.Request) error

// Ready returns a check that fails until all of the factory's informers have synced. Its error
// names the unsynced ones, and why. The check looks only at memory, and ignores the request, which
// may be nil. It also fails for an informer that was made but never started, as WaitForCacheSync
// does: start it, or remove it from the factory.
//
// An informer stays synced even if the server becomes unreachable: taking the program out of
// service would not help. The page and the metrics show the age of its state.
func Ready(factory factories.SharedInformerFactory) Check {
	return func(*http.Request) error {
		base := baseOf(factory)
		if base == nil {
			return errors.New("not ready: the factory is nil")
		}
		all := base.Informers()
		var missing []string
		for _, i := range all {
			if i.HasSynced() {
				continue
			}
			if s := i.Status(); !s.Synced {
				missing = append(missing, s.Name+" "+whyUnsynced(s))
			}
		}
		if missing == nil {
			return nil
		}
		return fmt.Errorf("not ready: %d of %d informers have not synced: %s", len(missing), len(all), strings.Join(missing, "; "))
	}
}

// whyUnsynced says why an informer has not synced, without error texts.
func whyUnsynced(s informer.Status) string {
	switch {
	case !s.Running && s.Reflector.LastError != nil:
		return "could not be made, or has ended; see the log or the page for the error"
	case !s.Running:
		return "is not running; a factory's Start runs only informers made before it"
	}
	var parts []string
	for _, stream := range s.Streams {
		if stream.Synced {
			continue
		}
		text := "is " + stream.Reflector.State.String()
		if stream.Reflector.Reason != reason.None {
			text += fmt.Sprintf(" (%v, %s in a row)", stream.Reflector.Reason, count(stream.Reflector.Attempts, "failure"))
		}
		if stream.Namespace != "" {
			text = fmt.Sprintf("in namespace %s %s", stream.Namespace, text)
		}
		parts = append(parts, text)
	}
	return strings.Join(parts, ", ")
}

// ServeHTTP answers 200 and "ok", or 503 and the reason.
func (c Check) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	w.Header().Set("Cache-Control", "no-store")
	if err := c(req); err != nil {
		http.Error(w, err.Error(), http.StatusServiceUnavailable)
		return
	}
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	_, _ = w.Write([]byte("ok\n")) // fails only if the client is gone
}
