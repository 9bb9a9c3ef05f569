// SPDX-License-Identifier: Apache-2.0

package request

import (
	"fmt"
	"math"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/internalversion"
	"k8s.io/apimachinery/pkg/apis/meta/internalversion/scheme"
	"k8s.io/apimachinery/pkg/apis/meta/internalversion/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/informer-gen/informer-gen/internal/shard"
)

func (r *Request) readGet(query url.Values) error {
	version := query.Get("resourceVersion")
	number, err := ParseVersion(version)
	switch {
	case err != nil:
		return internalError(err)
	case version == "":
		r.State = State{Match: Newest}
	case number == 0:
		r.State = State{Match: Any}
	default:
		r.State = State{NotOlderThan, number}
	}
	return nil
}

// invalidNameReason returns the reason why a name can't be part of a path, or "".
func invalidNameReason(name string) string {
	switch {
	case name == "." || name == "..":
		return "may not be '" + name + "'"
	case strings.Contains(name, "/"):
		return "may not contain '/'"
	case strings.Contains(name, "%"):
		return "may not contain '%'"
	}
	return ""
}

func (r *Request) readCollection(t Target, query url.Values, resource Resource) error {
	var opts internalversion.ListOptions
	if err := scheme.ParameterCodec.DecodeParameters(query, metav1.SchemeGroupVersion, &opts); err != nil {
		return apierrors.NewBadRequest(err.Error())
	}
	// A watch by path only isn't validated as a watch: the API server's rules look at the
	// parameter.
	internalversion.SetListOptionsDefaults(&opts, true)
	if err := invalid("ListOptions", validation.ValidateListOptions(&opts, true)); err != nil {
		return err
	}
	if err := r.readSelectors(t, &opts, resource); err != nil {
		return err
	}
	if resource.Shards {
		if err := r.readShard(query.Get("shardSelector")); err != nil {
			return err
		}
	}
	if r.Verb == Watch {
		return r.readWatch(&opts)
	}
	return r.readList(&opts, resource)
}

// readSelectors sets Labels and Fields. A name in a watch's path becomes a field selector.
func (r *Request) readSelectors(t Target, opts *internalversion.ListOptions, resource Resource) error {
	r.Labels, r.Fields = labels.Everything(), fields.Everything()
	if opts.LabelSelector != nil {
		r.Labels = opts.LabelSelector
	}
	if opts.FieldSelector != nil {
		r.Fields = opts.FieldSelector
	}
	for _, want := range r.Fields.Requirements() {
		known := want.Field == nameField || want.Field == namespaceField && resource.Namespaced || slices.Contains(resource.Fields, want.Field)
		if !known {
			return apierrors.NewBadRequest("field label not supported: " + want.Field)
		}
	}
	if t.Name == "" {
		return nil
	}
	if r.Fields.Empty() {
		r.Fields = fields.OneTermEqualSelector(nameField, t.Name)
	}
	if selected, ok := r.Fields.RequiresExactMatch(nameField); !ok || selected != t.Name {
		return apierrors.NewBadRequest("fieldSelector metadata.name doesn't match requested name")
	}
	return nil
}

func (r *Request) readShard(selector string) error {
	parsed, err := shard.Parse(selector)
	switch {
	case err != nil:
		return apierrors.NewBadRequest(fmt.Sprintf("invalid shard selector: %v", err))
	case parsed != nil:
		r.Shard = selector
	}
	return nil
}

const nameField, namespaceField = "metadata.name", "metadata.namespace"

// readList sets the fields of a list. An API server reads a list of one name as a get, so the limit
// doesn't matter.
func (r *Request) readList(opts *internalversion.ListOptions, resource Resource) error {
	r.Limit = max(opts.Limit, 0)
	if opts.Continue != "" {
		return r.readContinue(opts)
	}
	if name, ok := r.Fields.RequiresExactMatch(nameField); ok && (r.Namespace != "" || !resource.Namespaced) &&
		invalidNameReason(name) == "" {
		r.Limit = 0
	}
	number, err := ParseVersion(opts.ResourceVersion)
	if err != nil {
		return apierrors.NewBadRequest(fmt.Sprintf("invalid resource version: %v", err))
	}
	switch {
	case opts.ResourceVersion == "":
		r.State = State{Match: Newest}
	case opts.ResourceVersionMatch == metav1.ResourceVersionMatchExact, opts.ResourceVersionMatch == "" && r.Limit > 0 && number > 0:
		r.State = State{Exactly, number}
	case number > 0:
		r.State = State{NotOlderThan, number}
	default:
		r.State = State{Match: Any}
	}
	r.dropLimitAtZero(opts)
	return nil
}

func (r *Request) readContinue(opts *internalversion.ListOptions) error {
	page, err := parseToken(opts.Continue)
	if err != nil {
		return apierrors.NewBadRequest(fmt.Sprintf("invalid continue token: %v", err))
	}
	if opts.ResourceVersion != "" && opts.ResourceVersion != "0" {
		return apierrors.NewBadRequest("specifying resource version is not allowed when using continue")
	}
	r.State = State{Match: Newest}
	if page.version > 0 {
		r.State = State{Exactly, uint64(page.version)}
	}
	r.From = page.start
	if r.Namespace != "" {
		r.From = r.Namespace + "/" + page.start
	}
	r.dropLimitAtZero(opts)
	return nil
}

// dropLimitAtZero drops the limit of a list at version 0: API servers answer it whole, from memory.
func (r *Request) dropLimitAtZero(opts *internalversion.ListOptions) {
	if opts.ResourceVersion == "0" {
		r.Limit = 0
	}
}

func (r *Request) readWatch(opts *internalversion.ListOptions) error {
	r.Bookmarks = opts.AllowWatchBookmarks
	number, err := ParseVersion(opts.ResourceVersion)
	if err != nil {
		return internalError(err)
	}
	r.Initial = number == 0
	if opts.SendInitialEvents != nil {
		r.Initial = *opts.SendInitialEvents
	}
	switch {
	case number > 0 && r.Initial:
		r.State = State{NotOlderThan, number}
	case number > 0:
		r.State = State{Exactly, number}
	case opts.ResourceVersion == "" && opts.SendInitialEvents != nil:
		r.State = State{Match: Newest}
	default:
		r.State = State{Match: Any}
	}
	if seconds := opts.TimeoutSeconds; seconds != nil {
		const maxSeconds = math.MaxInt64 / int64(time.Second)
		r.Timeout = time.Duration(min(max(*seconds, -1), maxSeconds)) * time.Second
	}
	return nil
}

// ParseVersion reads a resourceVersion; "" is 0.
func ParseVersion(text string) (uint64, error) {
	if text == "" {
		return 0, nil
	}
	number, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		return 0, field.Invalid(field.NewPath("resourceVersion"), text, err.Error())
	}
	return number, nil
}

// internalError returns a Status for errors without one in API servers, such as a malformed version
// of a get or watch.
func internalError(err error) error {
	return &apierrors.StatusError{ErrStatus: metav1.Status{
		Status: metav1.StatusFailure, Code: http.StatusInternalServerError, Message: err.Error(),
	}}
}
