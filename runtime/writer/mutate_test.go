// SPDX-License-Identifier: Apache-2.0

package writer_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"github.com/informer-gen/informer-gen/runtime/object"
	"github.com/informer-gen/informer-gen/runtime/source"
	"github.com/informer-gen/informer-gen/runtime/writer"
)

var conflict = refuse(409, metav1.StatusReasonConflict)

// bubbled runs a test in a bubble, with a Writer and a server without a socket.
func bubbled(t *testing.T, test func(t *testing.T, s *server, w *writer.Writer[*Widget]), answers ...answer) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		s := &server{answers: answers}
		client, err := source.NewClient(&rest.Config{Host: "http://api.test", Transport: s})
		if err != nil {
			t.Fatal(err)
		}
		w := newWriter[*Widget](t, client, widgets, writer.Options{})
		test(t, s, w)
	})
}

func grow(w *Widget) error { w.Spec.Size++; return nil }

// TestMutateAfterConflicts: after a conflict, the function is called with the server's state.
func TestMutateAfterConflicts(t *testing.T) {
	bubbled(t, func(t *testing.T, s *server, w *writer.Writer[*Widget]) {
		var seen []string
		got, gotToken, err := w.Mutate(t.Context(), blue(), func(w *Widget) error {
			seen = append(seen, fmt.Sprint(w.ResourceVersion, " ", w.Spec.Size))
			return grow(w)
		})
		if err != nil || got.ResourceVersion != "12" || gotToken != token("12") {
			t.Errorf("got %+v, %+v, %v", got, gotToken, err)
		}
		if want := "[7 0 9 1 11 1]"; fmt.Sprint(seen) != want {
			t.Errorf("the function saw %v, want %v", seen, want)
		}
		sent := func(version string, size int) string {
			return fmt.Sprintf(`{"kind":"Widget","apiVersion":"samples.io/v1","metadata":{"name":"blue","namespace":"shop","uid":"u1","resourceVersion":%q},"spec":{"size":%d,"parts":null},"status":{"phase":""}}`, version, size)
		}
		s.wantRequests(t,
			"PUT "+item+jsonType+sent("7", 1), "GET "+item,
			"PUT "+item+jsonType+sent("9", 2), "GET "+item,
			"PUT "+item+jsonType+sent("11", 2))
	}, conflict, state("9"), conflict, state("11"), state("12"))
}

// TestMutateSendsNoUnchangedObject: neither at first nor after a conflict.
func TestMutateSendsNoUnchangedObject(t *testing.T) {
	bubbled(t, func(t *testing.T, s *server, w *writer.Writer[*Widget]) {
		cached := blue(func(w *Widget) { w.Labels = map[string]string{"a": "b"} })
		got, gotToken, err := w.MutateStatus(t.Context(), cached, func(w *Widget) error {
			w.Spec.Parts = map[string]int{} // would be sent as {}
			w.Spec.Parts = nil
			return nil
		})
		if err != nil || got == cached || got.Labels["a"] != "b" || gotToken != token("7") {
			t.Errorf("got %p %+v, %+v, %v", got, got, gotToken, err)
		}
		got, gotToken, err = w.AddFinalizer(t.Context(), blue(func(w *Widget) { w.Finalizers = []string{"a"} }), "a")
		if err != nil || len(got.Finalizers) != 1 || gotToken != token("7") {
			t.Errorf("a finalizer that is there: got %+v, %+v, %v", got, gotToken, err)
		}
		if _, gotToken, err = w.RemoveFinalizer(t.Context(), cached, "a"); err != nil || gotToken != token("7") {
			t.Errorf("a finalizer that is not there: got %+v, %v", gotToken, err)
		}
		s.wantRequests(t)

		got, gotToken, err = w.Mutate(t.Context(), cached, func(w *Widget) error { w.Spec.Size = 1; return nil })
		if err != nil || got.ResourceVersion != "9" || gotToken != token("9") || len(s.got) != 2 {
			t.Errorf("another writer has done the same: got %+v, %+v, %v after %d requests", got, gotToken, err, len(s.got))
		}
	}, conflict, state("9"))
}

// TestFinalizersAfterConflicts: after a conflict, the patch is made for the server's state.
func TestFinalizersAfterConflicts(t *testing.T) {
	bubbled(t, func(t *testing.T, s *server, w *writer.Writer[*Widget]) {
		_, gotToken, err := w.AddFinalizer(t.Context(), blue(), "mine")
		if err != nil || gotToken != token("10") {
			t.Errorf("got %+v, %v", gotToken, err)
		}
		const patch = "PATCH " + item + " application/merge-patch+json\n"
		s.wantRequests(t,
			patch+`{"metadata":{"uid":"u1","resourceVersion":"7","finalizers":["mine"]}}`, "GET "+item,
			patch+`{"metadata":{"uid":"u1","resourceVersion":"9","finalizers":["theirs","mine"]}}`)
	}, conflict, state("9", `"finalizers":["theirs"]`), state("10"))
}

// TestMutateReturnsTheLastConflict: after ten attempts. The first retry is at once, the others
// after growing waits.
func TestMutateReturnsTheLastConflict(t *testing.T) {
	var answers []answer
	for range 9 {
		answers = append(answers, conflict, state("9"))
	}
	bubbled(t, func(t *testing.T, s *server, w *writer.Writer[*Widget]) {
		begin := time.Now()
		obj, gotToken, err := w.Mutate(t.Context(), blue(), grow)
		if !apierrors.IsConflict(err) || obj != nil || gotToken != (object.Token{}) || len(s.got) != 19 {
			t.Errorf("got %+v, %+v, %v after %d requests", obj, gotToken, err, len(s.got))
		}
		// 10, 20, 40 … 640 ms and a second, each by half longer or shorter
		if took := time.Since(begin); took < 1135*time.Millisecond || took > 3405*time.Millisecond {
			t.Errorf("Mutate() took %v, want 1.135s to 3.405s", took)
		}
	}, append(answers, conflict, state("10"))...)
}

func TestMutateEndsWith(t *testing.T) {
	why := errors.New("enough")
	for name, tc := range map[string]struct {
		answers []answer
		change  func(*Widget) error
		is      func(error) bool
		sent    int
	}{
		"the function's error":        {nil, func(*Widget) error { return why }, func(err error) bool { return err == why }, 0},
		"the function's own conflict": {nil, func(*Widget) error { return apierrors.NewConflict(widgets.GroupResource(), "x", why) }, apierrors.IsConflict, 0},
		"another refusal":             {[]answer{refuse(422, metav1.StatusReasonInvalid)}, grow, apierrors.IsInvalid, 1},
		"an object that was deleted":  {[]answer{conflict, refuse(404, metav1.StatusReasonNotFound)}, grow, apierrors.IsNotFound, 2},
		"an object that was replaced": {[]answer{conflict, {status: 200, body: `{"metadata":{"name":"blue","namespace":"shop","uid":"u2","resourceVersion":"9"}}`}},
			grow, apierrors.IsConflict, 2},
		"another name": {nil, func(w *Widget) error { w.Name = "red"; return nil }, func(err error) bool { return err != nil }, 0},
	} {
		t.Run(name, func(t *testing.T) {
			bubbled(t, func(t *testing.T, s *server, w *writer.Writer[*Widget]) {
				if _, _, err := w.Mutate(t.Context(), blue(), tc.change); !tc.is(err) || len(s.got) != tc.sent {
					t.Errorf("got %v after %d requests", err, len(s.got))
				}
			}, tc.answers...)
		})
	}
}

// TestMutateEndsWithItsContext: a done context ends the wait between attempts.
func TestMutateEndsWithItsContext(t *testing.T) {
	why := errors.New("enough")
	bubbled(t, func(t *testing.T, s *server, w *writer.Writer[*Widget]) {
		ctx, cancel := context.WithCancelCause(t.Context())
		time.AfterFunc(time.Millisecond, func() { cancel(why) })
		if _, _, err := w.Mutate(ctx, blue(), grow); !errors.Is(err, why) || len(s.got) != 3 {
			t.Errorf("got %v after %d requests", err, len(s.got))
		}
	}, conflict, state("9"), conflict, state("10"))
}
