// Package kubernetes stands in for Kubernetes' own: Helm imports it for its version only.
package kubernetes
