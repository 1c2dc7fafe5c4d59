// Command extension-reference resolves packages as operator-controller does for ClusterExtensions: a
// JSON line with a request and catalogs on stdin, a JSON line with the answer on stdout. The module's
// name is below operator-controller's, whose resolver is internal.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/operator-framework/operator-registry/alpha/declcfg"
	"github.com/operator-framework/operator-registry/alpha/property"

	ocv1 "github.com/operator-framework/operator-controller/api/v1"
	"github.com/operator-framework/operator-controller/internal/operator-controller/resolve"
)

type question struct {
	Package   string               `json:"package"`
	Version   string               `json:"version"`
	Channels  []string             `json:"channels"`
	Policy    string               `json:"policy"`
	Installed *ocv1.BundleMetadata `json:"installed"`
	Catalogs  []catalog            `json:"catalogs"`
}

type catalog struct {
	Name         string                           `json:"name"`
	Priority     int32                            `json:"priority"`
	Channels     []channel                        `json:"channels"`
	Bundles      []bundle                         `json:"bundles"`
	Deprecations []declcfg.PackageScopedReference `json:"deprecations"`
}

type channel struct {
	Name    string                 `json:"name"`
	Entries []declcfg.ChannelEntry `json:"entries"`
}

type bundle struct {
	Name    string `json:"name"`
	Version string `json:"version"`
}

type answer struct {
	Bundle string `json:"bundle,omitempty"`
	Image  string `json:"image,omitempty"`
	Error  string `json:"error,omitempty"`
}

func main() {
	out := bufio.NewWriter(os.Stdout)
	defer out.Flush()
	decoder, encoder := json.NewDecoder(bufio.NewReader(os.Stdin)), json.NewEncoder(out)
	encoder.SetEscapeHTML(false)
	for decoder.More() {
		var asked question
		if err := decoder.Decode(&asked); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		if err := encoder.Encode(resolved(asked)); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
}

func resolved(asked question) answer {
	extension := &ocv1.ClusterExtension{}
	extension.Spec.Source.Catalog = &ocv1.CatalogFilter{
		PackageName:             asked.Package,
		Version:                 asked.Version,
		Channels:                asked.Channels,
		UpgradeConstraintPolicy: ocv1.UpgradeConstraintPolicy(asked.Policy),
	}
	resolver := resolve.CatalogResolver{WalkCatalogsFunc: walker(asked)}
	found, _, _, err := resolver.Resolve(context.Background(), extension, asked.Installed)
	if err != nil {
		return answer{Error: err.Error()}
	}
	return answer{Bundle: found.Name, Image: found.Image}
}

func walker(asked question) func(context.Context, string, resolve.CatalogWalkFunc, ...client.ListOption) error {
	return func(ctx context.Context, name string, visit resolve.CatalogWalkFunc, _ ...client.ListOption) error {
		for _, each := range asked.Catalogs {
			listed := &ocv1.ClusterCatalog{ObjectMeta: metav1.ObjectMeta{Name: each.Name}}
			listed.Spec.Priority = each.Priority
			content, err := contentOf(each, name)
			if walkErr := visit(ctx, listed, content, err); walkErr != nil {
				return walkErr
			}
		}
		return nil
	}
}

func contentOf(each catalog, name string) (*declcfg.DeclarativeConfig, error) {
	content := &declcfg.DeclarativeConfig{Packages: []declcfg.Package{{Name: name}}}
	for _, listed := range each.Channels {
		content.Channels = append(content.Channels, declcfg.Channel{
			Package: name, Name: listed.Name, Entries: listed.Entries,
		})
	}
	for _, listed := range each.Bundles {
		content.Bundles = append(content.Bundles, declcfg.Bundle{
			Package: name, Name: listed.Name, Image: each.Name + "/" + listed.Name,
			Properties: []property.Property{property.MustBuildPackage(name, listed.Version)},
		})
	}
	if len(each.Deprecations) > 0 {
		content.Deprecations = []declcfg.Deprecation{{Package: name}}
		for _, reference := range each.Deprecations {
			content.Deprecations[0].Entries = append(content.Deprecations[0].Entries,
				declcfg.DeprecationEntry{Reference: reference, Message: "old"})
		}
	}
	return content, nil
}
