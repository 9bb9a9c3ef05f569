// SPDX-License-Identifier: Apache-2.0

package user

import (
	"context"
	"encoding/json"
	"os"
	"reflect"
	"strings"
	"testing"
	"testing/synctest"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/informer-gen/informer-gen/runtime/reason"
	"github.com/informer-gen/informer-gen/runtime/source"
	"github.com/informer-gen/informer-gen/testkit/sourcetest"

	"corpus.example/user/generated/informers"
)

// TestResources runs each informer of the factory by itself, and the one of ForResource with its resource. Both ask for the
// same resource as the project's own informer, and for no other.
func TestResources(t *testing.T) {
	text, err := os.ReadFile("kinds.json") // written by the parent process, from the project's own informers
	if err != nil {
		t.Fatal(err)
	}
	var kinds map[string]struct{ Resource schema.GroupVersionResource }
	if err := json.Unmarshal(text, &kinds); err != nil {
		t.Fatal(err)
	}
	if len(kinds) == 0 {
		t.Fatal("kinds.json has no kinds")
	}
	for accessor, kind := range kinds {
		synctest.Test(t, func(t *testing.T) {
			server := sourcetest.New() // has no resources and answers 404
			client, err := source.NewClient(server.Config())
			if err != nil {
				t.Fatal(err)
			}
			factory := informers.NewSharedInformerFactory(client)
			call(reflect.ValueOf(factory), accessor+".Informer()")
			generic, err := factory.ForResource(kind.Resource)
			if err != nil {
				t.Fatalf("%s: %v", accessor, err)
			}
			if err := factory.Start(context.Background()); err != nil {
				t.Fatalf("%s: %v", accessor, err)
			}
			synctest.Wait()
			asked := map[schema.GroupVersionResource]bool{}
			for _, request := range server.Requests() {
				asked[request.Resource] = true
			}
			if len(asked) != 1 || !asked[kind.Resource] {
				t.Errorf("%s asks for %v, want %v", accessor, asked, kind.Resource)
			}
			if status := generic.Informer().Status(); status.Reflector.Reason != reason.NotFound {
				t.Errorf("%s: the informer of ForResource has the status %v, want the reason NotFound", accessor, status)
			}
			if err := factory.Shutdown(context.Background()); err != nil {
				t.Errorf("%s: %v", accessor, err)
			}
		})
	}
}

// call calls methods without parameters, each on the result of the last: Core().V1().Pods().
func call(on reflect.Value, methods string) reflect.Value {
	for name := range strings.SplitSeq(methods, ".") {
		on = on.MethodByName(strings.TrimSuffix(name, "()")).Call(nil)[0]
	}
	return on
}
