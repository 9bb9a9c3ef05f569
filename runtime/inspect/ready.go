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
	"github.com/informer-gen/informer-gen/runtime/reflector"
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
// service would not help. The page and the metrics show the age of its state. The check does not
// wait for an informer whose resource doesn't exist, if that is allowed
// ([informer.WithOptionalResource]).
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
			if s := i.Status(); !s.Synced && !s.WaitsForResource() {
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
	if s.Namespaces != nil && !s.Namespaces.Synced {
		parts = append(parts, "waits for "+s.Namespaces.Name+": "+briefly(s.Namespaces.Reflector))
	}
	for _, stream := range s.Streams {
		if stream.Synced {
			continue
		}
		text := "is " + briefly(stream.Reflector)
		if stream.Namespace != "" {
			text = fmt.Sprintf("in namespace %s %s", stream.Namespace, text)
		}
		parts = append(parts, text)
	}
	return strings.Join(parts, ", ")
}

func briefly(s reflector.Status) string {
	if s.Reason == reason.None {
		return s.State.String()
	}
	return fmt.Sprintf("%v (%v, %s in a row)", s.State, s.Reason, count(s.Attempts, "failure"))
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
