// SPDX-License-Identifier: Apache-2.0

package writer_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	coordinationv1ac "k8s.io/client-go/applyconfigurations/coordination/v1"
	metav1ac "k8s.io/client-go/applyconfigurations/meta/v1"

	"github.com/informer-gen/informer-gen/runtime/object"
	"github.com/informer-gen/informer-gen/runtime/writer"
)

// widgetConfiguration is an apply configuration, as informer-gen generates them.
type widgetConfiguration struct {
	metav1ac.TypeMetaApplyConfiguration   `json:",inline"`
	metav1ac.ObjectMetaApplyConfiguration `json:"metadata,omitzero"`

	Spec struct {
		Size  *int           `json:"size,omitempty"`
		Parts map[string]int `json:"parts,omitzero"`
		Odd   unencodable    `json:"odd,omitzero"`
	} `json:"spec,omitzero"`
}

type unencodable string

func (u unencodable) MarshalJSON() ([]byte, error) {
	if u != "" {
		return nil, errors.New(string(u))
	}
	return []byte(`""`), nil
}

func configuration(change ...func(*widgetConfiguration)) *widgetConfiguration {
	c := &widgetConfiguration{}
	c.Kind, c.APIVersion = new("Widget"), new("samples.io/v1")
	c.Name, c.Namespace = new("blue"), new("shop")
	for _, f := range change {
		f(c)
	}
	return c
}

// TestApplyConfigurationSendsTheSetFields: zero values and empty maps that are set are among them.
func TestApplyConfigurationSendsTheSetFields(t *testing.T) {
	ctx := context.Background()
	const head = `{"kind":"Widget","apiVersion":"samples.io/v1","metadata":{"name":"blue","namespace":"shop"}`
	type call = func(*writer.Writer[*Widget], *widgetConfiguration) (*Widget, object.Token, error)
	apply := func(w *writer.Writer[*Widget], c *widgetConfiguration) (*Widget, object.Token, error) {
		return w.ApplyConfiguration(ctx, c)
	}
	status := func(w *writer.Writer[*Widget], c *widgetConfiguration) (*Widget, object.Token, error) {
		return w.ApplyStatusConfiguration(ctx, c)
	}
	for name, tc := range map[string]struct {
		opts   writer.Options
		call   call
		config *widgetConfiguration
		want   string
	}{
		"nothing is set": {writer.Options{FieldManager: "shop"}, apply, configuration(), "PATCH " + item + "?fieldManager=shop application/apply-patch+yaml\n" + head + "}"},
		"zero values": {writer.Options{FieldManager: "shop"}, apply, configuration(func(c *widgetConfiguration) { c.Spec.Size, c.Spec.Parts = new(0), map[string]int{} }),
			"PATCH " + item + "?fieldManager=shop application/apply-patch+yaml\n" + head + `,"spec":{"size":0,"parts":{}}}`},
		"a status, forced": {writer.Options{FieldManager: "shop", Force: true}, status, configuration(func(c *widgetConfiguration) { c.Labels = map[string]string{"a": ""} }),
			"PATCH " + item + "/status?fieldManager=shop&force=true application/apply-patch+yaml\n" +
				strings.TrimSuffix(head, "}") + `,"labels":{"a":""}}}`},
	} {
		var written object.Token
		tc.opts.OnWrite = func(_ context.Context, token object.Token) { written = token }
		s, w := widgetWriter(t, tc.opts, state("8"))
		got, gotToken, err := tc.call(w, tc.config)
		s.wantRequests(t, tc.want)
		if err != nil || got.ResourceVersion != "8" || gotToken != token("8") || written != gotToken {
			t.Errorf("%s: got %+v, %+v, %v, OnWrite %+v", name, got, gotToken, err, written)
		}
	}
}

// TestApplyConfigurationOfClientGo: client-go's own serve for Kubernetes' kinds.
func TestApplyConfigurationOfClientGo(t *testing.T) {
	leases := schema.GroupVersionResource{Group: "coordination.k8s.io", Version: "v1", Resource: "leases"}
	s, client := serve(t, answer{status: 200, body: `{"kind":"Lease","apiVersion":"coordination.k8s.io/v1","metadata":{"name":"l","namespace":"shop","uid":"u","resourceVersion":"8"}}`})
	w := newWriter[*coordinationv1.Lease](t, client, leases, writer.Options{FieldManager: "shop"})
	config := coordinationv1ac.Lease("l", "shop").WithSpec(coordinationv1ac.LeaseSpec().WithHolderIdentity(""))
	if got, _, err := w.ApplyConfiguration(context.Background(), config); err != nil || got.Name != "l" {
		t.Fatalf("ApplyConfiguration() = %+v, %v", got, err)
	}
	s.wantRequests(t, "PATCH /apis/coordination.k8s.io/v1/namespaces/shop/leases/l?fieldManager=shop application/apply-patch+yaml\n"+
		`{"kind":"Lease","apiVersion":"coordination.k8s.io/v1","metadata":{"name":"l","namespace":"shop"},"spec":{"holderIdentity":""}}`)
}

// TestApplyConfigurationOfAnyKind: a Writer of untyped objects checks the version alone.
func TestApplyConfigurationOfAnyKind(t *testing.T) {
	_, client := serve(t, state("8"))
	w := newWriter[*unstructured.Unstructured](t, client, widgets, writer.Options{FieldManager: "shop",
		NewObject: func() object.Object { return &unstructured.Unstructured{} }})
	if got, _, err := w.ApplyConfiguration(context.Background(), configuration()); err != nil || got.GetResourceVersion() != "8" {
		t.Errorf("ApplyConfiguration() = %v, %v", got, err)
	}
	_, _, err := w.ApplyConfiguration(context.Background(), coordinationv1ac.Lease("l", "shop"))
	if err == nil || !strings.Contains(err.Error(), "is of coordination.k8s.io/v1 Lease, not samples.io/v1 Lease") {
		t.Errorf("of another version: %v", err)
	}
}

// TestInvalidApplyConfigurations: the error names the call and the reason, and no request is sent.
func TestInvalidApplyConfigurations(t *testing.T) {
	ctx := context.Background()
	s, w := widgetWriter(t, writer.Options{FieldManager: "shop"})
	_, anonymous := widgetWriter(t, writer.Options{})
	set := func(change func(*widgetConfiguration)) func() error {
		return func() error { _, _, err := w.ApplyConfiguration(ctx, configuration(change)); return err }
	}
	for want, call := range map[string]func() error{
		"ApplyConfiguration: the apply configuration is nil": func() error { _, _, err := w.ApplyConfiguration(ctx, nil); return err },
		"ApplyStatusConfiguration: the apply configuration is nil": func() error {
			_, _, err := w.ApplyStatusConfiguration(ctx, (*widgetConfiguration)(nil))
			return err
		},
		"ApplyConfiguration of shop/blue: an apply needs a field manager": func() error {
			_, _, err := anonymous.ApplyConfiguration(ctx, configuration())
			return err
		},
		"ApplyConfiguration of shop/blue: the apply configuration has no apiVersion or no kind; make it by the function": set(func(c *widgetConfiguration) { c.Kind = nil }),
		"ApplyConfiguration of shop/blue: the apply configuration is of samples.io/v2 Widget, not samples.io/v1 Widget":  set(func(c *widgetConfiguration) { c.APIVersion = new("samples.io/v2") }),
		"is of samples.io/v1 Gadget, not samples.io/v1 Widget":                                                           set(func(c *widgetConfiguration) { c.Kind = new("Gadget") }),
		"the key has no name": set(func(c *widgetConfiguration) { c.Name = nil }),
		"it can't be":         set(func(c *widgetConfiguration) { c.Spec.Odd = "it can't be" }),
	} {
		if err := call(); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "widgets.samples.io/v1") {
			t.Errorf("the error is %v, want %q", err, want)
		}
	}
	s.wantRequests(t)
	for _, w := range []*writer.Writer[*Widget]{nil, {}} {
		if _, _, err := w.ApplyConfiguration(ctx, configuration()); err == nil || !strings.HasPrefix(err.Error(), "writer of nothing: ") {
			t.Errorf("of a Writer not made by New: %v", err)
		}
	}
}

// TestConflictOfApplyConfiguration: the server's error is returned unwrapped.
func TestConflictOfApplyConfiguration(t *testing.T) {
	_, w := widgetWriter(t, writer.Options{FieldManager: "shop"}, refuse(409, metav1.StatusReasonConflict))
	obj, token, err := w.ApplyConfiguration(context.Background(), configuration())
	if _, isServers := err.(interface{ Status() metav1.Status }); !isServers || obj != nil || token != (object.Token{}) {
		t.Errorf("ApplyConfiguration() = %+v, %+v, %v", obj, token, err)
	}
}
