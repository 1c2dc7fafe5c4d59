// Package v1 stands in for Kubernetes' own.
package v1

// AddToScheme does nothing: requests name the API versions.
func AddToScheme(any) error { return nil }
