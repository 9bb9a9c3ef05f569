// SPDX-License-Identifier: Apache-2.0

package writer

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"reflect"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"

	"github.com/informer-gen/informer-gen/runtime/object"
	"github.com/informer-gen/informer-gen/runtime/source"
)

const (
	maxAttempts = 10
	firstPause  = 10 * time.Millisecond
	maxPause    = time.Second
)

// nextRequest returns the request that changes an object from its current state. If nothing
// changes, it returns no request but the object for the caller.
type nextRequest func(current object.Object) (*source.Request, object.Object, error)

// attempt sends the requests of next, for obj first, and after each conflict for the server's
// state.
func (r *resource) attempt(ctx context.Context, call string, obj object.Object, next nextRequest) (object.Object, object.Token, error) {
	if err := r.check(call, obj); err != nil {
		return nil, object.Token{}, err
	}
	key, uid := object.KeyOf(obj), obj.GetUID()
	if obj.GetResourceVersion() == "" {
		return nil, object.Token{}, r.fail(call, key, errors.New("the object has no resourceVersion; pass one read from the server, for example by Get"))
	}
	for retries := 0; ; retries++ {
		req, unchanged, err := next(obj)
		if err != nil {
			return nil, object.Token{}, err
		}
		if req == nil {
			return unchanged, r.token(unchanged), nil
		}
		written, token, err := r.write(ctx, *req)
		if !apierrors.IsConflict(err) || retries == maxAttempts-1 {
			return written, token, err
		}
		if err := pause(ctx, retries); err != nil {
			return nil, object.Token{}, err
		}
		conflict := err
		if obj, _, err = r.get(ctx, key); err != nil {
			return nil, object.Token{}, err
		}
		if obj.GetUID() != uid {
			return nil, object.Token{}, conflict
		}
	}
}

func pause(ctx context.Context, retries int) error {
	if retries == 0 {
		return nil
	}
	wait := min(firstPause<<(retries-1), maxPause)
	timer := time.NewTimer(wait/2 + rand.N(wait))
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (r *resource) mutate(ctx context.Context, obj object.Object, subresource string, change func(object.Object) error) (object.Object, object.Token, error) {
	if change == nil {
		return nil, object.Token{}, r.fail("Mutate", object.Key{}, errors.New("the function is nil"))
	}
	return r.attempt(ctx, "Mutate", obj, func(current object.Object) (*source.Request, object.Object, error) {
		changed := current.DeepCopyObject().(object.Object)
		if err := change(changed); err != nil {
			return nil, nil, err
		}
		same, err := equal(current, changed)
		if err != nil {
			return nil, nil, r.fail("Mutate", object.KeyOf(current), err)
		}
		if same {
			return nil, changed, nil
		}
		if key := object.KeyOf(current); object.KeyOf(changed) != key || changed.GetUID() != current.GetUID() {
			return nil, nil, r.fail("Mutate", key, errors.New("the function has changed the object's namespace, name or UID"))
		}
		req := r.replace(changed, subresource)
		return &req, nil, nil
	})
}

func equal(a, b object.Object) (bool, error) {
	if reflect.DeepEqual(a, b) {
		return true, nil
	}
	before, err := json.Marshal(a)
	if err != nil {
		return false, err
	}
	after, err := json.Marshal(b)
	return bytes.Equal(before, after), err
}

func (r *resource) finalize(ctx context.Context, obj object.Object, finalizer string, add bool) (object.Object, object.Token, error) {
	call := "RemoveFinalizer"
	if add {
		call = "AddFinalizer"
	}
	return r.attempt(ctx, call, obj, func(current object.Object) (*source.Request, object.Object, error) {
		key, finalizers := object.KeyOf(current), current.GetFinalizers()
		switch {
		case finalizer == "":
			return nil, nil, r.fail(call, key, errors.New("the finalizer is empty"))
		case slices.Contains(finalizers, finalizer) == add:
			return nil, current.DeepCopyObject().(object.Object), nil
		case add:
			finalizers = append(slices.Clone(finalizers), finalizer)
		default:
			finalizers = slices.DeleteFunc(slices.Clone(finalizers), func(f string) bool { return f == finalizer })
		}
		req, err := r.finalizers(current, finalizers)
		if err != nil {
			return nil, nil, r.fail(call, key, fmt.Errorf("encoding the patch: %w", err))
		}
		return &req, nil, nil
	})
}

// finalizers returns a request that sets an object's finalizers, provided it still has its current
// state. The UID protects against a server restored from a backup, which reuses versions.
func (r *resource) finalizers(current object.Object, finalizers []string) (source.Request, error) {
	var patch struct {
		Metadata struct {
			UID             types.UID `json:"uid,omitempty"`
			ResourceVersion string    `json:"resourceVersion"`
			Finalizers      []string  `json:"finalizers"`
		} `json:"metadata"`
	}
	patch.Metadata.UID, patch.Metadata.ResourceVersion, patch.Metadata.Finalizers = current.GetUID(), current.GetResourceVersion(), finalizers
	body, err := json.Marshal(&patch)
	return source.Request{
		Method: http.MethodPatch, Key: object.KeyOf(current), Query: r.query(), Body: body, ContentType: string(types.MergePatchType),
	}, err
}
