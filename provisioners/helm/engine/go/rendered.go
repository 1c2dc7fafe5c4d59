package main

import (
	chart "helm.sh/helm/v4/pkg/chart/v2"
	v1 "helm.sh/helm/v4/pkg/release/v1"
	releaseutil "helm.sh/helm/v4/pkg/release/v1/util"
)

type rendered struct {
	CRDs      []renderedFile `json:"crds"`
	Manifests []renderedFile `json:"manifests"`
	Hooks     []renderedHook `json:"hooks"`
	Notes     string         `json:"notes"`
}

type renderedFile struct {
	Path string `json:"path"`
	Text string `json:"text"`
}

type renderedHook struct {
	renderedFile
	Kind           string                `json:"kind"`
	Name           string                `json:"name"`
	Events         []v1.HookEvent        `json:"events"`
	Weight         int                   `json:"weight"`
	DeletePolicies []v1.HookDeletePolicy `json:"deletePolicies"`
}

func sortRendered(loaded *chart.Chart, texts map[string]string) (*rendered, error) {
	sorted := &rendered{
		CRDs:      []renderedFile{},
		Manifests: []renderedFile{},
		Hooks:     []renderedHook{},
		Notes:     takeNotes(loaded, texts),
	}
	hooks, manifests, err := releaseutil.SortManifests(texts, nil, releaseutil.InstallOrder)
	if err != nil {
		return nil, err
	}
	for _, crd := range loaded.CRDObjects() {
		file := renderedFile{Path: crd.Filename, Text: string(crd.File.Data)}
		sorted.CRDs = append(sorted.CRDs, file)
	}
	for _, manifest := range manifests {
		file := renderedFile{Path: manifest.Name, Text: manifest.Content}
		sorted.Manifests = append(sorted.Manifests, file)
	}
	for _, hook := range hooks {
		sorted.Hooks = append(sorted.Hooks, renderedHook{
			renderedFile:   renderedFile{Path: hook.Path, Text: hook.Manifest},
			Kind:           hook.Kind,
			Name:           hook.Name,
			Events:         hook.Events,
			Weight:         hook.Weight,
			DeletePolicies: hook.DeletePolicies,
		})
	}
	return sorted, nil
}
