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

// nextPage is the content of a continue token: the beginning of a list's next page. Its encoding is
// that of API servers, so a client may continue a list at another server.
type nextPage struct {
	// version is the resourceVersion of the list and all its pages. If it is negative, the page
	// shows the newest state, so the list as a whole is inconsistent.
	version int64

	// start is the key to begin at, without the namespace in a list of one namespace:
	// NAMESPACE/NAME or NAME. A zero byte behind a key means the place after its object.
	start string
}

const tokenVersion = "meta.k8s.io/v1"

// continueToken is a token as JSON. Error messages about malformed tokens contain the type's name.
type continueToken struct {
	APIVersion      string `json:"v"`
	ResourceVersion int64  `json:"rv"`
	StartKey        string `json:"start"`
}

func (p nextPage) token() string {
	raw, err := json.Marshal(continueToken{tokenVersion, p.version, p.start})
	if err != nil {
		panic(err) // strings and numbers can be encoded
	}
	return base64.RawURLEncoding.EncodeToString(raw)
}

// Next returns the token of the next page: the objects from a key on, at a version; -1 means the
// newest state.
func (r *Request) Next(version int64, from string) string {
	if r.Namespace != "" {
		from = strings.TrimPrefix(from, r.Namespace+"/")
	}
	return nextPage{version, from}.token()
}

// parseToken reads a client's token. Its errors are worded like an API server's.
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
	// Keys of custom resources begin with a slash. A path changed by Clean may leave the resource.
	key := "/" + strings.TrimPrefix(t.StartKey, "/")
	if path.Clean(key) != key {
		return nextPage{}, fmt.Errorf("%w: %s", errInvalidToken, t.StartKey)
	}
	return nextPage{t.ResourceVersion, key[1:]}, nil
}

var errInvalidToken = errors.New("continue key is not valid")

func invalidToken(err error) error { return fmt.Errorf("%w: %v", errInvalidToken, err) }
