// SPDX-License-Identifier: Apache-2.0

package kubectl

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/informer-gen/informer-gen/test/internal/poll"
)

// commands are the kubectl commands that run while nothing changes.
var commands = []string{
	// objects
	"get widgets",
	"get widgets -n a",
	"get widgets -A",
	"get wd -n b",
	"get widget one -n a",
	"get widgets one two -n a",
	"get widget/one widget/none -n a",
	"get widgets.samples.dev -n a-b",
	"get widgets.v1.samples.dev one -n a",
	"get widget none -n a",
	"get widget none -n a --ignore-not-found",
	"get gizmos",
	"get gizmo gadget",
	"get widgets,gizmos -n a",
	"get nothings",
	"get widgets.v2.samples.dev -n a",

	// formats
	"get widgets -A -o json",
	"get widgets -A -o yaml",
	"get widgets -A -o yaml --show-managed-fields",
	"get widgets -A -o name",
	"get widgets -A -o wide",
	"get widgets -A --no-headers",
	"get widgets -A -o jsonpath={.items[*].spec.color}",
	"get widgets -A -o custom-columns=NAME:.metadata.name,NODE:.spec.node",
	"get widgets -A -o go-template={{range.items}}{{.metadata.uid}}{{end}}",
	"get widgets -A --sort-by=.spec.color",
	"get widgets -A --show-labels",
	"get widgets -A -L app,tier",
	"get widgets -A --show-kind",
	"get widgets -A --server-print=false",
	"get widget one -n a -o json",
	"get widget one -n a -o yaml",
	"get gizmo gizmo -o yaml",
	"get --raw /apis/samples.dev/v1/namespaces/none/widgets/one",

	// selectors
	"get widgets -A -l app=x",
	"get widgets -A -l app!=x",
	"get widgets -A -l app,tier=front",
	"get widgets -A -l !app -o name",
	"get widgets -n a -l app=none",
	"get widgets -A -l app=",
	"get widgets -A -l app==x=y",
	"get gizmos -l app=x",
	"get widgets -A --field-selector spec.node=n1",
	"get widgets -A --field-selector spec.node!=n1,spec.color=red",
	"get widgets -A --field-selector metadata.namespace=a,metadata.name!=one",
	"get widgets -A --field-selector metadata.name=one -o name",
	"get widgets -A --field-selector spec.none=n1",
	"get widgets -A --field-selector spec.node=n2 -l app=x -o name",

	// pages
	"get widgets -A --chunk-size=1",
	"get widgets -A --chunk-size=2 -o name",
	"get widgets -A --chunk-size=4 -o json",
	"get widgets -A --chunk-size=0 -o name",
	"get widgets -A --chunk-size=1 -l app=x -o name",
	"get gizmos --chunk-size=1 -o name",

	// other commands that read
	"wait widget/one -n a --for=jsonpath={.spec.color}=green --timeout=60s",
	"wait widget/none -n a --for=delete --timeout=60s",
	"describe widgets -n a",
	"api-resources --api-group=samples.dev --no-headers",
}

// TestGet runs each command against both servers.
func TestGet(t *testing.T) {
	w := newWorld(t)
	for _, line := range commands {
		t.Run(line, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), poll.Patience)
			defer cancel()
			theirs, ours := start(ctx, t, w.server, line), start(ctx, t, w.handler, line)
			if want, got := theirs.wait(t), ours.wait(t); got != want {
				t.Errorf("kubectl's exit code is %d, want %d", got, want)
			}
			compareOutput(t, "stdout", w.handler.normalized(&ours.out), w.server.normalized(&theirs.out))
			compareOutput(t, "stderr", w.handler.normalized(&ours.err), w.server.normalized(&theirs.err))
			t.Logf("%s%s", &ours.out, &ours.err)
		})
	}
}

func compareOutput(t *testing.T, what, got, want string) {
	t.Helper()
	if got != want {
		t.Errorf("kubectl's %s is\n%s\nwant\n%s", what, got, want)
	}
}

var (
	age      = regexp.MustCompile(`\b(\d+[smh])+\b`)
	column   = regexp.MustCompile(`  +`)
	withRace = regexp.MustCompile(`(?m)^I.*"Data race detection enabled"\n`)
)

// normalized returns an output without ages, column widths and the log of the race detector, and
// with a word in place of the server's address.
func (s *side) normalized(b *buffer) string {
	text := strings.ReplaceAll(withRace.ReplaceAllString(b.String(), ""), s.url, "SERVER")
	return column.ReplaceAllString(age.ReplaceAllString(text, "AGE"), "  ")
}

// watches are the commands of TestWatch. The last change ends each of them.
var watches = []string{
	"get widgets -A -w",
	"get widgets -A -w -o name",
	"get widgets -n c -w -o json",
	"get widgets -n c -w -o yaml --show-managed-fields",
	"get widgets -A -w --output-watch-events -o name",
	"get widgets -n c -w --output-watch-events",
	"get widgets -n c -l app=x -w --output-watch-events -o name",
	"get widgets -A --field-selector spec.color=red -w --output-watch-events -o custom-columns=T:.type,N:.object.metadata.name,R:.object.metadata.resourceVersion",
	"get widgets -A -w --chunk-size=2 --server-print=false",
	"get widgets -A --watch-only -o name", // the last, see awaitBegin
}

// TestWatch runs kubectl's watches on both servers while objects change.
func TestWatch(t *testing.T) {
	w := newWorld(t)
	w.create(t, "c/first", "app=x", "node=n1,color=red")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var theirs, ours []*kubectl
	for _, line := range watches {
		theirs, ours = append(theirs, start(ctx, t, w.server, line)), append(ours, start(ctx, t, w.handler, line))
	}
	for i := range watches {
		w.awaitBegin(t, theirs[i])
		w.awaitBegin(t, ours[i])
	}
	w.create(t, "c/begin", "app=x", "color=red")
	w.create(t, "c/live", "app=x", "node=n1,color=red")
	w.patch(t, "c/live", `{"metadata":{"labels":{"app":"y"}}}`)
	w.patch(t, "c/live", `{"spec":{"color":"blue"}}`)
	w.patch(t, "c/live", `{"metadata":{"labels":{"app":"x"}}}`)
	w.patch(t, "c/live", `{"spec":{"color":"red"}}`)
	w.remove(t, "c/live")
	w.create(t, "c/live", "app=x", "node=n1,color=red")
	w.create(t, "c/the-end", "app=x", "color=red")
	for i := range watches {
		await(t, theirs[i], "the-end")
		await(t, ours[i], "the-end")
	}
	cancel()
	for i, line := range watches {
		theirs[i].wait(t)
		ours[i].wait(t)
		t.Run(line, func(t *testing.T) {
			want, got := w.server.normalized(&theirs[i].out), w.handler.normalized(&ours[i].out)
			if strings.Contains(line, "--watch-only") {
				_, want, _ = strings.Cut(want, "begin")
				_, got, _ = strings.Cut(got, "begin")
			}
			compareOutput(t, "stdout", got, want)
			compareOutput(t, "stderr", w.handler.normalized(&ours[i].err), w.server.normalized(&theirs[i].err))
		})
	}
}

// awaitBegin waits until kubectl watches. If it shows no initial objects, awaitBegin changes an
// object until kubectl shows it.
func (w *world) awaitBegin(t *testing.T, k *kubectl) {
	t.Helper()
	if !slices.Contains(k.Args, "--watch-only") {
		await(t, k, "first")
		return
	}
	n := 0
	poll.Until(t, func() error {
		if strings.Contains(k.out.String(), "first") {
			return nil
		}
		n++
		w.patch(t, "c/first", fmt.Sprintf(`{"spec":{"node":"n%d"}}`, n))
		return fmt.Errorf("%s has shown no change: %s", k.Args, &k.err)
	})
}

// await waits until kubectl has written a line with a text.
func await(t *testing.T, k *kubectl, text string) {
	t.Helper()
	poll.Until(t, func() error {
		if _, rest, ok := strings.Cut(k.out.String(), text); !ok || !strings.Contains(rest, "\n") {
			return fmt.Errorf("the output of %s lacks %q: %s%s", k.Args, text, &k.out, &k.err)
		}
		return nil
	})
}
