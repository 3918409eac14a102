package main

import (
	"context"
	"fmt"

	templatev1 "github.com/openshift/api/template/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/metadata/metadatainformer"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
)

// lister lists everything there is at this moment.
type lister func(context.Context) (runtime.Object, error)

// source is one way of a Go program to see a resource: the informer that it would have, and a plain list.
type source struct {
	informer cache.SharedIndexInformer
	list     lister
}

func newSource(kind string, config *rest.Config, gvr schema.GroupVersionResource, namespace string) (*source, error) {
	switch kind {
	case "typed":
		return typedSource(config, gvr, namespace)
	case "dynamic":
		return dynamicSource(config, gvr, namespace)
	case "metadata":
		return metadataSource(config, gvr, namespace)
	default:
		return nil, fmt.Errorf("there is no kind %q of informers", kind)
	}
}

// dynamicSource is what controllers have that learn of kinds at run time.
func dynamicSource(config *rest.Config, gvr schema.GroupVersionResource, namespace string) (*source, error) {
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	informer := dynamicinformer.NewFilteredDynamicInformer(client, gvr, namespace, 0, cache.Indexers{}, nil)
	return &source{informer.Informer(), func(ctx context.Context) (runtime.Object, error) {
		return client.Resource(gvr).Namespace(namespace).List(ctx, metav1.ListOptions{})
	}}, nil
}

// metadataSource is what the garbage collector and the quota controller have.
func metadataSource(config *rest.Config, gvr schema.GroupVersionResource, namespace string) (*source, error) {
	client, err := metadata.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	informer := metadatainformer.NewFilteredMetadataInformer(client, gvr, namespace, 0, cache.Indexers{}, nil).Informer()
	if err := informer.SetTransform(withoutKind); err != nil {
		return nil, err
	}
	return &source{informer, func(ctx context.Context) (runtime.Object, error) {
		return client.Resource(gvr).Namespace(namespace).List(ctx, metav1.ListOptions{})
	}}, nil
}

// withoutKind takes kind and apiVersion off an object. In JSON they stand in each item of a list, as those of
// kube-apiserver do, and client-go leaves them there; it takes them off what a watch brings.
func withoutKind(object any) (any, error) {
	if partial, ok := object.(*metav1.PartialObjectMetadata); ok {
		partial.TypeMeta = metav1.TypeMeta{}
	}
	return object, nil
}

// typedSource is what is generated for OpenShift's own types.
func typedSource(config *rest.Config, gvr schema.GroupVersionResource, namespace string) (*source, error) {
	if gvr != templatev1.GroupVersion.WithResource("templates") {
		return nil, fmt.Errorf("there are no Go types for %s", gvr)
	}
	scheme := runtime.NewScheme()
	if err := templatev1.Install(scheme); err != nil {
		return nil, err
	}
	metav1.AddToGroupVersion(scheme, schema.GroupVersion{Version: "v1"})
	config = rest.CopyConfig(config)
	config.GroupVersion = &templatev1.GroupVersion
	config.APIPath = "/apis"
	config.NegotiatedSerializer = serializer.NewCodecFactory(scheme).WithoutConversion()
	client, err := rest.RESTClientFor(config)
	if err != nil {
		return nil, err
	}
	watcher := cache.NewListWatchFromClient(client, gvr.Resource, namespace, fields.Everything())
	informer := cache.NewSharedIndexInformer(watcher, &templatev1.Template{}, 0, cache.Indexers{})
	return &source{informer, func(ctx context.Context) (runtime.Object, error) {
		list := &templatev1.TemplateList{}
		return list, client.Get().Namespace(namespace).Resource(gvr.Resource).Do(ctx).Into(list)
	}}, nil
}
