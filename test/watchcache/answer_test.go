// SPDX-License-Identifier: Apache-2.0

package watchcache

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"path"
	"slices"
	"strings"
	"time"
)

// content is the content of an answer: an object, a list, a table or a status.
type content struct {
	Kind     string `json:"kind"`
	Metadata struct {
		Name               string            `json:"name"`
		Namespace          string            `json:"namespace"`
		ResourceVersion    string            `json:"resourceVersion"`
		Continue           string            `json:"continue"`
		RemainingItemCount *int64            `json:"remainingItemCount"`
		Annotations        map[string]string `json:"annotations"`
	} `json:"metadata"`

	Items []content `json:"items"` // of a list
	Rows  []struct {
		Object content `json:"object"`
	} `json:"rows"` // of a table

	// of a status
	Code    int    `json:"code"`
	Reason  string `json:"reason"`
	Message string `json:"message"`
	Details struct {
		RetryAfterSeconds int `json:"retryAfterSeconds"`
		Causes            []struct {
			Reason string `json:"reason"`
			Field  string `json:"field"`
		} `json:"causes"`
	} `json:"details"`
}

// reply is a received answer.
type reply struct {
	code       int
	media      string
	retryAfter string
	warning    string
	stream     bool // of events
	body       []byte
	waited     time.Duration // from the request to the first byte of the body
}

// read reads the answer to a request sent at began.
func read(resp *http.Response, began time.Time) (reply, error) {
	defer resp.Body.Close()
	r := reply{code: resp.StatusCode, media: resp.Header.Get("Content-Type"), retryAfter: resp.Header.Get("Retry-After"), warning: resp.Header.Get("Warning")}
	r.stream = r.code == http.StatusOK && r.media == "application/json" && isWatch(resp.Request)
	body := bufio.NewReader(resp.Body)
	_, _ = body.Peek(1) // a later Read returns its error
	r.waited = time.Since(began)
	var err error
	r.body, err = io.ReadAll(body)
	return r, err
}

// isWatch reports whether the answer to a request may be a stream.
func isWatch(req *http.Request) bool {
	return req.URL.Query().Has("watch") && path.Base(req.URL.Path) == "widgets"
}

// line returns an answer as a line of the file.
func (v *versions) line(r reply) string {
	switch {
	case r.stream:
		return v.events(r)
	case r.media == "application/json":
		var c content
		if err := json.Unmarshal(r.body, &c); err != nil {
			return fmt.Sprintf("%d, JSON that can't be read: %v", r.code, err)
		}
		text := fmt.Sprintf("%d %s", r.code, v.describe(c))
		if r.retryAfter != "" {
			text += " Retry-After=" + r.retryAfter
		}
		return text + r.patience(c)
	case strings.HasPrefix(r.media, "text/plain"):
		return fmt.Sprintf("%d %s %q", r.code, r.media, r.body)
	}
	return fmt.Sprintf("%d as %s", r.code, r.media)
}

// events returns the text of a stream. Of periodic bookmarks, it has only one at the end.
func (v *versions) events(r reply) string {
	words := []string{"stream"}
	for decoder := json.NewDecoder(bytes.NewReader(r.body)); ; {
		var event struct {
			Type   string  `json:"type"`
			Object content `json:"object"`
		}
		err := decoder.Decode(&event)
		if errors.Is(err, io.EOF) {
			return strings.Join(words, " ")
		} else if err != nil {
			return fmt.Sprintf("%s, and JSON that can't be read: %v", strings.Join(words, " "), err)
		}
		var about string
		switch event.Type {
		case "BOOKMARK":
			about = v.bookmark(event.Object)
		case "ERROR":
			about = fmt.Sprintf("%d %s", event.Object.Code, v.describe(event.Object)+r.patience(event.Object))
		default:
			about = v.describe(event.Object)
		}
		if last := words[len(words)-1]; strings.HasPrefix(last, "BOOKMARK") && !strings.Contains(last, "END") {
			words = words[:len(words)-1]
		}
		words = append(words, event.Type+"("+about+")")
	}
}

// patience returns the time for which a server waited for a version before it gave up. A slow
// machine makes it longer, nothing makes it shorter.
func (r reply) patience(c content) string {
	switch {
	case c.Code != http.StatusGatewayTimeout:
		return ""
	case r.waited < 3*time.Second:
		return " before 3 s"
	}
	return " after 3 s"
}

// describe returns the text of an object, a list, a table or a status.
func (v *versions) describe(c content) string {
	switch {
	case c.Kind == "Status":
		return v.status(c)
	case c.Kind == "Table":
		var rows []string
		for _, row := range c.Rows {
			rows = append(rows, v.key(row.Object))
		}
		return fmt.Sprintf("Table rv=%s [%s]", v.name(c.Metadata.ResourceVersion), strings.Join(rows, " "))
	case strings.HasSuffix(c.Kind, "List"):
		var words []string
		if c.Kind != "WidgetList" {
			words = append(words, c.Kind)
		}
		words = append(words, "rv="+v.name(c.Metadata.ResourceVersion))
		if c.Metadata.Continue != "" {
			words = append(words, v.token(c.Metadata.Continue))
		}
		if n := c.Metadata.RemainingItemCount; n != nil {
			words = append(words, fmt.Sprintf("remaining=%d", *n))
		}
		var items []string
		for _, item := range c.Items {
			items = append(items, v.key(item))
		}
		return strings.Join(append(words, "["+strings.Join(items, " ")+"]"), " ")
	}
	if c.Kind != "Widget" {
		return c.Kind + " " + v.key(c)
	}
	return v.key(c)
}

func (v *versions) key(c content) string {
	return c.Metadata.Namespace + "/" + c.Metadata.Name + "@" + v.name(c.Metadata.ResourceVersion)
}

// bookmark returns the text of a bookmark's object. In a table, the annotation is in the row.
func (v *versions) bookmark(c content) string {
	version := v.name(c.Metadata.ResourceVersion)
	if c.Kind == "Table" {
		version = "Table " + version
		for _, row := range c.Rows {
			c.Metadata.Annotations = row.Object.Metadata.Annotations
		}
	} else if c.Kind != "Widget" {
		version = c.Kind + " " + version
	}
	if c.Metadata.Annotations["k8s.io/initial-events-end"] == "true" {
		version += " END"
	}
	return version
}

func (v *versions) status(c content) string {
	reason := c.Reason
	if reason == "" {
		reason = "(no reason)"
	}
	text := fmt.Sprintf("%s %q", reason, v.inText(c.Message))
	if c.Code != 0 && c.Metadata.Continue != "" {
		text += " " + v.token(c.Metadata.Continue)
	}
	var causes []string
	for _, cause := range c.Details.Causes {
		causes = append(causes, strings.TrimSuffix(cause.Reason+" "+cause.Field, " "))
	}
	if len(causes) > 0 { // several checks of a server may find the same cause
		text += " causes=[" + strings.Join(slices.Compact(causes), ", ") + "]"
	}
	if n := c.Details.RetryAfterSeconds; n != 0 {
		text += fmt.Sprintf(" retry=%ds", n)
	}
	return text
}

// token returns the text of a continue token. Its key begins with a slash or not, depending on the
// part of the server that made it.
func (v *versions) token(text string) string {
	raw, err := base64.RawURLEncoding.DecodeString(text)
	var t struct {
		V     string      `json:"v"`
		RV    json.Number `json:"rv"`
		Start string      `json:"start"`
	}
	if err == nil {
		err = json.NewDecoder(bytes.NewReader(raw)).Decode(&t)
	}
	key, after := strings.CutSuffix(strings.TrimPrefix(t.Start, "/"), "\x00")
	if err != nil || t.V != "meta.k8s.io/v1" || !after {
		return fmt.Sprintf("next(%q)", raw)
	}
	return fmt.Sprintf("next(%s,%s)", v.name(t.RV.String()), key)
}
