// SPDX-License-Identifier: Apache-2.0

package deltafifo_test

import (
	"fmt"
	"strings"
	"testing"

	"go.uber.org/goleak"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/informer-gen/informer-gen/runtime/deltafifo"
	"github.com/informer-gen/informer-gen/runtime/object"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

type (
	obj    = *metav1.PartialObjectMetadata
	fifo   = deltafifo.DeltaFIFO[obj]
	delta  = deltafifo.Delta[obj]
	deltas = deltafifo.Deltas[obj]
)

func thing(name, resourceVersion string) obj {
	return &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: name, ResourceVersion: resourceVersion}}
}

// show writes a delta as "Added a@1", a deletion that Pop has made as "Deleted? a@1", a mark as
// "Bookmark@7".
func show(d delta) string {
	unknown := ""
	if d.FinalStateUnknown {
		unknown = "?"
	}
	name := ""
	if d.Key.Name != "" {
		name = " " + d.Key.Name
	}
	return strings.TrimSuffix(fmt.Sprintf("%v%s%s@%s", d.Type, unknown, name, d.ResourceVersion), "@")
}

func showAll(ds []delta) string {
	var out []string
	for _, d := range ds {
		out = append(out, show(d))
	}
	return strings.Join(out, ", ")
}

// feed calls the methods of f that a script names: "+a@1" add, "~a@2" update, "-a@3" delete, "=a@1"
// replace, "*a" sync, "[" begin, "]@9" end and "!" abort of a full state, "|@8" bookmark.
func feed(t *testing.T, f *fifo, script string) {
	t.Helper()
	for word := range strings.FieldsSeq(script) {
		name, rv, _ := strings.Cut(word[1:], "@")
		var err error
		switch word[0] {
		case '+':
			err = f.Add(thing(name, rv))
		case '~':
			err = f.Update(thing(name, rv))
		case '-':
			err = f.Delete(thing(name, rv))
		case '=':
			err = f.Replace(thing(name, rv))
		case '*':
			err = f.Sync(thing(name, rv))
		case '[':
			err = f.BeginReplace()
		case ']':
			err = f.EndReplace(rv)
		case '!':
			err = f.AbortReplace()
		case '|':
			err = f.Bookmark(rv)
		default:
			t.Fatalf("no such word: %q", word)
		}
		if err != nil {
			t.Fatalf("%s: %v", word, err)
		}
	}
}

// popAll closes the queue, pops until it is empty and returns one line per Pop.
func popAll(t *testing.T, f *fifo) []string {
	t.Helper()
	f.Close()
	var lines []string
	for {
		err := f.Pop(t.Context(), func(key object.Key, d deltas) error {
			for _, each := range d {
				if each.Key != key {
					t.Errorf("%v among the deltas of %v", each.Key, key)
				}
			}
			lines = append(lines, showAll(d))
			return nil
		})
		if err == deltafifo.ErrClosed {
			return lines
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}
