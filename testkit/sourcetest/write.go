// SPDX-License-Identifier: Apache-2.0

package sourcetest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"strconv"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/informer-gen/informer-gen/internal/request"
	"github.com/informer-gen/informer-gen/runtime/object"
)

// write does the work of a write request, and sets the answer. It runs after the request's fault.
type write func(*Answer) error

// parseWrite reads and checks a request, except for checks against the stored objects.
func (c *collection) parseWrite(req *http.Request, r Request, q query) (write, error) {
	if r.Method == http.MethodPatch {
		return c.parsePatch(r, q)
	}
	req = req.WithContext(req.Context()) // a copy
	req.Body = io.NopCloser(bytes.NewReader(r.Body))
	sent, err := q.ReadWrite(req, math.MaxInt64)
	switch {
	case err != nil:
		return nil, err
	case r.Method == http.MethodDelete:
		return c.deleting(q, sent), nil
	}
	obj, err := c.decode(string(sent.Format), sent.FieldValidation, sent.Body)
	switch {
	case err != nil:
		return nil, err
	case r.Method == http.MethodPost:
		return c.creating(obj, q, sent.DryRun), q.InNamespace(obj)
	}
	e := edit{query: q, sent: r, dryRun: sent.DryRun, uid: obj.GetUID()}
	e.do = func(object.Object) (object.Object, error) { return obj, nil }
	return c.editing(e), q.Named(obj)
}

func (c *collection) creating(obj object.Object, q query, dryRun bool) write {
	return func(a *Answer) error {
		c.server.mu.Lock()
		defer c.server.mu.Unlock()
		created, err := c.createLocked(obj, dryRun)
		if err == nil {
			a.created, a.Object = true, c.out(created, q.Partial)
		}
		return err
	}
}

// createLocked stores a new object, which the caller must not use afterwards.
func (c *collection) createLocked(obj object.Object, dryRun bool) (object.Object, error) {
	c.nameLocked(obj)
	key := object.KeyOf(obj)
	obj.SetDeletionTimestamp(nil)
	obj.SetDeletionGracePeriodSeconds(nil)
	obj.SetGeneration(0)
	if c.hasGeneration {
		obj.SetGeneration(1)
	}
	if c.hasStatus() {
		c.setStatus(obj, nil)
	}
	names := validation.ValidateNameFunc(validation.NameIsDNSSubdomain)
	if c.resource.Group == "rbac.authorization.k8s.io" {
		names = pathSegment
	}
	errs := validation.ValidateObjectMetaAccessor(obj, key.Namespace != "", names, field.NewPath("metadata"))
	version, _ := strconv.ParseUint(obj.GetResourceVersion(), 10, 64)
	switch old := c.history.get(key); {
	case len(errs) > 0:
		return nil, apierrors.NewInvalid(c.kind.GroupKind(), key.Name, errs)
	case version != 0:
		return nil, errors.New("resourceVersion should not be set on objects to be created")
	case old != nil:
		err := apierrors.NewAlreadyExists(c.resource.GroupResource(), key.Name)
		if old.GetDeletionTimestamp() != nil {
			err.ErrStatus.Message = "object is being deleted: " + err.ErrStatus.Message
		}
		return nil, err
	}
	obj.SetResourceVersion("")
	c.initLocked(obj)
	if dryRun {
		return obj, nil
	}
	return c.writeLocked(key, obj), nil
}

type edit struct {
	query
	sent    Request
	dryRun  bool
	applies bool      // an apply patch, which may create the object
	uid     types.UID // required uid; "" means any
	// do returns the object to store. It must not change its argument.
	do func(old object.Object) (object.Object, error)
}

func (c *collection) editing(e edit) write {
	return func(a *Answer) error {
		c.server.mu.Lock()
		defer c.server.mu.Unlock()
		var obj object.Object
		var err error
		old := c.history.get(object.Key{Namespace: e.Namespace, Name: e.Name})
		switch {
		case old != nil:
			obj, err = c.editLocked(e, old)
		case e.applies && e.sent.Subresource == "":
			a.created = true
			if obj, err = e.do(c.newObject()); err == nil {
				obj, err = c.createAppliedLocked(e, obj)
			}
		default:
			err = apierrors.NewNotFound(c.resource.GroupResource(), e.Name)
		}
		if err == nil {
			a.Object = c.out(obj, e.Partial)
		}
		return err
	}
}

// createAppliedLocked stores an object created by an apply patch. A patch with a uid expects an
// existing object; a resourceVersion is ignored.
func (c *collection) createAppliedLocked(e edit, obj object.Object) (object.Object, error) {
	if uid := obj.GetUID(); uid != "" {
		return nil, e.Conflict(fmt.Errorf("uid mismatch: the provided object specified uid %s, and no existing object was found", uid))
	}
	obj.SetResourceVersion("")
	return c.createLocked(obj, e.dryRun)
}

func (c *collection) editLocked(e edit, old object.Object) (object.Object, error) {
	key := object.KeyOf(old)
	if e.uid != "" && e.uid != old.GetUID() {
		//lint:ignore ST1005 the text is the API server's
		return nil, e.Conflict(fmt.Errorf("Precondition failed: UID in precondition: %v, UID in object meta: %v", e.uid, old.GetUID()))
	}
	obj, err := e.do(old)
	if err != nil {
		return nil, err
	}
	if err := c.checkVersion(e, obj, old); err != nil {
		return nil, err
	}
	if e.sent.Subresource == statusPart {
		next := old.DeepCopyObject().(object.Object)
		next.SetManagedFields(obj.GetManagedFields())
		c.setStatus(next, obj)
		obj = next
	} else if c.hasStatus() {
		c.setStatus(obj, old)
	}
	c.keepImmutable(obj, old)
	if err := e.recordOwner(c, obj, old); err != nil {
		return nil, err
	}
	keepTimes(obj, old)
	errs := validation.ValidateObjectMetaAccessor(obj, key.Namespace != "", pathSegment, field.NewPath("metadata"))
	errs = append(errs, validation.ValidateObjectMetaAccessorUpdate(obj, old, field.NewPath("metadata"))...)
	switch {
	case len(errs) > 0:
		return nil, apierrors.NewInvalid(c.kind.GroupKind(), key.Name, errs)
	case obj.GetDeletionTimestamp() != nil && len(obj.GetFinalizers()) == 0:
		if !e.dryRun {
			c.deleteLocked(key, obj.DeepCopyObject().(object.Object))
		}
		return obj, nil
	case e.dryRun || same(obj, old):
		return obj, nil
	}
	return c.writeLocked(key, obj), nil
}

// checkVersion compares the client's resourceVersion with the present one, and sets it in obj if
// the client sent none. Updates of custom resources must have one.
func (c *collection) checkVersion(e edit, obj, old object.Object) error {
	version := obj.GetResourceVersion()
	_, err := strconv.ParseUint(version, 10, 64)
	switch none := version == "" || version == "0"; {
	case version == old.GetResourceVersion():
		return nil
	case none && c.hasProtobuf:
		obj.SetResourceVersion(old.GetResourceVersion())
		return nil
	case none:
		return e.NoVersion(0, "must be specified for an update")
	case err != nil:
		return e.NoVersion(version, err.Error())
	}
	return e.Conflict(request.ErrModified)
}

// same reports whether a write would change nothing. API servers compare the stored form.
func same(a, b object.Object) bool {
	x, errX := json.Marshal(a)
	y, errY := json.Marshal(b)
	return errX == nil && errY == nil && bytes.Equal(x, y)
}
