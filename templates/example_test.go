// SPDX-License-Identifier: Apache-2.0

package templates_test

import (
	"fmt"
	"log"

	"github.com/informer-gen/informer-gen/internal/generator/model"
	"github.com/informer-gen/informer-gen/templates"
)

// These are the files for a model of one kind.
func ExampleRender() {
	const api = "example.com/shop/api/v1"
	files, err := templates.Render(&model.Output{
		ImportPath: "example.com/shop/generated",
		Groups: []*model.Group{{
			Name: "shop.example.com", GoName: "Shop", Package: "shop",
			Versions: []*model.Version{{
				Name: "v1", GoName: "V1", Package: "v1",
				Types: []*model.Type{{Source: model.GoPackage{Path: api, Name: "v1"}, Name: "Widget", Plural: "Widgets", Resource: "widgets", Namespaced: true}},
			}},
		}},
	})
	if err != nil {
		log.Fatal(err)
	}
	for _, file := range files {
		fmt.Println(file.Path)
	}
	// Output:
	// informers/factory.go
	// informers/groups.go
	// informers/resource.go
	// informers/shop/v1/version.go
	// informers/shop/v1/widget.go
	// listers/shop/v1/doc.go
	// listers/shop/v1/expansion_generated.go
	// listers/shop/v1/widget.go
}
