// SPDX-License-Identifier: Apache-2.0

package writer_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/informer-gen/informer-gen/runtime/object"
	"github.com/informer-gen/informer-gen/runtime/reason"
	"github.com/informer-gen/informer-gen/runtime/writer"
)

const (
	collection = "/apis/samples.io/v1/namespaces/shop/widgets"
	item       = collection + "/blue"
	jsonType   = " application/json\n"

	plainBody  = `{"kind":"Widget","apiVersion":"samples.io/v1","metadata":{"name":"blue","namespace":"shop","uid":"u1","resourceVersion":"7"},"spec":{"size":0,"parts":null},"status":{"phase":""}}`
	deleteBody = `{"kind":"DeleteOptions","apiVersion":"v1","preconditions":{"uid":"u1"}}`
)

// TestRequests has the one request of each call, and returns the server's object.
func TestRequests(t *testing.T) {
	type w = *writer.Writer[*Widget]
	ctx := context.Background()
	all := writer.Options{FieldManager: "shop keeper", Force: true, DryRun: true}
	named := writer.Options{FieldManager: "shop"}
	for name, tc := range map[string]struct {
		opts writer.Options
		call func(w w) (*Widget, object.Token, error)
		want string
	}{
		"get": {named, func(w w) (*Widget, object.Token, error) {
			obj, err := w.Get(ctx, blueKey)
			return obj, token("8"), err
		}, "GET " + item},
		"create":          {writer.Options{}, func(w w) (*Widget, object.Token, error) { return w.Create(ctx, blue()) }, "POST " + collection + jsonType + plainBody},
		"create as":       {named, func(w w) (*Widget, object.Token, error) { return w.Create(ctx, blue()) }, "POST " + collection + "?fieldManager=shop" + jsonType + plainBody},
		"update":          {writer.Options{}, func(w w) (*Widget, object.Token, error) { return w.Update(ctx, blue()) }, "PUT " + item + jsonType + plainBody},
		"update status":   {writer.Options{}, func(w w) (*Widget, object.Token, error) { return w.UpdateStatus(ctx, blue()) }, "PUT " + item + "/status" + jsonType + plainBody},
		"update, dry run": {all, func(w w) (*Widget, object.Token, error) { return w.Update(ctx, blue()) }, "PUT " + item + "?dryRun=All&fieldManager=shop+keeper" + jsonType + plainBody},
		"without a kind":  {writer.Options{}, func(w w) (*Widget, object.Token, error) { return w.Update(ctx, kindless()) }, "PUT " + item + jsonType + plainBody},
		"merge patch": {writer.Options{}, func(w w) (*Widget, object.Token, error) {
			return w.Patch(ctx, blueKey, types.MergePatchType, []byte(`{"a":1}`))
		}, "PATCH " + item + " application/merge-patch+json\n" + `{"a":1}`},
		"JSON patch": {all, func(w w) (*Widget, object.Token, error) {
			return w.Patch(ctx, blueKey, types.JSONPatchType, []byte(`[]`))
		}, "PATCH " + item + "?dryRun=All&fieldManager=shop+keeper application/json-patch+json\n[]"},
		"patch of a status": {named, func(w w) (*Widget, object.Token, error) {
			return w.PatchStatus(ctx, blueKey, types.MergePatchType, []byte(`{}`))
		}, "PATCH " + item + "/status?fieldManager=shop application/merge-patch+json\n{}"},
		"patch that is an apply": {all, func(w w) (*Widget, object.Token, error) {
			return w.Patch(ctx, blueKey, types.ApplyPatchType, []byte(`{}`))
		},
			"PATCH " + item + "?dryRun=All&fieldManager=shop+keeper&force=true application/apply-patch+yaml\n{}"},
		"apply": {named, func(w w) (*Widget, object.Token, error) { return w.Apply(ctx, toApply()) },
			"PATCH " + item + "?fieldManager=shop application/apply-patch+yaml\n" + appliedBody},
		"apply of a status": {all, func(w w) (*Widget, object.Token, error) { return w.ApplyStatus(ctx, toApply()) },
			"PATCH " + item + "/status?dryRun=All&fieldManager=shop+keeper&force=true application/apply-patch+yaml\n" + appliedBody},
		"mutate": {writer.Options{}, func(w w) (*Widget, object.Token, error) {
			return w.Mutate(ctx, blue(func(w *Widget) { w.Spec.Size = 3 }), func(w *Widget) error { w.Spec.Size = 0; return nil })
		}, "PUT " + item + jsonType + plainBody},
		"mutate a status": {writer.Options{}, func(w w) (*Widget, object.Token, error) {
			return w.MutateStatus(ctx, blue(func(w *Widget) { w.Status.Phase = "Old" }), func(w *Widget) error { w.Status.Phase = ""; return nil })
		}, "PUT " + item + "/status" + jsonType + plainBody},
		"add a finalizer": {named, func(w w) (*Widget, object.Token, error) {
			return w.AddFinalizer(ctx, blue(func(w *Widget) { w.Finalizers = []string{"a"} }), "b")
		}, "PATCH " + item + "?fieldManager=shop application/merge-patch+json\n" + `{"metadata":{"uid":"u1","resourceVersion":"7","finalizers":["a","b"]}}`},
		"remove a finalizer": {writer.Options{}, func(w w) (*Widget, object.Token, error) {
			return w.RemoveFinalizer(ctx, blue(func(w *Widget) { w.Finalizers = []string{"a"} }), "a")
		}, "PATCH " + item + " application/merge-patch+json\n" + `{"metadata":{"uid":"u1","resourceVersion":"7","finalizers":[]}}`},
	} {
		t.Run(name, func(t *testing.T) {
			var written []object.Token
			tc.opts.OnWrite = func(_ context.Context, token object.Token) { written = append(written, token) }
			s, w := widgetWriter(t, tc.opts, state("8"))
			got, gotToken, err := tc.call(w)
			s.wantRequests(t, tc.want)
			if err != nil || got.ResourceVersion != "8" || got.Kind != "Widget" || got.APIVersion != "samples.io/v1" || got.Spec.Size != 1 {
				t.Fatalf("got %+v, %v", got, err)
			}
			want, wantWritten := token("8"), []object.Token{token("8")}
			if tc.opts.DryRun {
				want = object.Token{}
			}
			if tc.opts.DryRun || name == "get" {
				wantWritten = nil
			}
			if gotToken != want || !slices.Equal(written, wantWritten) {
				t.Errorf("the token is %+v, want %+v; OnWrite got %+v, want %+v", gotToken, want, written, wantWritten)
			}
			if agent, accept := s.headers[0].Get("User-Agent"), s.headers[0].Get("Accept"); agent != "shop/1" || accept != "application/json" {
				t.Errorf("the user agent is %q, Accept is %q", agent, accept)
			}
		})
	}
}

func kindless() *Widget { return blue(func(w *Widget) { w.TypeMeta = metav1.TypeMeta{} }) }

// toApply returns a Widget with zero values; only those behind pointers are sent.
func toApply() *Widget {
	zero := 0
	w := &Widget{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "blue"}}
	w.Spec.Count, w.Spec.Empty = &zero, &struct{}{}
	return w
}

const appliedBody = `{"kind":"Widget","apiVersion":"samples.io/v1","metadata":{"name":"blue","namespace":"shop"},"spec":{"count":0,"empty":{}}}`

// TestArgumentsAreNotChanged: requests and Mutate use copies.
func TestArgumentsAreNotChanged(t *testing.T) {
	ctx := context.Background()
	_, w := widgetWriter(t, writer.Options{FieldManager: "shop"}, state("8"), state("9"), state("10"), state("11"))
	given := kindless()
	w.Create(ctx, given)
	w.Apply(ctx, given)
	w.AddFinalizer(ctx, given, "f")
	_, _, err := w.Mutate(ctx, given, func(w *Widget) error { w.Labels = map[string]string{"a": "b"}; return nil })
	if err != nil || given.Kind != "" || given.Labels != nil || given.Finalizers != nil || given.ResourceVersion != "7" {
		t.Errorf("the argument is now %+v, %v", given, err)
	}
}

// TestErrorsAreTheServers: a refusal wraps a StatusError, and names the object.
func TestErrorsAreTheServers(t *testing.T) {
	ctx := context.Background()
	for name, tc := range map[string]struct {
		answer answer
		is     func(error) bool
		reason reason.Reason
	}{
		"conflict":          {refuse(409, metav1.StatusReasonConflict), apierrors.IsConflict, reason.Refused},
		"exists":            {refuse(409, metav1.StatusReasonAlreadyExists), apierrors.IsAlreadyExists, reason.Refused},
		"exists, no JSON":   {answer{status: 409, body: "no", contentType: "text/plain"}, apierrors.IsAlreadyExists, reason.Refused},
		"not found":         {refuse(404, metav1.StatusReasonNotFound), apierrors.IsNotFound, reason.NotFound},
		"forbidden":         {refuse(403, metav1.StatusReasonForbidden), apierrors.IsForbidden, reason.Forbidden},
		"invalid":           {refuse(422, metav1.StatusReasonInvalid), apierrors.IsInvalid, reason.Refused},
		"too many":          {refuse(429, metav1.StatusReasonTooManyRequests), apierrors.IsTooManyRequests, reason.Throttled},
		"internal, no JSON": {answer{status: 500, body: "oops", contentType: "text/plain"}, apierrors.IsInternalError, reason.ServerError},
	} {
		s, w := widgetWriter(t, writer.Options{}, tc.answer)
		obj, token, err := w.Create(ctx, blue())
		var refused *apierrors.StatusError
		if !errors.As(err, &refused) || !strings.Contains(err.Error(), "blue") || !tc.is(err) || reason.Of(err) != tc.reason {
			t.Errorf("%s: Create() = %T %v, reason %v", name, err, err, reason.Of(err))
		}
		if obj != nil || token != (object.Token{}) {
			t.Errorf("%s: Create() = %+v, %+v with an error, want neither", name, obj, token)
		}
		if len(s.got) != 1 {
			t.Errorf("%s: %d requests, want 1", name, len(s.got))
		}
	}
}

// TestTokens: the token depends on the object in the response.
func TestTokens(t *testing.T) {
	ctx := context.Background()
	const deleted = `"deletionTimestamp":"2026-01-01T00:00:00Z","deletionGracePeriodSeconds":`
	gone := func(resourceVersion string) object.Token {
		t := token(resourceVersion)
		t.Gone = true
		return t
	}
	type w = *writer.Writer[*Widget]
	drop := func(w w) (object.Token, error) {
		_, token, err := w.RemoveFinalizer(ctx, blue(func(w *Widget) { w.Finalizers = []string{"a"} }), "a")
		return token, err
	}
	remove := func(w w) (object.Token, error) { return w.Delete(ctx, blue(), metav1.DeleteOptions{}) }
	success := answer{status: 200, body: `{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Success","details":{"name":"blue","uid":"u1"}}`}
	for name, tc := range map[string]struct {
		call   func(w w) (object.Token, error)
		answer answer
		want   object.Token
	}{
		"an update that changed nothing":        {drop, state("7"), token("7")},
		"the last finalizer of a live object":   {drop, state("8"), token("8")},
		"the last finalizer of a deleted one":   {drop, state("7", deleted+"0"), gone("7")},
		"one of several finalizers":             {drop, state("8", deleted+"0", `"finalizers":["b"]`), token("8")},
		"a delete":                              {remove, success, gone("7")},
		"a delete that finalizers put off":      {remove, state("8", deleted+"0", `"finalizers":["b"]`), token("8")},
		"a delete that a grace period puts off": {remove, state("8", deleted+"30"), token("8")},
		"a delete that answers with the object": {remove, state("8"), gone("7")},
	} {
		var written object.Token
		_, w := widgetWriter(t, writer.Options{OnWrite: func(_ context.Context, token object.Token) { written = token }}, tc.answer)
		if got, err := tc.call(w); err != nil || got != tc.want || written != tc.want {
			t.Errorf("%s: the token is %+v, %v, OnWrite got %+v, want %+v", name, got, err, written, tc.want)
		}
	}
}

// TestOnWriteIsCalledForSuccessfulWrites: for no other calls, and with the context of the call.
func TestOnWriteIsCalledForSuccessfulWrites(t *testing.T) {
	type contextKey struct{}
	ctx := context.WithValue(context.Background(), contextKey{}, "the call's")
	var written []string
	opts := writer.Options{OnWrite: func(ctx context.Context, token object.Token) {
		written = append(written, token.ResourceVersion+" "+ctx.Value(contextKey{}).(string))
	}}
	set := func(phase string) func(*Widget) error {
		return func(w *Widget) error { w.Status.Phase = phase; return nil }
	}
	conflict := refuse(409, metav1.StatusReasonConflict)
	_, w := widgetWriter(t, opts, conflict, state("8"), state("9"), conflict, conflict, refuse(404, metav1.StatusReasonNotFound))
	if _, _, err := w.MutateStatus(ctx, blue(), set("New")); err != nil { // conflict, get, update
		t.Fatal(err)
	}
	if _, _, err := w.MutateStatus(ctx, blue(), set("")); err != nil { // sends nothing
		t.Fatal(err)
	}
	_, _, updated := w.Update(ctx, blue())
	_, _, created := w.Create(ctx, blue())
	if _, err := w.Delete(ctx, blue(), metav1.DeleteOptions{}); err == nil || updated == nil || created == nil {
		t.Error("a refused write has no error")
	}
	if want := []string{"9 the call's"}; !slices.Equal(written, want) {
		t.Errorf("OnWrite got %q, want %q", written, want)
	}
}

// TestDelete: the UID is always a precondition.
func TestDelete(t *testing.T) {
	ctx := context.Background()
	other, version, orphan, grace := types.UID("u2"), "6", metav1.DeletePropagationOrphan, int64(5)
	for name, tc := range map[string]struct {
		opts   writer.Options
		delete metav1.DeleteOptions
		want   string
	}{
		"plain":                  {writer.Options{FieldManager: "shop"}, metav1.DeleteOptions{}, deleteBody},
		"with more options":      {writer.Options{}, metav1.DeleteOptions{GracePeriodSeconds: &grace, PropagationPolicy: &orphan}, `{"kind":"DeleteOptions","apiVersion":"v1","gracePeriodSeconds":5,"preconditions":{"uid":"u1"},"propagationPolicy":"Orphan"}`},
		"with a resourceVersion": {writer.Options{}, metav1.DeleteOptions{Preconditions: &metav1.Preconditions{ResourceVersion: &version}}, `{"kind":"DeleteOptions","apiVersion":"v1","preconditions":{"uid":"u1","resourceVersion":"6"}}`},
		"with another UID":       {writer.Options{}, metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &other}}, `{"kind":"DeleteOptions","apiVersion":"v1","preconditions":{"uid":"u2"}}`},
		"as a dry run":           {writer.Options{DryRun: true}, metav1.DeleteOptions{}, `{"kind":"DeleteOptions","apiVersion":"v1","preconditions":{"uid":"u1"},"dryRun":["All"]}`},
	} {
		s, w := widgetWriter(t, tc.opts, answer{status: 200, body: `{"kind":"Status","apiVersion":"v1","status":"Success"}`})
		got, err := w.Delete(ctx, blue(), tc.delete)
		s.wantRequests(t, "DELETE "+item+jsonType+tc.want)
		if err != nil || got.Gone == tc.opts.DryRun {
			t.Errorf("%s: Delete() = %+v, %v", name, got, err)
		}
		if p := tc.delete.Preconditions; p != nil && p.UID != nil && *p.UID != other || p != nil && p.ResourceVersion != nil && p.UID != nil {
			t.Errorf("%s: the caller's preconditions are %+v now", name, p)
		}
	}
}
