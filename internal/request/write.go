// SPDX-License-Identifier: Apache-2.0

package request

import (
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/internalversion/scheme"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Write is the content of a write request besides its path.
type Write struct {
	Body   []byte // the object to create or update; empty in a Delete
	Format Format // of Body
	DryRun bool   // everything is checked, and nothing is stored

	// FieldValidation is Ignore, Warn or Strict, for duplicate fields in Body.
	FieldValidation string

	Preconditions metav1.Preconditions // of a Delete
}

// ReadWrite reads the parameters and the body of a Create, an Update or a delete. The error is an
// *apierrors.StatusError with an API server's answer: 413 for a body of more than limit bytes, 415
// for an unsupported format, 400 and 422 for parameters. Errors of the connection are returned
// unchanged.
func (r *Request) ReadWrite(req *http.Request, limit int64) (*Write, error) {
	switch r.Verb {
	case Create:
		return r.readCreate(req, limit)
	case Update:
		return r.readUpdate(req, limit)
	}
	return r.readDelete(req, limit)
}

// An API server checks the parts of the three kinds of requests in three orders.

func (r *Request) readCreate(req *http.Request, limit int64) (*Write, error) {
	format, err := formatOf(req, r.formats)
	if err != nil {
		return nil, err
	}
	body, err := readBody(req, limit)
	if err != nil {
		return nil, err
	}
	var opts metav1.CreateOptions
	if err := readOptions(req.URL.Query(), &opts); err != nil {
		return nil, err
	}
	if err := invalid("CreateOptions", validation.ValidateCreateOptions(&opts)); err != nil {
		return nil, err
	}
	return newWrite(body, format, opts.DryRun, opts.FieldValidation), nil
}

func (r *Request) readUpdate(req *http.Request, limit int64) (*Write, error) {
	body, err := readBody(req, limit)
	if err != nil {
		return nil, err
	}
	var opts metav1.UpdateOptions
	if err := readOptions(req.URL.Query(), &opts); err != nil {
		return nil, err
	}
	if err := invalid("UpdateOptions", validation.ValidateUpdateOptions(&opts)); err != nil {
		return nil, err
	}
	format, err := formatOf(req, r.formats)
	if err != nil {
		return nil, err
	}
	return newWrite(body, format, opts.DryRun, opts.FieldValidation), nil
}

// readDelete reads options from the body, or from the parameters if the body is empty.
func (r *Request) readDelete(req *http.Request, limit int64) (*Write, error) {
	body, err := readBody(req, limit)
	if err != nil {
		return nil, err
	}
	var opts metav1.DeleteOptions
	if len(body) == 0 {
		err = readOptions(req.URL.Query(), &opts)
	} else {
		err = r.decodeDeleteOptions(req, body, &opts)
	}
	if err == nil {
		err = invalid(deleteOptions, validation.ValidateDeleteOptions(&opts))
	}
	if err != nil {
		return nil, err
	}
	w := newWrite(nil, "", opts.DryRun, "")
	if opts.Preconditions != nil {
		w.Preconditions = *opts.Preconditions
	}
	return w, nil
}

const deleteOptions = "DeleteOptions"

func (r *Request) decodeDeleteOptions(req *http.Request, body []byte, opts *metav1.DeleteOptions) error {
	format, err := formatOf(req, slices.Concat(r.formats, r.metadata))
	if err != nil {
		return err
	}
	info, _ := runtime.SerializerInfoForMediaType(scheme.Codecs.SupportedMediaTypes(), string(format))
	kind := metav1.SchemeGroupVersion.WithKind(deleteOptions)
	obj, _, err := scheme.Codecs.DecoderToVersion(info.Serializer, kind.GroupVersion()).Decode(body, &kind, opts)
	if err == nil && obj != opts {
		err = errors.New("decoded object cannot be converted to DeleteOptions")
	}
	if err != nil {
		return apierrors.NewBadRequest(err.Error())
	}
	return nil
}

func newWrite(body []byte, format Format, dryRun []string, fieldValidation string) *Write {
	if fieldValidation == "" {
		fieldValidation = metav1.FieldValidationWarn
	}
	return &Write{Body: body, Format: format, DryRun: len(dryRun) > 0, FieldValidation: fieldValidation}
}

func readBody(req *http.Request, limit int64) ([]byte, error) {
	body, err := io.ReadAll(http.MaxBytesReader(nil, req.Body, limit))
	if tooLarge := (*http.MaxBytesError)(nil); errors.As(err, &tooLarge) {
		return nil, apierrors.NewRequestEntityTooLargeError(fmt.Sprintf("limit is %d", limit))
	}
	return body, err
}

// formatOf returns the format of a body, or refuses it. Without a type, it is JSON.
func formatOf(req *http.Request, offered []Format) (Format, error) {
	header := req.Header.Get("Content-Type")
	if header == "" {
		return JSON, nil
	}
	if kind, _, err := mime.ParseMediaType(header); err == nil && slices.Contains(offered, Format(kind)) {
		return Format(kind), nil
	}
	return "", Unsupported(offered...)
}

// Unsupported refuses a body because of its format.
func Unsupported[F ~string](offered ...F) *apierrors.StatusError {
	var names []string
	for _, f := range offered {
		names = append(names, string(f))
	}
	return &apierrors.StatusError{ErrStatus: metav1.Status{
		Status: metav1.StatusFailure, Code: http.StatusUnsupportedMediaType, Reason: metav1.StatusReasonUnsupportedMediaType,
		Message: "the body of the request was in an unknown format - accepted media types include: " + strings.Join(names, ", "),
	}}
}

func readOptions(query url.Values, opts runtime.Object) error {
	if err := scheme.ParameterCodec.DecodeParameters(query, metav1.SchemeGroupVersion, opts); err != nil {
		return apierrors.NewBadRequest(err.Error())
	}
	return nil
}

func invalid(kind string, errs field.ErrorList) error {
	return Invalid(schema.GroupKind{Group: metav1.GroupName, Kind: kind}, "", errs)
}

// maxErrors is the number of errors shown in a refusal. Each may quote the wrong value, and
// apimachinery's time for them grows with the cube of their number.
const maxErrors = 16

// Invalid returns the refusal of an object of a kind and name, or nil without errors.
func Invalid(kind schema.GroupKind, name string, errs field.ErrorList) error {
	if len(errs) == 0 {
		return nil
	}
	shown := errs[:min(len(errs), maxErrors)]
	refusal := apierrors.NewInvalid(kind, name, shown)
	if more := len(errs) - len(shown); more > 0 {
		refusal.ErrStatus.Message += fmt.Sprintf(", and %d more", more)
	}
	return refusal
}
