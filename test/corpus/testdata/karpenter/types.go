// SPDX-License-Identifier: Apache-2.0

package main

import _ "sigs.k8s.io/karpenter/pkg/apis/v1" // keeps the requirement before anything is generated
