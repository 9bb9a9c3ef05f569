// SPDX-License-Identifier: Apache-2.0

package watch_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/informer-gen/informer-gen/runtime/reason"
	"github.com/informer-gen/informer-gen/runtime/reflector"
	"github.com/informer-gen/informer-gen/runtime/source"
	"github.com/informer-gen/informer-gen/runtime/watch"
)

type job = *metav1.PartialObjectMetadata

// jobs is a Source of one job, which becomes ready in version 43 and is deleted in version 44. The
// connection breaks in between, and version 40 is expired. A program makes its Source with
// source.New.
type jobs struct{}

func (jobs) String() string { return "jobs.samples.io/v1" }

func (jobs) List(context.Context, source.ListOptions, func(job) error) (source.ListResult, error) {
	return source.ListResult{}, errors.New("a list was not expected")
}

func (jobs) Watch(_ context.Context, opts source.WatchOptions, opened func(), event func(source.Event[job]) error) error {
	happened := func(typ source.EventType, version string, labels map[string]string) error {
		obj := &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Name: "build", ResourceVersion: version, Labels: labels}}
		return event(source.Event[job]{Type: typ, Object: obj, ResourceVersion: version})
	}
	opened()
	switch opts.ResourceVersion {
	case "42":
		if err := happened(source.Modified, "43", map[string]string{"ready": "yes"}); err != nil {
			return err
		}
		return errors.New("connection reset by peer")
	case "43":
		return happened(source.Deleted, "44", nil)
	}
	return apierrors.NewResourceExpired("too old resource version")
}

// Example waits until a job, created in version 42, was ready and is gone.
func Example() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()

	ready := func(e source.Event[job]) (bool, error) { return e.Object.Labels["ready"] == "yes", nil }
	gone := func(e source.Event[job]) (bool, error) { return e.Type == source.Deleted, nil }

	opts := watch.Options{
		Backoff: reflector.Backoff{Initial: time.Millisecond},
		OnError: func(err error) { fmt.Println("again, because of:", err) },
	}
	last, err := watch.Until(ctx, jobs{}, "42", opts, ready, gone)
	fmt.Println(last.Type, last.Object.Name, last.ResourceVersion, err)
	// Output:
	// again, because of: connection reset by peer
	// DELETED build 44 <nil>
}

// ExampleRetry gets every change after a version, until the server answers 410.
func ExampleRetry() {
	err := watch.Retry(context.Background(), jobs{}, "40", watch.Options{}, func(e source.Event[job]) error {
		fmt.Println(e.Type, e.Object.Name)
		return nil
	})
	fmt.Println(err)
	fmt.Println("has to list:", reason.Of(err) == reason.Expired)
	// Output:
	// jobs.samples.io/v1: the watch can't go on after version 40: too old resource version
	// has to list: true
}
