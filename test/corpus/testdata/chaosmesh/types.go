// SPDX-License-Identifier: Apache-2.0

package main

import _ "github.com/chaos-mesh/chaos-mesh/api/v1alpha1" // keeps the requirement before anything is generated
