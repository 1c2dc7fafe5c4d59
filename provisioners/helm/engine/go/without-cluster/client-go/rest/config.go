// Package rest stands in for Kubernetes' own.
package rest

// Config is never made.
type Config struct{}
