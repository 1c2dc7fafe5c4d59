// Package dynamic stands in for Kubernetes' own: as much of it as Helm's lookup calls.
package dynamic

import (
	"context"
	"errors"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"k8s.io/client-go/rest"
)

// Object is never found.
type Object struct{}

// UnstructuredContent is never asked for.
func (Object) UnstructuredContent() map[string]any { return nil }

// ResourceInterface is never implemented.
type ResourceInterface interface {
	Get(ctx context.Context, name string, options metav1.GetOptions, subresources ...string) (*Object, error)
	List(ctx context.Context, options metav1.ListOptions) (*Object, error)
}

// NamespaceableResourceInterface is never implemented.
type NamespaceableResourceInterface interface {
	ResourceInterface
	Namespace(name string) ResourceInterface
}

// Client is never made.
type Client struct{}

// Resource is never asked for.
func (Client) Resource(schema.GroupVersionResource) NamespaceableResourceInterface { return nil }

// NewForConfig always fails.
func NewForConfig(*rest.Config) (Client, error) {
	return Client{}, errors.New("there is no cluster here")
}
