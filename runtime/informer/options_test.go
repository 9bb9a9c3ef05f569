// SPDX-License-Identifier: Apache-2.0

package informer_test

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/informer-gen/informer-gen/runtime/informer"
	"github.com/informer-gen/informer-gen/runtime/informer/factories"
	"github.com/informer-gen/informer-gen/runtime/reflector"
	"github.com/informer-gen/informer-gen/runtime/source"
	"github.com/informer-gen/informer-gen/testkit/sourcetest"
)

// TestOptionsReachTheServer gives each option about reading to an informer, and to its factory, and
// checks the requests.
func TestOptionsReachTheServer(t *testing.T) {
	failing := sourcetest.Fault{Times: sourcetest.Always, Do: sourcetest.Refuse(http.StatusInternalServerError)}
	hanging := func(verb sourcetest.Verb) *sourcetest.Fault {
		return &sourcetest.Fault{On: verb, Times: sourcetest.Always, Do: sourcetest.Fail(sourcetest.ErrHang)}
	}
	silent := sourcetest.Fault{On: sourcetest.Watch, Times: sourcetest.Always, Do: func(a *sourcetest.Answer) {
		a.Events = func(sourcetest.Event) []sourcetest.Event { return nil }
	}}
	const shard = "shardRange(object.metadata.uid, '0x0000000000000000', '0x8000000000000000')"
	for name, test := range map[string]struct {
		option informer.Option
		more   []informer.Option
		fault  *sourcetest.Fault
		after  time.Duration // how long the informer runs
		// Regular expressions about the requests. Each request is a line "seconds verb query
		// accept".
		want, never string
	}{
		"watch-list":          {option: informer.WithTuning(reflector.Tuning{}), want: "sendInitialEvents=true", never: "limit="},
		"no watch-list":       {option: informer.WithTuning(reflector.Tuning{DisableWatchList: true}), want: "limit=500", never: "sendInitialEvents"},
		"page size":           {option: informer.WithTuning(reflector.Tuning{PageSize: 7}), more: []informer.Option{informer.WithTuning(reflector.Tuning{DisableWatchList: true})}, want: "limit=7"},
		"watch timeout":       {option: informer.WithTuning(reflector.Tuning{WatchTimeout: 11 * time.Hour}), want: `timeoutSeconds=[3-7]\d{4}\b`},
		"namespace":           {option: informer.WithNamespace("shop"), want: "/namespaces/shop/pods"},
		"label selector":      {option: informer.WithLabelSelector(labels.SelectorFromSet(labels.Set{"a": "b"})), want: "labelSelector=a%3Db"},
		"field selector":      {option: informer.WithFieldSelector(fields.OneTermEqualSelector("metadata.name", "x")), want: "fieldSelector=metadata.name%3Dx"},
		"shard":               {option: informer.WithShardSelector(shard), want: "shardSelector=shardRange%28object.metadata.uid"},
		"JSON":                {option: informer.WithFormats(source.JSON), want: "accept application/json\n", never: "protobuf"},
		"managedFields":       {option: informer.WithoutManagedFields(), want: "accept application/vnd.kubernetes.protobuf;drop=metadata.managedFields,application/json;drop=metadata.managedFields;q=0.9\n"},
		"all fields":          {option: informer.WithoutAnnotations("a"), want: "accept", never: "drop"},
		"the default formats": {option: informer.WithFormats(), want: "accept application/vnd.kubernetes.protobuf"},
		"initial events timeout": {
			option: informer.WithTuning(reflector.Tuning{InitialEventsTimeout: 42 * time.Second}), fault: hanging(sourcetest.WatchList), after: time.Minute, want: "\n42 list ",
		},
		"silence timeout": {
			option: informer.WithTuning(reflector.Tuning{SilenceTimeout: 42 * time.Second}), more: []informer.Option{informer.WithTuning(reflector.Tuning{DisableWatchList: true})},
			fault: &silent, after: time.Minute, want: "\n42 watch ",
		},
		"backoff": {
			option: informer.WithTuning(reflector.Tuning{Backoff: reflector.Backoff{Initial: 5 * time.Second, Max: time.Hour, Jitter: -1}}),
			more:   []informer.Option{informer.WithTuning(reflector.Tuning{DisableWatchList: true})},
			fault:  &failing, after: time.Minute, want: "\n15 list ", never: "\n10 list ",
		},
	} {
		for _, inFactory := range []bool{true, false} {
			inBubble(t, fmt.Sprintf("%s, of the factory %v", name, inFactory), func(t *testing.T) {
				var requests strings.Builder
				for _, line := range requestsWith(t, test.option, test.more, test.fault, test.after, inFactory) {
					requests.WriteString("\n" + line)
				}
				text := requests.String() + "\n"
				if !regexp.MustCompile(test.want).MatchString(text) || test.never != "" && regexp.MustCompile(test.never).MatchString(text) {
					t.Errorf("requests:%s\nwant a match of %q, none of %q", text, test.want, test.never)
				}
			})
		}
	}
}

// requestsWith runs an informer with an option, and returns its requests.
func requestsWith(t *testing.T, option informer.Option, more []informer.Option, fault *sourcetest.Fault, after time.Duration, inFactory bool) []string {
	server, _, client := cluster(pod("shop", "blue", ""))
	if fault != nil {
		server.Inject(*fault)
	}
	options := append([]informer.Option{informer.WithLogger(discard)}, more...)
	var factory *factories.Factory
	if inFactory {
		factory = factories.New(client, append(options, option)...)
		factories.For[*corev1.Pod](factory, podResource)
	} else {
		factory = factories.New(client, options...)
		factories.For[*corev1.Pod](factory, podResource, option)
	}
	started := time.Now()
	noError(t, factory.Start(t.Context()))
	time.Sleep(after)
	synctest.Wait()
	noError(t, factory.Shutdown(t.Context()))
	var lines []string
	for _, r := range server.Requests() {
		lines = append(lines, fmt.Sprintf("%d %v accept %s", int(r.Time.Sub(started).Seconds()), r, r.Accept))
	}
	return lines
}

// TestDroppedFields checks objects without managed fields and annotations.
func TestDroppedFields(t *testing.T) {
	for _, format := range []source.Format{source.Protobuf, source.JSON} {
		inBubble(t, format.String(), func(t *testing.T) {
			_, pods, client := cluster()
			pods.Create(podWithDroppedFields("blue"))
			factory := factories.New(client, informer.WithFormats(format),
				informer.WithoutManagedFields(), informer.WithoutAnnotations("kubectl.kubernetes.io/last-applied-configuration"))
			cache := factories.For[*corev1.Pod](factory, podResource)
			noError(t, factory.Start(t.Context()))
			synctest.Wait()
			pods.Create(podWithDroppedFields("green"))
			synctest.Wait()
			got := cache.Store().Snapshot()
			if got.Len() != 2 {
				t.Fatalf("%d objects, want 2", got.Len())
			}
			for pod := range got.All() {
				if len(pod.ManagedFields) > 0 || len(pod.Annotations) != 1 || pod.Annotations["kept"] != "yes" {
					t.Errorf("pod %s has %d managed fields and the annotations %v", pod.Name, len(pod.ManagedFields), pod.Annotations)
				}
			}
			noError(t, factory.Shutdown(t.Context()))
		})
	}
}

// podWithDroppedFields returns a pod with the fields that the options drop.
func podWithDroppedFields(name string) *corev1.Pod {
	p := pod("shop", name, "node-7")
	p.Annotations = map[string]string{"kept": "yes", "kubectl.kubernetes.io/last-applied-configuration": "{}"}
	p.ManagedFields = []metav1.ManagedFieldsEntry{{Manager: "kubectl", Operation: metav1.ManagedFieldsOperationApply}}
	return p
}

// TestMutationDetectorOfTheEnvironment runs itself in a child process, which a mutation must end.
func TestMutationDetectorOfTheEnvironment(t *testing.T) {
	const variable, child = "KUBE_CACHE_MUTATION_DETECTOR", "TEST_MUTATION_DETECTOR"
	if os.Getenv(child) == "" {
		command := exec.Command(os.Args[0], "-test.run=^TestMutationDetectorOfTheEnvironment$")
		command.Env = append(os.Environ(), variable+"=true", child+"=yes")
		out, err := command.CombinedOutput()
		if err == nil || !strings.Contains(string(out), `.spec.nodeName has another value`) {
			t.Errorf("the child process: %v, want a panic that names the field: %s", err, out)
		}
		return
	}
	_, _, client := cluster(pod("shop", "blue", "node-7"))
	factory := factories.New(client)
	pods := factories.For[*corev1.Pod](factory, podResource)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if _, err := pods.AddEventHandler(informer.HandlerFuncs[*corev1.Pod]{
		AddFunc: func(pod *corev1.Pod, _ bool) { pod.Spec.NodeName = "node-8" },
	}); err != nil {
		t.Fatal(err)
	}
	t.Log(pods.Run(ctx))
}

// TestMutationDetectorOfTheEnvironmentFindsNoFalseMutation shows that the mutation detector of the
// environment variable reports nothing without a mutation. A report would end the process.
func TestMutationDetectorOfTheEnvironmentFindsNoFalseMutation(t *testing.T) {
	t.Setenv("KUBE_CACHE_MUTATION_DETECTOR", "true")
	synctest.Test(t, func(t *testing.T) {
		server := newShop(pod("shop", "blue", ""))
		pods, j := follow(t, server)
		server.Move("blue", "node")
		pass(time.Minute)
		j.Check(t, pods)
	})
}

// TestWithTuningRefines shows that zero fields change nothing, also within Backoff.
func TestWithTuningRefines(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, _, client := cluster()
		server.Inject(sourcetest.Fault{Times: sourcetest.Always, Do: sourcetest.Refuse(http.StatusInternalServerError)})
		factory := factories.New(client, informer.WithLogger(discard), informer.WithTuning(reflector.Tuning{
			PageSize: 7, DisableWatchList: true, Backoff: reflector.Backoff{Initial: time.Minute, Jitter: -1},
		}))
		factories.For[*corev1.Pod](factory, podResource, informer.WithTuning(reflector.Tuning{
			PageSize: 8, Backoff: reflector.Backoff{Max: 90 * time.Second},
		}))
		noError(t, factory.Start(t.Context()))
		time.Sleep(6 * time.Minute)
		noError(t, factory.Shutdown(t.Context()))
		var times []time.Duration
		requests := server.Requests()
		for _, r := range requests {
			if !strings.Contains(r.String(), "limit=8") || strings.Contains(r.String(), "sendInitialEvents") {
				t.Errorf("request %v; want a list with pages of 8", r)
			}
			times = append(times, r.Time.Sub(requests[0].Time))
		}
		same(t, "times of requests", times, []time.Duration{0, time.Minute, 150 * time.Second, 4 * time.Minute, 330 * time.Second})
	})
}
