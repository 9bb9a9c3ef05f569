// SPDX-License-Identifier: Apache-2.0

// Package data makes the objects of the benchmarks: Pods of workloads ([PodPlan]), custom resources
// ([NewCertificate], [NewRoute]), the same with no string twice ([MakeDistinct]), and Pods with
// only what stores and indexes read ([SlimPods]). The same arguments give the same objects in each
// process. No code here depends on the decoders that are measured.
package data
