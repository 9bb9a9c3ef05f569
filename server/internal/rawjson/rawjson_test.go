// SPDX-License-Identifier: Apache-2.0

package rawjson

import (
	"encoding/json"
	"maps"
	"strconv"
	"strings"
	"testing"

	"go.uber.org/goleak"
	sigsjson "sigs.k8s.io/json"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func reader(t testing.TB, fields []string, drop ...string) *Reader {
	t.Helper()
	r, err := NewReader(fields, drop)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestParse(t *testing.T) {
	data := `{"kind":"Pod","metadata":{"name":"one","namespace":"a","uid":"u-1","resourceVersion":"42",
		"labels":{"app":"x","empty":"","nothing":null},"managedFields":[{"labels":{"not":"this"}}]},
		"spec":{"nodeName":"n1","replicas":3,"on":true,"list":[1],"deep":{"er":"yes"}},"status":{"phase":null},"type":"x"}`
	h, err := reader(t, []string{"spec.nodeName", "spec.replicas", "spec.on", "spec.list", "spec.deep.er", "status.phase", "spec.none", "type"}).Parse([]byte(data))
	if err != nil {
		t.Fatal(err)
	}
	if h.Name != "one" || h.Namespace != "a" || h.UID != "u-1" || h.Version != 42 {
		t.Errorf("Parse() = %+v", h)
	}
	if want := map[string]string{"app": "x", "empty": "", "nothing": ""}; !maps.Equal(h.Labels, want) {
		t.Errorf("labels are %v, want %v", h.Labels, want)
	}
	want := map[string]string{"spec.nodeName": "n1", "spec.replicas": "3", "spec.on": "true", "spec.deep.er": "yes", "type": "x"}
	if !maps.Equal(h.Fields, want) {
		t.Errorf("fields are %v, want %v", h.Fields, want)
	}
}

func TestParseRejects(t *testing.T) {
	for data, why := range map[string]string{
		``:                                      "EOF",
		`[]`:                                    "want an object",
		`{}`:                                    "metadata.name is missing",
		`{"metadata":null}`:                     "metadata.name is missing",
		`{"metadata":{"name":""}}`:              "metadata.name is missing",
		`{"metadata":{"name":7}}`:               ".metadata.name: want a string",
		`{"metadata":"x"}`:                      `want an object at "metadata"`,
		`{"metadata":{"name":"a","labels":[]}}`: ".metadata.labels: want an object",
		`{"metadata":{"name":"a","labels":{"b":1}}}`:                ".metadata.labels.b: want a string",
		`{"metadata":{"name":"a","resourceVersion":"x"}}`:           ".metadata.resourceVersion",
		`{"metadata":{"name":"a","resourceVersion":7}}`:             ".metadata.resourceVersion: want a string",
		`{"metadata":{"name":"a","resourceVersion":"` + `\u0031"}}`: "escaped",
		`{"metadata":{"uid":"` + strings.Repeat("\x91", 40) + `"}}`: "invalid characters",
		`{"metadata":{"name":"a"}} {}`:                              "more than one value",
		`{"metadata":{"name":"a"},"metadata":{}}`:                   "duplicate",
		`{"metadata":{"name":"a"}`:                                  "EOF",
	} {
		if _, err := Parse([]byte(data)); err == nil || !strings.Contains(err.Error(), why) {
			t.Errorf("Parse(%s) returned %v, want the error %s", data, err, why)
		}
	}
}

func TestSet(t *testing.T) {
	for _, test := range []struct{ data, version, identity string }{
		{
			`{"metadata":{"name":"a"}}`,
			`{"metadata":{"resourceVersion":"9","name":"a"}}`,
			`{"metadata":{"resourceVersion":"9","uid":"u\"","name":"a"}}`,
		},
		{
			`{"metadata": { "resourceVersion" : "1234" ,"name":"a","uid":"old"},"x":[1]}`,
			`{"metadata": { "resourceVersion" : "9" ,"name":"a","uid":"old"},"x":[1]}`,
			`{"metadata": { "resourceVersion" : "9" ,"name":"a","uid":"u\""},"x":[1]}`,
		},
		{
			`{"metadata":{"uid":"much longer","name":"a","resourceVersion":"1"}}`,
			`{"metadata":{"uid":"much longer","name":"a","resourceVersion":"9"}}`,
			`{"metadata":{"uid":"u\"","name":"a","resourceVersion":"9"}}`,
		},
		{
			`{"metadata":{"resourceVersion":null,"name":"a","uid":null}}`,
			`{"metadata":{"resourceVersion":"9","name":"a","uid":null}}`,
			`{"metadata":{"resourceVersion":"9","name":"a","uid":"u\""}}`,
		},
	} {
		got, err := SetVersion([]byte(test.data), 9)
		if err != nil || string(got) != test.version || !json.Valid(got) {
			t.Errorf("got  %s, %v\nwant %s", got, err, test.version)
		}
		got, err = SetIdentity([]byte(test.data), `u"`, 9)
		if err != nil || string(got) != test.identity || !json.Valid(got) {
			t.Errorf("got  %s, %v\nwant %s", got, err, test.identity)
		}
	}
	if _, err := SetVersion([]byte(`{}`), 9); err == nil {
		t.Error("SetVersion of an object without a name returned no error")
	}
	if got, err := SetIdentity([]byte(`{"metadata":{"name":"a"}}`), "", 9); err != nil || string(got) != `{"metadata":{"resourceVersion":"9","name":"a"}}` {
		t.Errorf("SetIdentity without a uid = %s, %v", got, err)
	}
	if _, err := SetIdentity([]byte(`{}`), "u", 9); err == nil {
		t.Error("SetIdentity of an object without a name returned no error")
	}
}

func TestStamp(t *testing.T) {
	for data, want := range map[string]string{
		` {"metadata":{"name":"a"}}`:                            `{"kind":"Pod","apiVersion":"v1","metadata":{"name":"a"}}`,
		`{"metadata":{"name":"a"},"kind":"B"}`:                  `{"metadata":{"name":"a"},"kind":"B"}`,
		`{"apiVersion":"b/v1","metadata":{"name":"a"}}`:         `{"apiVersion":"b/v1","metadata":{"name":"a"}}`,
		`{"kind":"","metadata":{"name":"a"},"apiVersion":null}`: `{"kind":"Pod","apiVersion":"v1","metadata":{"name":"a"}}`,
	} {
		h, err := Parse([]byte(data))
		if err != nil {
			t.Fatal(err)
		}
		got, err := h.Stamp([]byte(data), "v1", "Pod")
		if err != nil || string(got) != want {
			t.Errorf("got  %s, %v\nwant %s", got, err, want)
		}
	}
}

func TestMetadata(t *testing.T) {
	for data, want := range map[string]string{
		`{"metadata":{"name":"one"}}`:                                            `{"name":"one"}`,
		`{"spec":{}, "metadata" : { "name":"one", "labels":{"a":"}"} } , "x":1}`: `{ "name":"one", "labels":{"a":"}"} }`,
	} {
		got, err := Metadata([]byte(data))
		if err != nil || string(got) != want {
			t.Errorf("Metadata(%s) = %s, %v; want %s", data, got, err, want)
		}
	}
	if got, err := Metadata([]byte(`{"metadata":{}}`)); err == nil {
		t.Errorf("Metadata of an object without a name = %s, want an error", got)
	}
}

// FuzzParse shows that objects accepted by the parser can be changed, and differ only in the change
// when parsed again.
func FuzzParse(f *testing.F) {
	f.Add([]byte(`{"metadata":{"name":"a","uid":"u","resourceVersion":"7","labels":{"a":"b"}},"spec":{"x":1}}`))
	r := reader(f, []string{"spec.x"})
	f.Fuzz(func(t *testing.T, data []byte) {
		before, err := r.Parse(data)
		if err != nil {
			return
		}
		changed, err := SetVersion(data, 12345)
		if err != nil {
			t.Fatal(err)
		}
		after, err := r.Parse(changed)
		if err != nil {
			t.Fatalf("%q: %v", changed, err)
		}
		if after.Version != 12345 || after.Name != before.Name || after.UID != before.UID || !maps.Equal(after.Labels, before.Labels) || !maps.Equal(after.Fields, before.Fields) {
			t.Errorf("%q became %q", data, changed)
		}
	})
}

// FuzzParseLikeClients compares the parsed header with the one read by clients.
func FuzzParseLikeClients(f *testing.F) {
	for _, text := range []string{
		`{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a","namespace":"n","uid":"u","resourceVersion":"7","labels":{"a":"b","c":null}}}`,
		`{"metadata":{"Name":"x","name":"\u0061"},"Metadata":{}}`, `{"metadata":{"name":"a","labels":null}}`, `{"metadata":{"name":"a\ud800"}}`, `{"metadata":{"resourceVersion":"007","name":"a"}}`,
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		got, err := Parse(data)
		if err != nil {
			return
		}
		var want struct {
			APIVersion string `json:"apiVersion"`
			Kind       string `json:"kind"`
			Metadata   struct {
				Name            string            `json:"name"`
				Namespace       string            `json:"namespace"`
				UID             string            `json:"uid"`
				ResourceVersion string            `json:"resourceVersion"`
				Labels          map[string]string `json:"labels"`
			} `json:"metadata"`
		}
		if err := sigsjson.UnmarshalCaseSensitivePreserveInts(data, &want); err != nil {
			t.Fatalf("Parse accepts %q, but clients refuse it: %v", data, err)
		}
		m := want.Metadata
		if got.APIVersion != want.APIVersion || got.Kind != want.Kind || got.Name != m.Name || got.Namespace != m.Namespace || got.UID != m.UID || !maps.Equal(got.Labels, m.Labels) {
			t.Errorf("Parse(%q) = %+v, clients read %+v", data, got, want)
		}
		if version, err := strconv.ParseUint(m.ResourceVersion, 10, 64); m.ResourceVersion != "" && (err != nil || version != got.Version) {
			t.Errorf("Parse(%q) has version %d, clients read %s", data, got.Version, m.ResourceVersion)
		}
	})
}
