// SPDX-License-Identifier: Apache-2.0

package devserver

import (
	"fmt"

	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// Kubeconfig returns a kubeconfig file, in YAML, for kubectl or any other client of this server.
func (s *Server) Kubeconfig() ([]byte, error) {
	const name = "devserver"
	config := clientcmdapi.NewConfig()
	config.Clusters[name] = &clientcmdapi.Cluster{Server: s.URL()}
	config.AuthInfos[name] = &clientcmdapi.AuthInfo{}
	config.Contexts[name] = &clientcmdapi.Context{Cluster: name, AuthInfo: name, Namespace: "default"}
	config.CurrentContext = name
	text, err := clientcmd.Write(*config)
	if err != nil {
		return nil, fmt.Errorf("devserver: write the kubeconfig: %w", err)
	}
	return text, nil
}
