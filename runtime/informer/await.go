// SPDX-License-Identifier: Apache-2.0

package informer

import (
	"context"
	"errors"
	"fmt"

	"github.com/informer-gen/informer-gen/runtime/informer/internal/engine"
	"github.com/informer-gen/informer-gen/runtime/informer/internal/settings"
	"github.com/informer-gen/informer-gen/runtime/object"
)

func awaitObject(ctx context.Context, e *engine.Informer, obj object.Object) error {
	if err := checkAwaited(e, "AwaitObject", obj); err != nil {
		return err
	}
	return e.AwaitObject(ctx, object.KeyOf(obj), obj.GetResourceVersion())
}

func awaitDeleted(ctx context.Context, e *engine.Informer, obj object.Object) error {
	if err := checkAwaited(e, "AwaitDeleted", obj); err != nil {
		return err
	}
	return e.AwaitDeleted(ctx, object.KeyOf(obj), obj.GetUID(), obj.GetResourceVersion())
}

func awaitToken(ctx context.Context, e *engine.Informer, token object.Token) error {
	if err := checkToken(e, "AwaitToken", token); err != nil || token == (object.Token{}) {
		return err
	}
	if token.Gone {
		return e.AwaitDeleted(ctx, token.Key, token.UID, token.ResourceVersion)
	}
	return e.AwaitObject(ctx, token.Key, token.ResourceVersion)
}

func afterToken(e *engine.Informer, token object.Token, f func()) (stop func() bool, err error) {
	if err := checkToken(e, "AfterToken", token); err != nil {
		return nil, err
	}
	switch {
	case f == nil:
		return nil, fmt.Errorf("informer %s: AfterToken: the function is nil", e.Name())
	case token == object.Token{}:
		go f()
		return func() bool { return false }, nil
	case token.Gone:
		return e.AfterDeleted(token.Key, token.UID, token.ResourceVersion, f)
	}
	return e.AfterObject(token.Key, token.ResourceVersion, f)
}

func checkToken(e *engine.Informer, call string, token object.Token) error {
	if err := initError(e); err != nil {
		return err
	}
	if token != (object.Token{}) && token.ResourceVersion == "" {
		return fmt.Errorf("informer %s: %s: the token of %s has no resourceVersion", e.Name(), call, token.Key)
	}
	return nil
}

func checkAwaited(e *engine.Informer, call string, obj object.Object) error {
	if err := initError(e); err != nil {
		return err
	}
	switch {
	case settings.IsNil(obj):
		return fmt.Errorf("informer %s: %s: the object is nil", e.Name(), call)
	case obj.GetResourceVersion() == "":
		return fmt.Errorf("informer %s: %s: %s has no resourceVersion; pass the object that the server returned", e.Name(), call, object.KeyOf(obj))
	}
	return nil
}

func waitForCacheSync(ctx context.Context, w engine.Wait, opts []WaitOption) error {
	wait, err := settings.ApplyWait(opts)
	if err == nil && ctx == nil {
		err = errNilContext
	}
	if err != nil {
		return fmt.Errorf("informer %s: WaitForCacheSync: %w", w.Informer.Name(), err)
	}
	return engine.WaitForCacheSync(ctx, wait.GiveUp, w)
}

func until(ctx context.Context, e *engine.Informer, condition func() (bool, error)) error {
	fail := func(err error) error { return fmt.Errorf("informer %s: Until: %w", e.Name(), err) }
	switch {
	case ctx == nil:
		return fail(errNilContext)
	case condition == nil:
		return fail(errors.New("the condition is nil"))
	}
	if err := initError(e); err != nil {
		return fail(err)
	}
	select {
	case <-e.Synced():
	case <-ctx.Done():
		return fail(context.Cause(ctx))
	}
	for {
		changed := e.Changed() // before looking
		if done, err := condition(); done || err != nil {
			return err
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return fail(context.Cause(ctx))
		}
	}
}
