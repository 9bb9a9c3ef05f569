// SPDX-License-Identifier: Apache-2.0

package server

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
)

// Show makes the server at that address render a world, and waits until it is served.
func Show(address string, w World) error {
	text, err := json.Marshal(w)
	if err != nil {
		return err
	}
	_, err = command(address, "show", string(text))
	return err
}

// Begin puts the world into its first state.
func Begin(address string) error {
	_, err := command(address, "begin", "")
	return err
}

// Move lets open watches send the world's events, if it has any, as fast as they are read.
// Otherwise it puts the world into its second state, and ends open watches with 410.
func Move(address string) error {
	_, err := command(address, "move", "")
	return err
}

func command(address, name, body string) ([]byte, error) {
	transport := &http.Transport{} // its own, to leave nothing behind
	defer transport.CloseIdleConnections()
	resp, err := (&http.Client{Transport: transport}).Post(address+"/"+name, "text/plain", strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err == nil && resp.StatusCode != http.StatusOK {
		err = fmt.Errorf("the server answers %s to %s: %s", resp.Status, name, text)
	}
	return text, err
}
