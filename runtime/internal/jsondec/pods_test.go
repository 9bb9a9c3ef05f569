// SPDX-License-Identifier: Apache-2.0

package jsondec

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"time"
)

// encodedPods returns n Pods of 200 workloads in JSON, ordered by workload. With unique true,
// hardly any string repeats.
func encodedPods(n int, unique bool) [][]byte {
	rnd := rand.New(rand.NewPCG(1, 2))
	zipf := rand.NewZipf(rnd, 1.2, 8, 199)
	replicas := make([]int, 200)
	for range n {
		replicas[zipf.Uint64()]++
	}
	var pods [][]byte
	for workload, n := range replicas {
		for range n {
			p := podText{Rand: rnd, workload: workload, suffix: ""}
			if unique {
				p.suffix = "-" + p.random(5)
			}
			pods = append(pods, []byte(p.text()))
		}
	}
	return pods
}

type podText struct {
	*rand.Rand
	workload int
	suffix   string
}

func (p *podText) random(n int) string {
	b := make([]byte, n)
	for i := range b {
		b[i] = "bcdfghjklmnpqrstvwxz2456789"[p.IntN(27)]
	}
	return string(b)
}

func (p *podText) hex(n int) string {
	b := make([]byte, n)
	for i := range b {
		b[i] = "0123456789abcdef"[p.IntN(16)]
	}
	return string(b)
}

func (p *podText) text() string {
	start := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC).Add(time.Duration(p.IntN(86400*20)) * time.Second)
	at := func(seconds int) string { return start.Add(time.Duration(seconds) * time.Second).Format(time.RFC3339) }
	x := p.suffix
	app := fmt.Sprintf("service-%d%s", p.workload, x)
	hash := fmt.Sprintf("%x", 0x6b8f9d7c5+int64(p.workload)*7919)
	image := fmt.Sprintf("registry.example.com/shop/%s:v1.%d.3", app, p.workload%17)
	imageID := fmt.Sprintf("registry.example.com/shop/%s@sha256:%064x", app, p.workload*104729)
	proxyID := fmt.Sprintf("registry.example.com/mesh/proxy%s@sha256:%064x", x, 424242)
	token := "kube-api-access-" + p.random(5)
	ip := fmt.Sprintf("10.%d.%d.%d", p.IntN(256), p.IntN(256), p.IntN(256))
	node := fmt.Sprintf("node-%d.eu-west-1.compute.internal%s", p.IntN(500), x)
	r := strings.NewReplacer("NAME", app+"-"+hash+"-"+p.random(5), "APP", app, "HASH", hash, "UID0", p.hex(8)+"-"+p.hex(4)+"-"+p.hex(4)+"-"+p.hex(4)+"-"+p.hex(12),
		"OWNER", fmt.Sprintf("%08x-1111-4222-8333-%012x", p.workload, p.workload*31), "RV", fmt.Sprint(100000+p.IntN(9000000)), "T0", at(0), "T1", at(1), "T2", at(12), "T3", at(25),
		"TOKEN", token, "IMAGEID", imageID, "IMAGE", image, "PROXYID", proxyID, "NODE", node, "PODIP", ip, "HOSTIP", fmt.Sprintf("192.168.%d.%d", p.IntN(2), p.IntN(250)),
		"CID1", "containerd://"+p.hex(64), "CID2", "containerd://"+p.hex(64), "XX", x, "CPU", fmt.Sprint(100+p.workload%9*50))
	return r.Replace(podTemplate)
}

const podTemplate = `{"metadata":{"name":"NAME","generateName":"APP-HASH-","namespace":"shop","uid":"UID0","resourceVersion":"RV","generation":1,"creationTimestamp":"T0",` +
	`"labels":{"app.kubernetes.io/name":"APP","app.kubernetes.io/part-of":"shopXX","pod-template-hash":"HASH","team":"checkoutXX"},` +
	`"annotations":{"prometheus.io/scrape":"true","prometheus.io/port":"9090","example.com/config-hash":"HASHHASHXX"},` +
	`"ownerReferences":[{"apiVersion":"apps/v1","kind":"ReplicaSet","name":"APP-HASH","uid":"OWNER","controller":true,"blockOwnerDeletion":true}],` +
	`"managedFields":[{"manager":"kube-controller-manager","operation":"Update","apiVersion":"v1","time":"T0","fieldsType":"FieldsV1","fieldsV1":{"f:metadata":{"f:annotations":{".":{},"f:prometheus.io/scrape":{},"f:prometheus.io/port":{}},"f:generateName":{},"f:labels":{".":{},"f:app.kubernetes.io/name":{},"f:pod-template-hash":{},"f:team":{}},"f:ownerReferences":{".":{},"k:{\"uid\":\"OWNER\"}":{}}},"f:spec":{"f:containers":{"k:{\"name\":\"main\"}":{".":{},"f:env":{".":{},"k:{\"name\":\"LOG_LEVEL\"}":{".":{},"f:name":{},"f:value":{}}},"f:image":{},"f:imagePullPolicy":{},"f:livenessProbe":{".":{},"f:failureThreshold":{},"f:httpGet":{".":{},"f:path":{},"f:port":{},"f:scheme":{}},"f:periodSeconds":{},"f:successThreshold":{},"f:timeoutSeconds":{}},"f:name":{},"f:ports":{".":{},"k:{\"containerPort\":8080,\"protocol\":\"TCP\"}":{".":{},"f:containerPort":{},"f:protocol":{}}},"f:resources":{".":{},"f:limits":{".":{},"f:cpu":{},"f:memory":{}}}}},"f:dnsPolicy":{},"f:restartPolicy":{},"f:schedulerName":{},"f:securityContext":{}}}},` +
	`{"manager":"kubelet","operation":"Update","apiVersion":"v1","time":"T3","fieldsType":"FieldsV1","fieldsV1":{"f:status":{"f:conditions":{"k:{\"type\":\"ContainersReady\"}":{".":{},"f:lastProbeTime":{},"f:lastTransitionTime":{},"f:status":{},"f:type":{}},"k:{\"type\":\"Ready\"}":{".":{},"f:lastProbeTime":{},"f:lastTransitionTime":{},"f:status":{},"f:type":{}}},"f:containerStatuses":{},"f:hostIP":{},"f:phase":{},"f:podIP":{},"f:podIPs":{".":{},"k:{\"ip\":\"PODIP\"}":{".":{},"f:ip":{}}},"f:startTime":{}}},"subresource":"status"}]},` +
	`"spec":{"volumes":[{"name":"TOKEN","projected":{"sources":[{"serviceAccountToken":{"expirationSeconds":3607,"path":"tokenXX"}},{"configMap":{"name":"kube-root-ca.crt","items":[{"key":"ca.crt","path":"ca.crtXX"}]}},{"downwardAPI":{"items":[{"path":"namespaceXX","fieldRef":{"apiVersion":"v1","fieldPath":"metadata.namespace"}}]}}],"defaultMode":420}},{"name":"config","configMap":{"name":"APP-config","defaultMode":420}}],` +
	`"containers":[{"name":"main","image":"IMAGE","args":["--serve","--name=APP"],"ports":[{"name":"http","containerPort":8080,"protocol":"TCP"}],"env":[{"name":"LOG_LEVEL","value":"infoXX"},{"name":"POD_NAME","valueFrom":{"fieldRef":{"apiVersion":"v1","fieldPath":"metadata.name"}}},{"name":"DATABASE_URL","value":"postgres://APP@db.shop.svc:5432/APP"}],"resources":{"limits":{"cpu":"CPUm","memory":"256Mi"},"requests":{"cpu":"CPUm","memory":"128Mi"}},"volumeMounts":[{"name":"config","mountPath":"/etc/APP"},{"name":"TOKEN","readOnly":true,"mountPath":"/var/run/secrets/kubernetes.io/serviceaccount"}],"livenessProbe":{"httpGet":{"path":"/healthzXX","port":8080,"scheme":"HTTP"},"initialDelaySeconds":5,"timeoutSeconds":1,"periodSeconds":10,"successThreshold":1,"failureThreshold":3},"terminationMessagePath":"/dev/termination-logXX","terminationMessagePolicy":"File","imagePullPolicy":"IfNotPresent"},` +
	`{"name":"proxy","image":"registry.example.com/mesh/proxy:1.20.3XX","resources":{"limits":{"cpu":"200m","memory":"128Mi"},"requests":{"cpu":"10m","memory":"40Mi"}},"volumeMounts":[{"name":"TOKEN","readOnly":true,"mountPath":"/var/run/secrets/kubernetes.io/serviceaccount"}],"terminationMessagePath":"/dev/termination-logXX","terminationMessagePolicy":"File","imagePullPolicy":"IfNotPresent","securityContext":{"runAsUser":1337,"runAsNonRoot":true,"allowPrivilegeEscalation":false}}],` +
	`"restartPolicy":"Always","terminationGracePeriodSeconds":30,"dnsPolicy":"ClusterFirst","serviceAccountName":"APP","serviceAccount":"APP","nodeName":"NODE","securityContext":{},"schedulerName":"default-scheduler","tolerations":[{"key":"node.kubernetes.io/not-ready","operator":"Exists","effect":"NoExecute","tolerationSeconds":300},{"key":"node.kubernetes.io/unreachable","operator":"Exists","effect":"NoExecute","tolerationSeconds":300}],"priority":0,"enableServiceLinks":true,"preemptionPolicy":"PreemptLowerPriority"},` +
	`"status":{"phase":"Running","conditions":[{"type":"PodReadyToStartContainers","status":"True","lastProbeTime":null,"lastTransitionTime":"T1"},{"type":"Initialized","status":"True","lastProbeTime":null,"lastTransitionTime":"T0"},{"type":"Ready","status":"True","lastProbeTime":null,"lastTransitionTime":"T3"},{"type":"ContainersReady","status":"True","lastProbeTime":null,"lastTransitionTime":"T3"},{"type":"PodScheduled","status":"True","lastProbeTime":null,"lastTransitionTime":"T0"}],"hostIP":"HOSTIP","hostIPs":[{"ip":"HOSTIP"}],"podIP":"PODIP","podIPs":[{"ip":"PODIP"}],"startTime":"T0",` +
	`"containerStatuses":[{"name":"main","state":{"running":{"startedAt":"T2"}},"lastState":{},"ready":true,"restartCount":0,"image":"IMAGE","imageID":"IMAGEID","containerID":"CID1","started":true},{"name":"proxy","state":{"running":{"startedAt":"T2"}},"lastState":{},"ready":true,"restartCount":0,"image":"registry.example.com/mesh/proxy:1.20.3XX","imageID":"PROXYID","containerID":"CID2","started":true}],"qosClass":"Burstable"}}`
