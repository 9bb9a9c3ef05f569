// SPDX-License-Identifier: Apache-2.0

package syntax

// examples are comments with the markers, by name: one line for each example.
var examples = map[string]string{
	"genclient":                                "// +genclient",
	"genclient:nonNamespaced":                  "// +genclient:nonNamespaced",
	"genclient:noVerbs":                        "// +genclient:noVerbs",
	"genclient:readonly":                       "// +genclient:readonly",
	"genclient:onlyVerbs":                      "// +genclient:onlyVerbs=get,list,watch",
	"genclient:skipVerbs":                      "// +genclient:skipVerbs=deleteCollection",
	"genclient:noStatus":                       "// +genclient:noStatus",
	"genclient:method":                         "// +genclient:method=GetScale,verb=get,subresource=scale,result=k8s.io/api/autoscaling/v1.Scale",
	"resourceName":                             "// +resourceName=gizmos",
	"groupName":                                "// +groupName=samples.example.com",
	"groupGoName":                              "// +groupGoName=Samples",
	"versionName":                              "// +versionName=v1beta1",
	"kubebuilder:object:root":                  "// +kubebuilder:object:root=true",
	"kubebuilder:resource":                     "// +kubebuilder:resource:path=gizmos,scope=Cluster",
	"kubebuilder:skip":                         "// +kubebuilder:skip",
	"kubebuilder:skipversion":                  "// +kubebuilder:skipversion",
	"kubebuilder:unservedversion":              "// +kubebuilder:unservedversion",
	"kubebuilder:deprecatedversion":            `// +kubebuilder:deprecatedversion:warning="use example.com/v2 Gizmo"`,
	"informer:generate":                        "// +informer:generate=false",
	"informer:plural":                          "// +informer:plural=Moose",
	"k8s:informer-gen":                         "// +k8s:informer-gen=false",
	"k8s:lister-gen":                           "// +k8s:lister-gen=false",
	"k8s:client-gen":                           "// +k8s:client-gen=false",
	"k8s:prerelease-lifecycle-gen:deprecated":  "// +k8s:prerelease-lifecycle-gen:deprecated=1.21",
	"k8s:prerelease-lifecycle-gen:removed":     "// +k8s:prerelease-lifecycle-gen:removed=1.25",
	"k8s:prerelease-lifecycle-gen:replacement": "// +k8s:prerelease-lifecycle-gen:replacement=policy,v1,PodDisruptionBudget",
	"informer:index": `// +informer:index:name=ByNode,field=.spec.nodeName
// +informer:index:name=ByImage,field=.spec.containers[*].image
// +informer:index:name=ByApp,field=.metadata.labels['app.kubernetes.io/name']
// +informer:index:name=ByNodeAndPhase,field=.spec.nodeName;.status.phase
// +informer:index:name=ByClaim,field=.spec.claimName,when=.spec.suspend==false,namespaced=true
// +informer:index:name=ByController,owner=controller
// +informer:index:name=ByDeployment,owner=Deployment.apps
// +informer:index:name=ByZone,func=Zones
// +informer:index:name=ByNode,field=.spec.nodeName,projection=GizmoPlacement`,
	"informer:project": `// +informer:project:name=GizmoPlacement,fields=.spec.nodeName;.status.phase;.metadata.labels
// +informer:project:name=GizmoImages,fields=.spec.containers[*].image`,
}
