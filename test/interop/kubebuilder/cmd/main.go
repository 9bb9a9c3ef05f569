// SPDX-License-Identifier: Apache-2.0

// Command cmd is the manager of a project as kubebuilder lays it out: two kinds with a controller
// each, one owning the other. The flag --informer-gen changes only the cache.
package main

import (
	"flag"
	"fmt"
	"os"

	"k8s.io/apimachinery/pkg/runtime"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/healthz"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/informer-gen/informer-gen/adapter/controllerruntime"
	harbourv1 "github.com/informer-gen/informer-gen/test/interop/kubebuilder/api/v1"
	"github.com/informer-gen/informer-gen/test/interop/kubebuilder/internal/controller"
)

var (
	scheme   = runtime.NewScheme()
	setupLog = ctrl.Log.WithName("setup")
)

func init() {
	utilruntime.Must(clientgoscheme.AddToScheme(scheme))
	utilruntime.Must(harbourv1.AddToScheme(scheme))
	// +kubebuilder:scaffold:scheme
}

func main() {
	var probeAddr string
	var informerGen bool
	flag.StringVar(&probeAddr, "health-probe-bind-address", ":8081", "The address of the health probes; 0 for none.")
	flag.BoolVar(&informerGen, "informer-gen", false, "Read from the cache of adapter/controllerruntime.")
	logging := zap.Options{Development: true}
	logging.BindFlags(flag.CommandLine)
	flag.Parse()
	ctrl.SetLogger(zap.New(zap.UseFlagOptions(&logging)))

	options := ctrl.Options{
		Scheme:                 scheme,
		Metrics:                metricsserver.Options{BindAddress: "0"},
		HealthProbeBindAddress: probeAddr,
	}
	if informerGen {
		options.NewCache = controllerruntime.NewCache
	}
	mgr, err := ctrl.NewManager(ctrl.GetConfigOrDie(), options)
	if err != nil {
		setupLog.Error(err, "make the manager")
		os.Exit(1)
	}
	if err := (&controller.FleetReconciler{
		Client:   mgr.GetClient(),
		Scheme:   mgr.GetScheme(),
		Recorder: mgr.GetEventRecorder("fleet-controller"),
	}).SetupWithManager(mgr); err != nil {
		setupLog.Error(err, "make the controller", "controller", "Fleet")
		os.Exit(1)
	}
	if err := (&controller.BoatReconciler{
		Client:   mgr.GetClient(),
		Scheme:   mgr.GetScheme(),
		Recorder: mgr.GetEventRecorder("boat-controller"),
	}).SetupWithManager(mgr); err != nil {
		setupLog.Error(err, "make the controller", "controller", "Boat")
		os.Exit(1)
	}
	// +kubebuilder:scaffold:builder

	if err := mgr.AddHealthzCheck("healthz", healthz.Ping); err != nil {
		setupLog.Error(err, "add the health check")
		os.Exit(1)
	}
	if err := mgr.AddReadyzCheck("readyz", healthz.Ping); err != nil {
		setupLog.Error(err, "add the readiness check")
		os.Exit(1)
	}
	setupLog.Info("start the manager", "cache", fmt.Sprintf("%T", mgr.GetCache()))
	if err := mgr.Start(ctrl.SetupSignalHandler()); err != nil {
		setupLog.Error(err, "run the manager")
		os.Exit(1)
	}
}
