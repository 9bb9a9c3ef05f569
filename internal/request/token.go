// SPDX-License-Identifier: Apache-2.0

package request

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"strings"
)

// nextPage is the content of a continue token: where the next page of a list begins. It is written
// as API servers write it, so that a client may take its next page from another one.
type nextPage struct {
	// version is the resourceVersion of the list, which all of its pages have. If it is negative,
	// the page is to be of the newest state, at the price of a list that is no state as a whole.
	version int64

	// start is the key to begin at, without the namespace if the list is of one: NAMESPACE/NAME or
	// NAME. To begin after an object is to begin at its key and a zero byte.
	start string
}

// tokenVersion is the one version of tokens that there is.
const tokenVersion = "meta.k8s.io/v1"

// continueToken is a token as JSON. Messages about malformed ones have the type's name.
type continueToken struct {
	APIVersion      string `json:"v"`
	ResourceVersion int64  `json:"rv"`
	StartKey        string `json:"start"`
}

// token returns the token for clients.
func (p nextPage) token() string {
	raw, err := json.Marshal(continueToken{tokenVersion, p.version, p.start})
	if err != nil {
		panic(err) // strings and numbers have JSON
	}
	return base64.RawURLEncoding.EncodeToString(raw)
}

// Next returns the token of the page after one that has an answer: the objects from a key on, at a
// version, which is -1 for the newest state.
func (r *Request) Next(version int64, from string) string {
	if r.Namespace != "" {
		from = strings.TrimPrefix(from, r.Namespace+"/")
	}
	return nextPage{version, from}.token()
}

// parseToken reads a token that a client sends. Its errors are in an API server's words.
func parseToken(text string) (nextPage, error) {
	raw, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil {
		return nextPage{}, invalidToken(err)
	}
	var t continueToken
	if err := json.Unmarshal(raw, &t); err != nil {
		return nextPage{}, invalidToken(err)
	}
	switch {
	case t.APIVersion != tokenVersion:
		return nextPage{}, fmt.Errorf("%w: server does not recognize this encoded version %v", errInvalidToken, t.APIVersion)
	case t.ResourceVersion == 0:
		return nextPage{}, fmt.Errorf("%w: incorrect encoded start resourceVersion (version %s)", errInvalidToken, tokenVersion)
	case t.StartKey == "":
		return nextPage{}, fmt.Errorf("%w: encoded start key empty (version %s)", errInvalidToken, tokenVersion)
	}
	// Keys of custom resources begin with a slash. What Clean changes may lead out of the resource.
	key := "/" + strings.TrimPrefix(t.StartKey, "/")
	if path.Clean(key) != key {
		return nextPage{}, fmt.Errorf("%w: %s", errInvalidToken, t.StartKey)
	}
	return nextPage{t.ResourceVersion, key[1:]}, nil
}

var errInvalidToken = errors.New("continue key is not valid")

func invalidToken(err error) error { return fmt.Errorf("%w: %v", errInvalidToken, err) }
