package main

import (
	"context"
	"maps"
	"slices"
	"sync"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/cache"
)

// counts are of events that an informer's handlers got.
type counts struct {
	Added   int `json:"added"`
	Updated int `json:"updated"`
	Deleted int `json:"deleted"`
}

// observer stands where a controller would, and has what the events add up to.
type observer struct {
	synced cache.InformerSynced

	mutex      sync.Mutex
	objects    map[string]runtime.Object
	seen       counts
	complaints []string
}

// observe adds an observer to an informer that does not run yet.
func observe(informer cache.SharedIndexInformer) (*observer, error) {
	o := &observer{objects: map[string]runtime.Object{}}
	if err := informer.SetWatchErrorHandlerWithContext(o.complain); err != nil {
		return nil, err
	}
	registration, err := informer.AddEventHandler(o)
	if err != nil {
		return nil, err
	}
	o.synced = registration.HasSynced
	return o, nil
}

func (o *observer) OnAdd(object any, _ bool) {
	o.mutex.Lock()
	defer o.mutex.Unlock()
	o.objects[key(object)] = object.(runtime.Object)
	o.seen.Added++
}

// OnUpdate does not count what a list after a broken watch repeats.
func (o *observer) OnUpdate(before, after any) {
	o.mutex.Lock()
	defer o.mutex.Unlock()
	o.objects[key(after)] = after.(runtime.Object)
	if version(before) != version(after) {
		o.seen.Updated++
	}
}

func (o *observer) OnDelete(object any) {
	o.mutex.Lock()
	defer o.mutex.Unlock()
	delete(o.objects, key(object))
	o.seen.Deleted++
}

func (o *observer) complain(ctx context.Context, reflector *cache.Reflector, err error) {
	cache.DefaultWatchErrorHandler(ctx, reflector, err)
	o.mutex.Lock()
	defer o.mutex.Unlock()
	o.complaints = append(o.complaints, err.Error())
}

// view is every object, as the events have left it.
func (o *observer) view() []runtime.Object {
	o.mutex.Lock()
	defer o.mutex.Unlock()
	return slices.Collect(maps.Values(o.objects))
}

func (o *observer) counted() counts {
	o.mutex.Lock()
	defer o.mutex.Unlock()
	return o.seen
}

// complained returns the complaints since it was called before.
func (o *observer) complained() []string {
	o.mutex.Lock()
	defer o.mutex.Unlock()
	complaints := o.complaints
	o.complaints = nil
	return append([]string{}, complaints...)
}

// key is a name that also those have of whose deletion nothing but the name is known.
func key(object any) string {
	key, err := cache.DeletionHandlingMetaNamespaceKeyFunc(object)
	if err != nil {
		panic(err)
	}
	return key
}

func version(object any) string {
	accessor, err := meta.Accessor(object)
	if err != nil {
		return ""
	}
	return accessor.GetResourceVersion()
}
