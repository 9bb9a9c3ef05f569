// SPDX-License-Identifier: Apache-2.0

package sourcetest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metavalidation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/informer-gen/informer-gen/runtime/object"
)

// write does what a request asks for, and sets the answer. It runs after the fault that hits the
// request.
type write func(*Answer) error

// parseWrite reads and checks a request, all but what depends on the objects that are there.
func (c *collection) parseWrite(r Request, q query) (write, error) {
	switch {
	case r.Method == http.MethodPost:
		return c.parseCreate(r, q)
	case r.Method == http.MethodPut:
		return c.parseUpdate(r, q)
	case r.Method == http.MethodPatch:
		return c.parsePatch(r, q)
	default:
		return c.parseDelete(r, q)
	}
}

func (c *collection) parseCreate(r Request, q query) (write, error) {
	var options metav1.CreateOptions
	if err := metav1.Convert_url_Values_To_v1_CreateOptions(&r.Query, &options, nil); err != nil {
		return nil, apierrors.NewBadRequest(err.Error())
	}
	if errs := metavalidation.ValidateCreateOptions(&options); len(errs) > 0 {
		return nil, invalidOptions("CreateOptions", errs)
	}
	obj, err := c.decode(r, options.FieldValidation)
	if err != nil {
		return nil, err
	}
	if err := inNamespace(obj, r.Namespace); err != nil {
		return nil, err
	}
	return func(a *Answer) error {
		c.server.mu.Lock()
		defer c.server.mu.Unlock()
		created, err := c.createLocked(obj, len(options.DryRun) > 0)
		if err == nil {
			a.created, a.Object = true, c.out(created, q.Partial)
		}
		return err
	}, nil
}

// createLocked stores a new object, which the caller must not use any more.
func (c *collection) createLocked(obj object.Object, dryRun bool) (object.Object, error) {
	c.nameLocked(obj)
	key := object.KeyOf(obj)
	obj.SetDeletionTimestamp(nil)
	obj.SetDeletionGracePeriodSeconds(nil)
	obj.SetGeneration(0)
	if c.counted {
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
	c.bornLocked(obj)
	if dryRun {
		return obj, nil
	}
	return c.writeLocked(key, obj), nil
}

func (c *collection) parseUpdate(r Request, q query) (write, error) {
	var options metav1.UpdateOptions
	if err := metav1.Convert_url_Values_To_v1_UpdateOptions(&r.Query, &options, nil); err != nil {
		return nil, apierrors.NewBadRequest(err.Error())
	}
	if errs := metavalidation.ValidateUpdateOptions(&options); len(errs) > 0 {
		return nil, invalidOptions("UpdateOptions", errs)
	}
	obj, err := c.decode(r, options.FieldValidation)
	if err != nil {
		return nil, err
	}
	e := edit{Request: r, dryRun: len(options.DryRun) > 0, uid: obj.GetUID()}
	e.do = func(object.Object) (object.Object, error) { return obj, e.named(obj) }
	return c.editing(e, q), e.named(obj)
}

// edit is an update or a patch of one object.
type edit struct {
	Request
	dryRun  bool
	applies bool      // it is an apply patch, which may create the object
	uid     types.UID // that the object must have; "" means any
	// do returns the object as it is to be stored. It must not change its argument.
	do func(old object.Object) (object.Object, error)
}

func (c *collection) editing(e edit, q query) write {
	return func(a *Answer) error {
		c.server.mu.Lock()
		defer c.server.mu.Unlock()
		var obj object.Object
		var err error
		old := c.history.get(object.Key{Namespace: e.Namespace, Name: e.Name})
		switch {
		case old != nil:
			obj, err = c.editLocked(e, old)
		case e.applies && e.Subresource == "":
			a.created = true
			if obj, err = e.do(c.newObject()); err == nil {
				obj, err = c.createAppliedLocked(e, obj)
			}
		default:
			err = apierrors.NewNotFound(c.resource.GroupResource(), e.Name)
		}
		if err == nil {
			a.Object = c.out(obj, q.Partial)
		}
		return err
	}
}

// createAppliedLocked stores the object that an apply patch makes if there is none. A patch with a
// uid is about an object that was there; a resourceVersion is ignored.
func (c *collection) createAppliedLocked(e edit, obj object.Object) (object.Object, error) {
	if uid := obj.GetUID(); uid != "" {
		return nil, c.conflict(e.Name, fmt.Errorf("uid mismatch: the provided object specified uid %s, and no existing object was found", uid))
	}
	obj.SetResourceVersion("")
	return c.createLocked(obj, e.dryRun)
}

// editLocked changes an object and returns a copy of it.
func (c *collection) editLocked(e edit, old object.Object) (object.Object, error) {
	key := object.KeyOf(old)
	if e.uid != "" && e.uid != old.GetUID() {
		//lint:ignore ST1005 the text is the API server's
		return nil, c.conflict(key.Name, fmt.Errorf("Precondition failed: UID in precondition: %v, UID in object meta: %v", e.uid, old.GetUID()))
	}
	obj, err := e.do(old)
	if err != nil {
		return nil, err
	}
	if err := c.checkVersion(obj, old); err != nil {
		return nil, err
	}
	if e.Subresource == statusPart {
		next := old.DeepCopyObject().(object.Object)
		next.SetManagedFields(obj.GetManagedFields())
		c.setStatus(next, obj)
		obj = next
	} else if c.hasStatus() {
		c.setStatus(obj, old)
	}
	if obj.GetUID() == "" {
		obj.SetUID(old.GetUID())
	}
	c.keep(obj, old)
	if err := e.own(c, obj, old); err != nil {
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

// checkVersion compares the version that a client has sent with the present one, which it gives to
// obj if the client has sent none. Custom resources need one in each update.
func (c *collection) checkVersion(obj, old object.Object) error {
	version, name := obj.GetResourceVersion(), old.GetName()
	_, err := strconv.ParseUint(version, 10, 64)
	switch {
	case version == old.GetResourceVersion():
		return nil
	case (version == "" || version == "0") && c.proto:
		obj.SetResourceVersion(old.GetResourceVersion())
		return nil
	case version == "" || version == "0" || err != nil:
		kind := schema.GroupKind{Group: c.resource.Group, Kind: c.resource.Resource}
		bad := field.Invalid(field.NewPath("metadata", "resourceVersion"), 0, "must be specified for an update")
		if err != nil && version != "" {
			bad = field.Invalid(field.NewPath("metadata", "resourceVersion"), version, err.Error())
		}
		return apierrors.NewInvalid(kind, name, field.ErrorList{bad})
	}
	return c.conflict(name, errors.New("the object has been modified; please apply your changes to the latest version and try again"))
}

func (c *collection) conflict(name string, err error) error {
	return apierrors.NewConflict(c.resource.GroupResource(), name, err)
}

// same reports whether a write would change nothing: API servers compare what they would store.
func same(a, b object.Object) bool {
	x, errX := json.Marshal(a)
	y, errY := json.Marshal(b)
	return errX == nil && errY == nil && bytes.Equal(x, y)
}

// inNamespace gives obj the namespace of the request, or refuses another one.
func inNamespace(obj object.Object, namespace string) error {
	switch own := obj.GetNamespace(); {
	case own == namespace:
	case own == "" || namespace == "":
		obj.SetNamespace(namespace)
	default:
		return apierrors.NewBadRequest("the namespace of the provided object does not match the namespace sent on the request")
	}
	return nil
}

// named gives obj the namespace of the request, and refuses another name.
func (r Request) named(obj object.Object) error {
	if err := inNamespace(obj, r.Namespace); err != nil {
		return err
	}
	switch obj.GetName() {
	case r.Name:
		return nil
	case "":
		return apierrors.NewBadRequest(fmt.Sprintf("the name of the object (%s based on URL) was undeterminable: name must be provided", r.Name))
	}
	return apierrors.NewBadRequest(fmt.Sprintf("the name of the object (%s) does not match the name on the URL (%s)", obj.GetName(), r.Name))
}

func invalidOptions(kind string, errs field.ErrorList) error {
	return apierrors.NewInvalid(schema.GroupKind{Group: metav1.GroupName, Kind: kind}, "", errs)
}
