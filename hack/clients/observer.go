package main

import (
	"context"
	"sync"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/client-go/tools/cache"
)

// counts are of events that an informer's handlers got.
type counts struct {
	Added   int `json:"added"`
	Updated int `json:"updated"`
	Deleted int `json:"deleted"`
}

// observer stands where a controller would.
type observer struct {
	synced cache.InformerSynced

	mutex      sync.Mutex
	seen       counts
	complaints []string
}

// observe adds an observer to an informer that does not run yet.
func observe(informer cache.SharedIndexInformer) (*observer, error) {
	o := &observer{}
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

func (o *observer) OnAdd(any, bool) {
	o.count(&o.seen.Added)
}

// OnUpdate does not count what a list after a broken watch repeats.
func (o *observer) OnUpdate(before, after any) {
	if version(before) != version(after) {
		o.count(&o.seen.Updated)
	}
}

func (o *observer) OnDelete(any) {
	o.count(&o.seen.Deleted)
}

func (o *observer) count(counter *int) {
	o.mutex.Lock()
	defer o.mutex.Unlock()
	*counter++
}

func (o *observer) complain(ctx context.Context, reflector *cache.Reflector, err error) {
	cache.DefaultWatchErrorHandler(ctx, reflector, err)
	o.mutex.Lock()
	defer o.mutex.Unlock()
	o.complaints = append(o.complaints, err.Error())
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

func version(object any) string {
	accessor, err := meta.Accessor(object)
	if err != nil {
		return ""
	}
	return accessor.GetResourceVersion()
}
