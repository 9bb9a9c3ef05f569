// SPDX-License-Identifier: Apache-2.0

package reflector_test

import (
	"context"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/klog/v2"

	"github.com/informer-gen/informer-gen/runtime/reason"
	"github.com/informer-gen/informer-gen/runtime/reflector"
	"github.com/informer-gen/informer-gen/runtime/source"
)

type widget = *metav1.PartialObjectMetadata

func newWidget(name, version string) widget {
	return &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Name: name, ResourceVersion: version}}
}

// memory is a Source of one widget, whose watch adds a second one.
type memory struct{}

func (memory) List(_ context.Context, _ source.ListOptions, item func(widget) error) (source.ListResult, error) {
	return source.ListResult{ResourceVersion: "7"}, item(newWidget("blue", "3"))
}

func (memory) Watch(ctx context.Context, _ source.WatchOptions, opened func(), event func(source.Event[widget]) error) error {
	opened()
	if err := event(source.Event[widget]{Type: source.Added, Object: newWidget("red", "8"), ResourceVersion: "8"}); err != nil {
		return err
	}
	<-ctx.Done()
	return context.Cause(ctx)
}

// printer is a Sink that prints its calls, and calls seen after each change.
type printer struct{ seen func() }

func (printer) BeginReplace() error           { return say("begin") }
func (printer) Replace(w widget) error        { return say("  present", w.Name) }
func (printer) EndReplace(rv string) error    { return say("complete at", rv) }
func (printer) AbortReplace() error           { return say("forget it") }
func (p printer) Add(w widget) error          { defer p.seen(); return say("added", w.Name) }
func (p printer) Update(w widget) error       { defer p.seen(); return say("changed", w.Name) }
func (p printer) Delete(w widget) error       { defer p.seen(); return say("deleted", w.Name) }
func (printer) Bookmark(version string) error { return say("up to date with", version) }

func say(args ...any) error {
	fmt.Println(args...)
	return nil
}

func Example() {
	ctx, cancel := context.WithCancel(context.Background())
	r, err := reflector.New(reflector.Config[widget]{
		Name:    "widgets",
		Source:  memory{},
		Sink:    printer{seen: cancel},
		Tuning:  reflector.Tuning{DisableWatchList: true},
		OnState: func(s reflector.State) { fmt.Println("—", s) },
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(r.Run(ctx))
	// Output:
	// — listing
	// begin
	//   present blue
	// complete at 7
	// — connecting
	// — watching
	// added red
	// — stopped
	// <nil>
}

// A server refuses; the program gets the reason.
func ExampleNew_reason() {
	// without a log
	ctx, cancel := context.WithCancel(klog.NewContext(context.Background(), klog.Logger{}))
	r, err := reflector.New(reflector.Config[widget]{
		Name:   "widgets",
		Source: closed{},
		Sink:   printer{},
		OnError: func(err error) {
			why := reason.Of(err)
			fmt.Printf("%v; lasting: %v\n", why, why.Lasting())
			cancel()
		},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(r.Run(ctx))
	// Output:
	// begin
	// unauthorized; lasting: true
	// forget it
	// <nil>
}

// closed is a Source that refuses the account.
type closed struct{ memory }

func (closed) Watch(context.Context, source.WatchOptions, func(), func(source.Event[widget]) error) error {
	return apierrors.NewUnauthorized("who are you?")
}

func ExampleBackoff_Wait() {
	b := reflector.Backoff{Initial: time.Second, Max: 10 * time.Second, Jitter: -1}
	for n := 1; n <= 6; n++ {
		fmt.Print(b.Wait(n), " ")
	}
	// Output: 1s 2s 4s 8s 10s 10s
}
