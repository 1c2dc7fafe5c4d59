// Command olm-resolver resolves namespaces as OLM v0 does, with OLM's own code.
//
// A line of its input is a namespace, as JSON; its answer is a line of JSON.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"sort"

	"github.com/blang/semver/v4"
	"github.com/sirupsen/logrus"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/operator-framework/api/pkg/lib/version"
	operatorsv1 "github.com/operator-framework/api/pkg/operators/v1"
	"github.com/operator-framework/api/pkg/operators/v1alpha1"
	"github.com/operator-framework/operator-lifecycle-manager/pkg/api/client/clientset/versioned"
	typed "github.com/operator-framework/operator-lifecycle-manager/pkg/api/client/clientset/versioned/typed/operators/v1alpha1"
	listersv1 "github.com/operator-framework/operator-lifecycle-manager/pkg/api/client/listers/operators/v1"
	listers "github.com/operator-framework/operator-lifecycle-manager/pkg/api/client/listers/operators/v1alpha1"
	"github.com/operator-framework/operator-lifecycle-manager/pkg/controller/registry"
	"github.com/operator-framework/operator-lifecycle-manager/pkg/controller/registry/resolver"
	"github.com/operator-framework/operator-lifecycle-manager/pkg/controller/registry/resolver/solver"
	"github.com/operator-framework/operator-lifecycle-manager/pkg/lib/operatorlister"
	"github.com/operator-framework/operator-registry/pkg/api"
	"github.com/operator-framework/operator-registry/pkg/client"
)

type namespace struct {
	Name            string         `json:"namespace"`
	GlobalNamespace string         `json:"globalNamespace"`
	ExcludeGlobal   bool           `json:"excludeGlobal"`
	FailForward     bool           `json:"failForward"`
	OperatorGroups  int            `json:"operatorGroups"`
	Subscriptions   []subscription `json:"subscriptions"`
	Installed       []installed    `json:"installed"`
	Catalogs        []catalog      `json:"catalogs"`
}

type subscription struct {
	Name             string `json:"name"`
	Package          string `json:"package"`
	Channel          string `json:"channel"`
	Catalog          string `json:"catalog"`
	CatalogNamespace string `json:"catalogNamespace"`
	StartingCSV      string `json:"startingCSV"`
	InstalledCSV     string `json:"installedCSV"`
	CurrentCSV       string `json:"currentCSV"`
}

type property struct {
	Type  string          `json:"type"`
	Value json.RawMessage `json:"value"`
}

type installed struct {
	Name       string      `json:"name"`
	Version    string      `json:"version"`
	Replaces   string      `json:"replaces"`
	Phase      string      `json:"phase"`
	Properties *[]property `json:"properties"`
	Owned      []crd       `json:"owned"`
	Required   []crd       `json:"required"`
}

type crd struct {
	Name    string `json:"name"`
	Version string `json:"version"`
	Kind    string `json:"kind"`
}

type catalog struct {
	Name      string  `json:"name"`
	Namespace string  `json:"namespace"`
	Priority  int     `json:"priority"`
	Error     string  `json:"error"`
	Entries   []entry `json:"entries"`
}

type entry struct {
	Name           string     `json:"name"`
	Package        string     `json:"package"`
	Channel        string     `json:"channel"`
	DefaultChannel string     `json:"defaultChannel"`
	Version        string     `json:"version"`
	Replaces       string     `json:"replaces"`
	Skips          []string   `json:"skips"`
	SkipRange      string     `json:"skipRange"`
	Properties     []property `json:"properties"`
}

type answer struct {
	Lookups       []lookup                `json:"lookups"`
	Generated     []generatedSubscription `json:"generated"`
	Updated       map[string]string       `json:"updated"`
	Conflicts     []string                `json:"conflicts"`
	Error         string                  `json:"error"`
}

type lookup struct {
	Bundle     string `json:"bundle"`
	Replaces   string `json:"replaces"`
	Properties string `json:"properties"`
}

type generatedSubscription struct {
	Name        string `json:"name"`
	StartingCSV string `json:"startingCSV"`
}

func main() {
	in, out := bufio.NewReaderSize(os.Stdin, 1<<20), bufio.NewWriter(os.Stdout)
	for {
		line, err := in.ReadBytes('\n')
		if len(line) == 0 && errors.Is(err, io.EOF) {
			return
		}
		var ns namespace
		if err := json.Unmarshal(line, &ns); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		text, err := json.Marshal(resolve(ns))
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		out.Write(append(text, '\n'))
		out.Flush()
	}
}

func resolve(ns namespace) answer {
	c := newCluster(ns)
	logger := logrus.New()
	logger.SetOutput(io.Discard)
	lister := operatorlister.NewLister()
	lister.OperatorsV1alpha1().RegisterClusterServiceVersionLister(ns.Name, c.csvs)
	lister.OperatorsV1alpha1().RegisterSubscriptionLister(ns.Name, c.subscriptions)
	lister.OperatorsV1().RegisterOperatorGroupLister(ns.Name, c.groups)
	for _, name := range []string{ns.Name, ns.GlobalNamespace} {
		lister.OperatorsV1alpha1().RegisterCatalogSourceLister(name, c.sources)
	}
	sources := resolver.SourceProviderFromRegistryClientProvider(c, c.sources, logger)
	cache := resolver.NewOperatorCacheProvider(lister, c, sources, logger)

	var result answer
	steps := resolver.NewOperatorStepResolver(lister, c, ns.GlobalNamespace, cache, logger)
	planned, lookups, updated, err := steps.ResolveSteps(ns.Name)
	if err != nil {
		return failure(err)
	}
	for _, step := range planned {
		var sub v1alpha1.Subscription
		if err := json.Unmarshal([]byte(step.Resource.Manifest), &sub); err != nil {
			return failure(err)
		}
		result.Generated = append(result.Generated, generatedSubscription{sub.Name, sub.Spec.StartingCSV})
	}
	for _, l := range lookups {
		id := l.CatalogSourceRef.Name + "/" + l.CatalogSourceRef.Namespace + "/" + l.Identifier
		result.Lookups = append(result.Lookups, lookup{id, l.Replaces, l.Properties})
	}
	result.Updated = map[string]string{}
	for _, sub := range updated {
		result.Updated[sub.Name] = sub.Status.CurrentCSV
	}
	return result
}

func failure(err error) answer {
	result := answer{Error: err.Error()}
	var unsatisfiable solver.NotSatisfiable
	if errors.As(err, &unsatisfiable) {
		result.Conflicts = []string{}
		for _, each := range unsatisfiable {
			result.Conflicts = append(result.Conflicts, each.String())
		}
	}
	return result
}

// What OLM reads of a cluster, and nothing more: it calls no other method.
type cluster struct {
	versioned.Interface
	csvs          csvLister
	subscriptions subscriptionLister
	groups        groupLister
	sources       sourceLister
	clients       map[registry.CatalogKey]client.Interface
}

func newCluster(ns namespace) *cluster {
	c := &cluster{clients: map[registry.CatalogKey]client.Interface{}}
	sort.Slice(ns.Installed, func(i, j int) bool { return ns.Installed[i].Name < ns.Installed[j].Name })
	sort.Slice(ns.Subscriptions, func(i, j int) bool { return ns.Subscriptions[i].Name < ns.Subscriptions[j].Name })
	for _, each := range ns.Installed {
		c.csvs.items = append(c.csvs.items, csvOf(ns.Name, each))
	}
	for _, each := range ns.Subscriptions {
		c.subscriptions.items = append(c.subscriptions.items, subscriptionOf(ns.Name, each))
	}
	for i := 0; i < ns.OperatorGroups; i++ {
		c.groups.items = append(c.groups.items, groupOf(ns, i))
	}
	for _, each := range ns.Catalogs {
		c.sources.items = append(c.sources.items, &v1alpha1.CatalogSource{
			ObjectMeta: metav1.ObjectMeta{Namespace: each.Namespace, Name: each.Name},
			Spec:       v1alpha1.CatalogSourceSpec{Priority: each.Priority},
		})
		if each.Error != noClient {
			c.clients[registry.CatalogKey{Name: each.Name, Namespace: each.Namespace}] = catalogClient{catalog: each}
		}
	}
	return c
}

const noClient = "no client"

func groupOf(ns namespace, number int) *operatorsv1.OperatorGroup {
	group := &operatorsv1.OperatorGroup{ObjectMeta: metav1.ObjectMeta{Namespace: ns.Name, Name: fmt.Sprint("group", number)}}
	if ns.ExcludeGlobal {
		group.Annotations = map[string]string{"olm.operatorframework.io/exclude-global-namespace-resolution": "true"}
	}
	if ns.FailForward {
		group.Spec.UpgradeStrategy = operatorsv1.UpgradeStrategyUnsafeFailForward
	}
	return group
}

func subscriptionOf(ns string, s subscription) *v1alpha1.Subscription {
	return &v1alpha1.Subscription{
		ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: s.Name},
		Spec: &v1alpha1.SubscriptionSpec{
			Package:                s.Package,
			Channel:                s.Channel,
			CatalogSource:          s.Catalog,
			CatalogSourceNamespace: s.CatalogNamespace,
			StartingCSV:            s.StartingCSV,
		},
		Status: v1alpha1.SubscriptionStatus{InstalledCSV: s.InstalledCSV, CurrentCSV: s.CurrentCSV},
	}
}

func csvOf(ns string, i installed) *v1alpha1.ClusterServiceVersion {
	csv := &v1alpha1.ClusterServiceVersion{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: i.Name}}
	csv.Spec.Replaces = i.Replaces
	csv.Status.Phase = v1alpha1.ClusterServiceVersionPhase(i.Phase)
	csv.Spec.Version = version.OperatorVersion{}
	if v, err := semver.Parse(i.Version); err == nil {
		csv.Spec.Version.Version = v
	}
	for _, each := range i.Owned {
		csv.Spec.CustomResourceDefinitions.Owned = append(csv.Spec.CustomResourceDefinitions.Owned,
			v1alpha1.CRDDescription{Name: each.Name, Version: each.Version, Kind: each.Kind})
	}
	for _, each := range i.Required {
		csv.Spec.CustomResourceDefinitions.Required = append(csv.Spec.CustomResourceDefinitions.Required,
			v1alpha1.CRDDescription{Name: each.Name, Version: each.Version, Kind: each.Kind})
	}
	if i.Properties != nil {
		text, _ := json.Marshal(map[string]any{"properties": *i.Properties})
		csv.Annotations = map[string]string{"operatorframework.io/properties": string(text)}
	}
	return csv
}

type csvLister struct {
	listers.ClusterServiceVersionLister
	listers.ClusterServiceVersionNamespaceLister
	items []*v1alpha1.ClusterServiceVersion
}

func (l csvLister) ClusterServiceVersions(string) listers.ClusterServiceVersionNamespaceLister {
	return l
}

func (l csvLister) List(labels.Selector) ([]*v1alpha1.ClusterServiceVersion, error) {
	return l.items, nil
}

func (l csvLister) Get(name string) (*v1alpha1.ClusterServiceVersion, error) {
	for _, each := range l.items {
		if each.Name == name {
			return each, nil
		}
	}
	return nil, notFound(name)
}

type subscriptionLister struct {
	listers.SubscriptionLister
	listers.SubscriptionNamespaceLister
	items []*v1alpha1.Subscription
}

func (l subscriptionLister) Subscriptions(string) listers.SubscriptionNamespaceLister { return l }

func (l subscriptionLister) List(labels.Selector) ([]*v1alpha1.Subscription, error) {
	return l.items, nil
}

type groupLister struct {
	listersv1.OperatorGroupLister
	listersv1.OperatorGroupNamespaceLister
	items []*operatorsv1.OperatorGroup
}

func (l groupLister) OperatorGroups(string) listersv1.OperatorGroupNamespaceLister { return l }

func (l groupLister) List(labels.Selector) ([]*operatorsv1.OperatorGroup, error) {
	return l.items, nil
}

type sourceLister struct {
	listers.CatalogSourceLister
	listers.CatalogSourceNamespaceLister
	items []*v1alpha1.CatalogSource
	ns    string
}

func (l sourceLister) CatalogSources(ns string) listers.CatalogSourceNamespaceLister {
	return sourceLister{items: l.items, ns: ns}
}

func (l sourceLister) List(labels.Selector) ([]*v1alpha1.CatalogSource, error) {
	var found []*v1alpha1.CatalogSource
	for _, each := range l.items {
		if each.Namespace == l.ns {
			found = append(found, each)
		}
	}
	return found, nil
}

func (l sourceLister) Get(name string) (*v1alpha1.CatalogSource, error) {
	for _, each := range l.items {
		if each.Namespace == l.ns && each.Name == name {
			return each, nil
		}
	}
	return nil, notFound(name)
}

func (c *cluster) OperatorsV1alpha1() typed.OperatorsV1alpha1Interface {
	return subscriptionsClient{items: c.subscriptions.items}
}

type subscriptionsClient struct {
	typed.OperatorsV1alpha1Interface
	typed.SubscriptionInterface
	items []*v1alpha1.Subscription
}

func (c subscriptionsClient) Subscriptions(string) typed.SubscriptionInterface { return c }

func (c subscriptionsClient) List(context.Context, metav1.ListOptions) (*v1alpha1.SubscriptionList, error) {
	list := &v1alpha1.SubscriptionList{}
	for _, each := range c.items {
		list.Items = append(list.Items, *each.DeepCopy())
	}
	return list, nil
}

func (c *cluster) ClientsForNamespaces(namespaces ...string) map[registry.CatalogKey]client.Interface {
	found := map[registry.CatalogKey]client.Interface{}
	for key, each := range c.clients {
		for _, ns := range namespaces {
			if key.Namespace == ns {
				found[key] = each
			}
		}
	}
	return found
}

// A catalog, as opm serves it.
type catalogClient struct {
	client.Interface
	catalog catalog
}

func (c catalogClient) ListBundles(context.Context) (*client.BundleIterator, error) {
	if c.catalog.Error != "" {
		return nil, errors.New(c.catalog.Error)
	}
	return client.NewBundleIterator(&bundleStream{entries: c.catalog.Entries}), nil
}

func (c catalogClient) GetPackage(_ context.Context, name string) (*api.Package, error) {
	for _, each := range c.catalog.Entries {
		if each.Package == name {
			return &api.Package{Name: name, DefaultChannelName: each.DefaultChannel}, nil
		}
	}
	return nil, notFound(name)
}

type bundleStream struct {
	entries []entry
}

func (s *bundleStream) Recv() (*api.Bundle, error) {
	if len(s.entries) == 0 {
		return nil, io.EOF
	}
	next := s.entries[0]
	s.entries = s.entries[1:]
	return bundleOf(next), nil
}

// As opm makes it of a file-based catalog: requirements are properties, and dependencies once more.
func bundleOf(e entry) *api.Bundle {
	b := &api.Bundle{
		CsvName:     e.Name,
		PackageName: e.Package,
		ChannelName: e.Channel,
		BundlePath:  "registry.example/" + e.Name,
		Version:     e.Version,
		Replaces:    e.Replaces,
		Skips:       e.Skips,
		SkipRange:   e.SkipRange,
	}
	for _, p := range e.Properties {
		b.Properties = append(b.Properties, &api.Property{Type: p.Type, Value: string(p.Value)})
		switch p.Type {
		case "olm.gvk.required":
			b.Dependencies = append(b.Dependencies, &api.Dependency{Type: "olm.gvk", Value: string(p.Value)})
		case "olm.package.required":
			var required struct{ PackageName, VersionRange string }
			if err := json.Unmarshal(p.Value, &required); err != nil {
				continue
			}
			value, _ := json.Marshal(map[string]string{"packageName": required.PackageName, "version": required.VersionRange})
			b.Dependencies = append(b.Dependencies, &api.Dependency{Type: "olm.package", Value: string(value)})
		}
	}
	return b
}

type notFound string

func (n notFound) Error() string { return string(n) + " not found" }

func (n notFound) Status() metav1.Status {
	return metav1.Status{Reason: metav1.StatusReasonNotFound}
}
