// SPDX-License-Identifier: Apache-2.0

// Package data makes the objects of the benchmarks: Pods of workloads ([PodPlan]), custom resources
// ([NewCertificate], [NewRoute]), the same with no string twice ([MakeDistinct]), and Pods with
// only the fields used by stores and indexes ([SlimPods]). The same arguments give the same objects
// in each process. It uses no code of the measured decoders.
package data
