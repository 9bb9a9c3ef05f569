// SPDX-License-Identifier: Apache-2.0

package sourcetest

import (
	stdjson "encoding/json"
	"errors"
	"fmt"
	"mime"
	"net/http"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer/json"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"

	"github.com/informer-gen/informer-gen/runtime/object"
)

// formats are the formats of bodies, in the order in which refusals name them.
var formats = []string{JSON, Protobuf}

// decoder returns the decoder of a format; nil if there is none.
func (c *collection) decoder(format string, strict bool) runtime.Decoder {
	switch format {
	case JSON:
		return json.NewSerializerWithOptions(json.DefaultMetaFactory, c.scheme, c.scheme, json.SerializerOptions{Strict: strict})
	case Protobuf:
		return protobuf.NewSerializer(c.scheme, c.scheme)
	}
	return nil
}

// scheme returns a scheme with what the bodies of requests may hold: the kind, and the options of a
// delete, in the groups that clients give them.
func scheme(kind schema.GroupVersionKind, obj object.Object) *runtime.Scheme {
	scheme := runtime.NewScheme()
	scheme.AddKnownTypeWithName(kind, obj)
	for _, gv := range []schema.GroupVersion{kind.GroupVersion(), {Version: "v1"}, metav1.SchemeGroupVersion} {
		scheme.AddKnownTypeWithName(gv.WithKind(deleteOptions), &metav1.DeleteOptions{})
	}
	return scheme
}

const deleteOptions = "DeleteOptions"

// format returns the format of a body, or a refusal. proto allows Protobuf.
func (s *Server) format(contentType string, proto bool) (string, error) {
	var offered []string
	for _, format := range formats {
		if (s.MediaTypes == nil || slices.Contains(s.MediaTypes, format)) && (proto || format != Protobuf) {
			offered = append(offered, format)
		}
	}
	if contentType == "" {
		return JSON, nil
	}
	media, _, err := mime.ParseMediaType(contentType)
	if err != nil || !slices.Contains(offered, media) {
		return "", unknownFormat(offered)
	}
	return media, nil
}

// unknownFormat refuses a body by its Content-Type.
func unknownFormat(offered []string) *apierrors.StatusError {
	return &apierrors.StatusError{ErrStatus: metav1.Status{
		Status: metav1.StatusFailure, Code: http.StatusUnsupportedMediaType, Reason: metav1.StatusReasonUnsupportedMediaType,
		Message: "the body of the request was in an unknown format - accepted media types include: " + strings.Join(offered, ", "),
	}}
}

// decode decodes the object of a body.
func (c *collection) decode(r Request, fieldValidation string) (object.Object, error) {
	format, err := c.server.format(r.ContentType, c.proto)
	if err != nil {
		return nil, err
	}
	return c.decodeAs(format, fieldValidation, r.Body)
}

func (c *collection) decodeAs(format, fieldValidation string, raw []byte) (object.Object, error) {
	obj, kind, err := c.decoder(format, fieldValidation == metav1.FieldValidationStrict).Decode(raw, &c.kind, c.newObject())
	if content, ok := obj.(*unstructured.Unstructured); ok && err == nil {
		err = tidy(content)
	}
	switch {
	case err != nil && kind != nil && kind.Kind != "":
		return nil, apierrors.NewBadRequest(fmt.Sprintf("%s in version %q cannot be handled as a %s: %v", kind.Kind, kind.Version, c.kind.Kind, err))
	case err != nil:
		return nil, apierrors.NewBadRequest(fmt.Sprintf("the object provided is unrecognized (must be of type %s): %v", c.kind.Kind, err))
	case *kind != c.kind: // options of a delete, or an unstructured object
		return nil, apierrors.NewBadRequest(fmt.Sprintf("%s in version %q cannot be handled as a %s", kind.Kind, kind.Version, c.kind.Kind))
	}
	obj.GetObjectKind().SetGroupVersionKind(c.kind)
	return obj.(object.Object), nil
}

// tidy reads the metadata of an unstructured object as that of any other, so that clients with
// types can read it, too.
func tidy(obj *unstructured.Unstructured) error {
	raw, err := stdjson.Marshal(obj.Object["metadata"])
	if err != nil {
		return err
	}
	var metadata metav1.ObjectMeta
	if err := stdjson.Unmarshal(raw, &metadata); err != nil {
		return err
	}
	obj.Object["metadata"], err = runtime.DefaultUnstructuredConverter.ToUnstructured(&metadata)
	return err
}

// readDeleteOptions reads the options of a delete from its body, or else from its query.
func (c *collection) readDeleteOptions(r Request) (*metav1.DeleteOptions, error) {
	options := &metav1.DeleteOptions{}
	if len(r.Body) == 0 {
		if err := metav1.Convert_url_Values_To_v1_DeleteOptions(&r.Query, options, nil); err != nil {
			return nil, apierrors.NewBadRequest(err.Error())
		}
		return options, nil
	}
	format, err := c.server.format(r.ContentType, true)
	if err != nil {
		return nil, err
	}
	into := metav1.SchemeGroupVersion.WithKind(deleteOptions)
	obj, _, err := c.decoder(format, false).Decode(r.Body, &into, options)
	if err == nil && obj != options {
		err = errors.New("decoded object cannot be converted to DeleteOptions")
	}
	if err != nil {
		return nil, apierrors.NewBadRequest(err.Error())
	}
	return options, nil
}
