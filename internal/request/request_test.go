// SPDX-License-Identifier: Apache-2.0

package request

import (
	"encoding/base64"
	"errors"
	"net/http/httptest"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// token encodes a token, which may be malformed.
func token(content string) string { return base64.RawURLEncoding.EncodeToString([]byte(content)) }

const invalidOptions = `422 Invalid "ListOptions.meta.k8s.io \"\" is invalid: `

// TestParse compares parsed requests and refusals with an API server of Kubernetes 1.37.
// test/watchcache sends such requests to one.
func TestParse(t *testing.T) {
	at := func(rv, start string) string {
		return token(`{"v":"meta.k8s.io/v1","rv":` + rv + `,"start":"` + start + `"}`)
	}
	after := at("20", `a/three\u0000`)
	for _, group := range []struct {
		name string
		rows [][2]string
	}{
		{"versions of a list", [][2]string{
			{"widgets", "list newest"},
			{"widgets?resourceVersion=0", "list any"},
			{"widgets?resourceVersion=7", "list not older than 7"},
			{"widgets?resourceVersion=0007", "list not older than 7"},
			{"widgets?resourceVersion=0&resourceVersion=7", "list any"},
			{"widgets?resourceVersion=0&resourceVersionMatch=NotOlderThan", "list any"},
			{"widgets?resourceVersion=7&resourceVersionMatch=NotOlderThan", "list not older than 7"},
			{"widgets?resourceVersion=7&resourceVersionMatch=Exact", "list exactly 7"},
			{"widgets?resourceVersion=18446744073709551615", "list not older than 18446744073709551615"},
			{"widgets?resourceVersion=0&resourceVersionMatch=Exact", invalidOptions + `resourceVersionMatch: Forbidden: resourceVersionMatch \"exact\" is forbidden for resourceVersion \"0\""`},
			{"widgets?resourceVersionMatch=Exact", invalidOptions + `resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden unless resourceVersion is provided"`},
			{"widgets?resourceVersion=5&resourceVersionMatch=Newest", invalidOptions + `resourceVersionMatch: Unsupported value: \"Newest\": supported values: \"Exact\", \"NotOlderThan\", \"\""`},
			{"widgets?resourceVersionMatch=Newest", invalidOptions + `[resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden unless resourceVersion is provided, resourceVersionMatch: Unsupported value: \"Newest\": supported values: \"Exact\", \"NotOlderThan\", \"\"]"`},
			{"widgets?resourceVersion=abc", `400 BadRequest "invalid resource version: resourceVersion: Invalid value: \"abc\": strconv.ParseUint: parsing \"abc\": invalid syntax"`},
			{"widgets?resourceVersion=-1", `400 BadRequest "invalid resource version: resourceVersion: Invalid value: \"-1\": strconv.ParseUint: parsing \"-1\": invalid syntax"`},
			{"widgets?resourceVersion= ", `400 BadRequest "invalid resource version: resourceVersion: Invalid value: \" \": strconv.ParseUint: parsing \" \": invalid syntax"`},
			{"widgets?resourceVersion=18446744073709551616", `400 BadRequest "invalid resource version: resourceVersion: Invalid value: \"18446744073709551616\": strconv.ParseUint: parsing \"18446744073709551616\": value out of range"`},
			{"widgets?sendInitialEvents=true", invalidOptions + `sendInitialEvents: Forbidden: sendInitialEvents is forbidden for list"`},
			{"widgets?allowWatchBookmarks=true", "list newest"},
			{"widgets?timeoutSeconds=abc", `400 BadRequest "strconv.ParseInt: parsing \"abc\": invalid syntax"`},
			{"widgets?unknownParam=7", "list newest"},
			{"widgets?shardSelector=shardRange(object.metadata.uid,'0x0','0x8000000000000000')", "list newest"},
		}},
		{"pages", [][2]string{
			{"widgets?limit=2", "list newest limit 2"},
			{"widgets?limit=0", "list newest"},
			{"widgets?limit=-1", "list newest"},
			{"widgets?limit=abc", `400 BadRequest "strconv.ParseInt: parsing \"abc\": invalid syntax"`},
			{"widgets?limit=2&resourceVersion=0", "list any"},
			{"widgets?limit=2&resourceVersion=0&resourceVersionMatch=NotOlderThan", "list any"},
			{"widgets?limit=2&resourceVersion=7", "list exactly 7 limit 2"},
			{"widgets?limit=2&resourceVersion=7&resourceVersionMatch=Exact", "list exactly 7 limit 2"},
			{"widgets?limit=2&resourceVersion=7&resourceVersionMatch=NotOlderThan", "list not older than 7 limit 2"},
			{"widgets?limit=2&continue=" + after, `list exactly 20 limit 2 from "a/three\x00"`},
			{"widgets?continue=" + after, `list exactly 20 from "a/three\x00"`},
			{"widgets?limit=2&resourceVersion=0&continue=" + after, `list exactly 20 from "a/three\x00"`},
			{"namespaces/a/widgets?limit=2&continue=" + after, `list exactly 20 in a limit 2 from "a/a/three\x00"`},
			{"widgets?limit=2&continue=" + at("20", `/a/three\u0000`), `list exactly 20 limit 2 from "a/three\x00"`},
			{"widgets?limit=2&continue=" + at("-1", `a/three\u0000`), `list newest limit 2 from "a/three\x00"`},
			{"widgets?limit=2&resourceVersion=7&continue=" + after, `400 BadRequest "specifying resource version is not allowed when using continue"`},
			{"widgets?limit=2&resourceVersion=7&resourceVersionMatch=Exact&continue=" + after, invalidOptions + `resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden when continue is provided"`},
			{"widgets?limit=2&resourceVersionMatch=NotOlderThan&continue=" + after, invalidOptions + `[resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden unless resourceVersion is provided, resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden when continue is provided]"`},
			{"widgets?continue=" + at("0", "a"), `400 BadRequest "invalid continue token: continue key is not valid: incorrect encoded start resourceVersion (version meta.k8s.io/v1)"`},
			{"widgets?continue=" + at("20", ""), `400 BadRequest "invalid continue token: continue key is not valid: encoded start key empty (version meta.k8s.io/v1)"`},
			{"widgets?continue=" + at("20", "../../secrets"), `400 BadRequest "invalid continue token: continue key is not valid: ../../secrets"`},
			{"widgets?continue=" + token(`{"v":"meta.k8s.io/v2","rv":20,"start":"a"}`), `400 BadRequest "invalid continue token: continue key is not valid: server does not recognize this encoded version meta.k8s.io/v2"`},
			{"widgets?continue=" + token(`{"v":`), `400 BadRequest "invalid continue token: continue key is not valid: unexpected end of JSON input"`},
			{"widgets?continue=" + token(`{"rv":"x"}`), `400 BadRequest "invalid continue token: continue key is not valid: json: cannot unmarshal string into Go struct field continueToken.rv of type int64"`},
			{"widgets?continue=%%%", `400 BadRequest "invalid continue token: continue key is not valid: illegal base64 data at input byte 0"`},
		}},
		{"selectors and names", [][2]string{
			{"namespaces/a/widgets", "list newest in a"},
			{"namespaces/a/widgets/", "list newest in a"},
			{"widgets?fieldSelector=metadata.namespace=a,metadata.name=one", "list newest fields metadata.name=one,metadata.namespace=a"},
			{"namespaces/a/widgets?fieldSelector=metadata.name=one&limit=2&resourceVersion=7", "list not older than 7 in a fields metadata.name=one"},
			{"widgets?fieldSelector=metadata.name=one&limit=2&resourceVersion=7", "list exactly 7 limit 2 fields metadata.name=one"},
			{"gizmos?fieldSelector=metadata.name=one&limit=2&resourceVersion=7", "list not older than 7 of gizmos fields metadata.name=one"},
			{"widgets?fieldSelector=spec.node==n1,spec.color!=blue", "list newest fields spec.color!=blue,spec.node=n1"},
			{"widgets?fieldSelector=spec.none=x", `400 BadRequest "field label not supported: spec.none"`},
			{"widgets?fieldSelector=metadata.labels.app=x", `400 BadRequest "field label not supported: metadata.labels.app"`},
			{"gizmos?fieldSelector=metadata.namespace=x", `400 BadRequest "field label not supported: metadata.namespace"`},
			{"widgets?fieldSelector=spec.node", `400 BadRequest "invalid selector: 'spec.node'; can't understand 'spec.node'"`},
			{"widgets?labelSelector=app in (x,y),!tier", "list newest labels app in (x,y),!tier"},
			{"widgets?labelSelector=a b c", `400 BadRequest "unable to parse requirement: found 'b', expected: in, notin, =, ==, !=, gt, lt"`},
			{"widgets?labelSelector=app in (", `400 BadRequest "unable to parse requirement: found '', expected: ',', ')' or identifier"`},
			{"widgets?labelSelector=app gt 1", `400 BadRequest "unable to parse requirement: found 'gt', expected: in, notin, =, ==, !=, gt, lt"`},
			{"widgets?labelSelector=a b c&fieldSelector=spec.node&limit=abc", `400 BadRequest "strconv.ParseInt: parsing \"abc\": invalid syntax"`},
			{"widgets?fieldSelector=spec.none=x&resourceVersionMatch=Exact", invalidOptions + `resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden unless resourceVersion is provided"`},
		}},
		{"gets", [][2]string{
			{"namespaces/a/widgets/one", "get newest in a named one"},
			{"namespaces/a/widgets/one?resourceVersion=0", "get any in a named one"},
			{"namespaces/a/widgets/one?resourceVersion=7", "get not older than 7 in a named one"},
			{"namespaces/a/widgets/one?resourceVersion=7&resourceVersionMatch=Exact&watch=true", "get not older than 7 in a named one"},
			{"namespaces/a/widgets/one?resourceVersion=abc", `500 - "resourceVersion: Invalid value: \"abc\": strconv.ParseUint: parsing \"abc\": invalid syntax"`},
			{"namespaces/a/widgets/o%e", `400 BadRequest "Name parameter invalid: \"o%e\": may not contain '%'"`},
			{"gizmos/one", "get newest of gizmos named one"},
			{"/api/v1/namespaces/a", "get newest of namespaces named a"},
			{"HEAD /apis/samples.dev/v1/namespaces/a/widgets", "list newest in a"},
		}},
		{"watches", [][2]string{
			{"widgets?watch=true", "watch newest objects changes"},
			{"widgets?watch=", "watch newest objects changes"},
			{"widgets?watch=maybe&resourceVersion=7", "watch exactly 7 changes"},
			{"widgets?watch=false", "list newest"},
			{"widgets?watch=0", "list newest"},
			{"widgets?watch=true&resourceVersion=0", "watch any objects changes"},
			{"widgets?watch=true&resourceVersion=00", "watch any objects changes"},
			{"widgets?watch=true&resourceVersion=7&timeoutSeconds=5", "watch exactly 7 changes for 5s"},
			{"widgets?watch=true&timeoutSeconds=-1", "watch newest objects changes for -1s"},
			{"widgets?watch=true&timeoutSeconds=9223372036854775807", "watch newest objects changes for 2562047h47m16s"},
			{"widgets?watch=true&resourceVersion=abc", `500 - "resourceVersion: Invalid value: \"abc\": strconv.ParseUint: parsing \"abc\": invalid syntax"`},
			{"widgets?watch=true&allowWatchBookmarks=true", "watch newest objects changes bookmarks"},
			{"widgets?watch=true&allowWatchBookmarks=true&resourceVersion=7", "watch exactly 7 changes bookmarks"},
			{"widgets?watch=true&allowWatchBookmarks=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan", "watch newest objects changes bookmarks"},
			{"widgets?watch=true&allowWatchBookmarks=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&resourceVersion=0", "watch any objects changes bookmarks"},
			{"widgets?watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&resourceVersion=7", "watch not older than 7 objects changes"},
			{"widgets?watch=true&sendInitialEvents=false&resourceVersionMatch=NotOlderThan", "watch newest changes"},
			{"widgets?watch=true&sendInitialEvents=false&resourceVersionMatch=NotOlderThan&resourceVersion=0", "watch any changes"},
			{"widgets?watch=true&sendInitialEvents=false&resourceVersionMatch=NotOlderThan&resourceVersion=7", "watch exactly 7 changes"},
			{"widgets?watch=true&sendInitialEvents=true", invalidOptions + `resourceVersionMatch: Forbidden: sendInitialEvents requires setting resourceVersionMatch to NotOlderThan"`},
			{"widgets?watch=true&sendInitialEvents=true&resourceVersionMatch=Exact&resourceVersion=7", invalidOptions + `[resourceVersionMatch: Forbidden: sendInitialEvents requires setting resourceVersionMatch to NotOlderThan, resourceVersionMatch: Unsupported value: \"Exact\": supported values: \"NotOlderThan\"]"`},
			{"widgets?watch=true&resourceVersionMatch=NotOlderThan&resourceVersion=7", invalidOptions + `resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided"`},
			{"widgets?watch=true&limit=1", "watch newest objects changes"},
			{"widgets?watch=true&continue=" + after, invalidOptions + `resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden when continue is provided"`},
			{"widgets?watch=true&resourceVersion=7&continue=x", "watch exactly 7 changes"},
			{"watch/widgets?watch=1", "watch newest objects changes"},
			{"watch/widgets", "watch any objects changes"},
			{"watch/widgets?allowWatchBookmarks=true&resourceVersion=7", "watch exactly 7 changes bookmarks"},
			{"watch/namespaces/a/widgets/one?resourceVersion=7", "watch exactly 7 in a fields metadata.name=one changes"},
			{"watch/namespaces/a/widgets/one?fieldSelector=metadata.name=one", "watch any in a fields metadata.name=one objects changes"},
			{"watch/namespaces/a/widgets/one?fieldSelector=spec.node=n1", `400 BadRequest "fieldSelector metadata.name doesn't match requested name"`},
		}},
		{"unserved paths and methods", [][2]string{
			{"/", "404"},
			{"/apis", "404"},
			{"/nosuch", "404"},
			{"/apis/samples.dev/v1", "404"},
			{"/apis/samples.dev/v2/widgets", "404"},
			{"/apis/samples.dev/v1//widgets", "404"},
			{"nothing", "404"},
			{"namespaces/a/gizmos", "404"},
			{"widgets/one", "404"},
			{"namespaces/a/widgets/one/status/more", "404"},
			{"POST /apis/samples.dev/v1/widgets", "404"},
			{"namespaces/a/widgets/one/status", `404 NotFound "widgets.samples.dev \"one\" not found"`},
			{"POST /apis/samples.dev/v1/namespaces/a/widgets", `405 MethodNotAllowed "create is not supported on resources of kind \"widgets.samples.dev\""`},
			{"PUT /apis/samples.dev/v1/gizmos/one", `405 MethodNotAllowed "update is not supported on resources of kind \"gizmos.samples.dev\""`},
			{"PATCH /apis/samples.dev/v1/gizmos/one", `405 MethodNotAllowed "patch is not supported on resources of kind \"gizmos.samples.dev\""`},
			{"DELETE /apis/samples.dev/v1/gizmos/one", `405 MethodNotAllowed "delete is not supported on resources of kind \"gizmos.samples.dev\""`},
			{"DELETE /apis/samples.dev/v1/gizmos", `405 MethodNotAllowed "deletecollection is not supported on resources of kind \"gizmos.samples.dev\""`},
			{"OPTIONS /apis/samples.dev/v1/namespaces/a/widgets", `405 MethodNotAllowed " is not supported on resources of kind \"widgets.samples.dev\""`},
		}},
	} {
		t.Run(group.name, func(t *testing.T) {
			for _, row := range group.rows {
				if got := describe(parse(row[0], "")); got != row[1] {
					t.Errorf("%s\n got %s\nwant %s", row[0], got, row[1])
				}
			}
		})
	}
}

func TestAccept(t *testing.T) {
	const metadata = ";g=meta.k8s.io;v=v1;as="
	only := func(offered string) string {
		return `406 NotAcceptable "only the following media types are accepted: ` + offered + `"`
	}
	for _, row := range [][3]string{
		{"widgets", "*/*", "list newest"},
		{"widgets", "application/*", "list newest"},
		{"widgets", "application/vnd.kubernetes.protobuf,application/json", "list newest"},
		{"widgets", "application/vnd.kubernetes.protobuf", only("application/json")},
		{"widgets", "text/html, nonsense;;", only("application/json")},
		{"widgets", "application/json;stream=watch", "list newest"},
		{"widgets", "application/json;stream=other", only("application/json")},
		{"widgets", "application/json;as=Table;g=meta.k8s.io;v=v1", only("application/json")},
		{"widgets", "application/json;as=Table;v=v1;g=meta.k8s.io,application/json", "list newest"},
		{"widgets", "application/json" + metadata + "PartialObjectMetadataList", "list newest metadata v1"},
		{"widgets", "application/json;g=meta.k8s.io;v=v1beta1;as=PartialObjectMetadataList", "list newest metadata v1beta1"},
		{"widgets", "application/json;g=meta.k8s.io;v=v2;as=PartialObjectMetadataList", only("application/json")},
		{"widgets", "application/vnd.kubernetes.protobuf" + metadata + "PartialObjectMetadataList", only("application/json")},
		{"/api/v1/namespaces", "application/vnd.kubernetes.protobuf" + metadata + "PartialObjectMetadataList", "list newest of namespaces as application/vnd.kubernetes.protobuf metadata v1"},
		{"widgets", "application/json" + metadata + "PartialObjectMetadata", `406 NotAcceptable "you requested PartialObjectMetadata, but the requested object is a list (WidgetList)"`},
		{"widgets?watch=true", "application/json" + metadata + "PartialObjectMetadata", "watch newest objects changes metadata v1"},
		{"widgets?watch=true", "application/json" + metadata + "PartialObjectMetadataList", `406 NotAcceptable "you requested PartialObjectMetadataList, but the requested object is not a list (Widget)"`},
		{"widgets?limit=abc", "application/json" + metadata + "PartialObjectMetadata", `400 BadRequest "strconv.ParseInt: parsing \"abc\": invalid syntax"`},
		{"widgets?limit=abc", "text/html", only("application/json")},
		{"/api/v1/namespaces", "*/*", "list newest of namespaces"},
		{"/api/v1/namespaces", "application/json;q=0.5,application/vnd.kubernetes.protobuf", "list newest of namespaces as application/vnd.kubernetes.protobuf"},
		{"/api/v1/namespaces", "*/*,application/vnd.kubernetes.protobuf", "list newest of namespaces as application/vnd.kubernetes.protobuf"},
		{"/api/v1/namespaces", "text/html", only("application/json, application/vnd.kubernetes.protobuf")},
	} {
		if got := describe(parse(row[0], row[1])); got != row[2] {
			t.Errorf("%s, Accept: %s\n got %s\nwant %s", row[0], row[1], got, row[2])
		}
	}
}

func TestPrefer(t *testing.T) {
	for accept, want := range map[string]Format{
		"":               JSON,
		"*/*":            JSON,
		"text/html":      JSON,
		string(Protobuf): Protobuf,
		"application/json;q=0.1," + string(Protobuf):                                   Protobuf,
		string(Protobuf) + ";as=PartialObjectMetadata;g=meta.k8s.io;v=v1":              JSON,
		string(Protobuf) + ";as=Table;g=meta.k8s.io;v=v1, application/json;profile=no": JSON,
	} {
		if got := Prefer(accept, JSON, Protobuf); got != want {
			t.Errorf("Prefer(%q) = %s, want %s", accept, got, want)
		}
	}
	const special = "application/json;g=group;v=v2;as=Special"
	for accept, want := range map[string]Format{
		"":      JSON,
		special: special,
		"application/json;as=Special;v=v2;g=group,application/json":    special,
		"application/json;as=Special;v=v1;g=group,application/json":    JSON,
		"application/json;q=0.5,application/*;v=v2;g=group;as=Special": special,
	} {
		if got := Prefer(accept, JSON, special); got != want {
			t.Errorf("Prefer(%q) = %s, want %s", accept, got, want)
		}
	}
}

func TestGzipIsAcceptedByName(t *testing.T) {
	for header, want := range map[string]bool{
		"": false, "gzip": true, "deflate, gzip": true, "gzip;q=1.0": false, "gzipped": false,
	} {
		req := httptest.NewRequest("GET", "/apis/samples.dev/v1/gizmos", nil)
		req.Header.Set("Accept-Encoding", header)
		r, err := parseRequest(req)
		if err != nil {
			t.Fatal(err)
		}
		if r.Gzip != want {
			t.Errorf("Accept-Encoding: %s: Gzip = %v, want %v", header, r.Gzip, want)
		}
	}
}

// TestInvalidOptionsHaveCauses checks the causes, from which clients read the field.
func TestInvalidOptionsHaveCauses(t *testing.T) {
	_, err := parse("widgets?resourceVersionMatch=Newest", "")
	var status *apierrors.StatusError
	if !errors.As(err, &status) {
		t.Fatalf("got %v, want a StatusError", err)
	}
	details := status.ErrStatus.Details
	if details == nil || details.Group != "meta.k8s.io" || details.Kind != "ListOptions" || len(details.Causes) != 2 {
		t.Fatalf("the details are %+v, want two causes for ListOptions", details)
	}
	for i, want := range []metav1.CauseType{"FieldValueForbidden", metav1.CauseTypeFieldValueNotSupported} {
		if cause := details.Causes[i]; cause.Type != want || cause.Field != "resourceVersionMatch" {
			t.Errorf("got cause %+v, want %s", cause, want)
		}
	}
}
