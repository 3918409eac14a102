package main

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/cache"
)

// patience is how long an informer may lag behind: a reflector waits up to half a minute before it asks again a server
// that was away.
const patience = 60 * time.Second

// agree waits until the store holds what a list has, and so do the events together. It returns what still differs when
// that never comes.
func agree(ctx context.Context, store cache.Store, watcher *observer, list lister) ([]string, error) {
	deadline := time.Now().Add(patience)
	for {
		differences, err := differences(ctx, store, watcher, list)
		if err != nil && time.Now().After(deadline) {
			return nil, err
		}
		if err == nil && (len(differences) == 0 || time.Now().After(deadline)) {
			return differences, nil
		}
		// Nothing says when an informer has caught up with somebody else's list.
		time.Sleep(50 * time.Millisecond)
	}
}

func differences(ctx context.Context, store cache.Store, watcher *observer, list lister) ([]string, error) {
	listed, err := list(ctx)
	if err != nil {
		return nil, err
	}
	items, err := meta.ExtractListWithAlloc(listed)
	if err != nil {
		return nil, err
	}
	want, err := texts(items)
	if err != nil {
		return nil, err
	}
	found := []string{}
	for who, objects := range map[string][]runtime.Object{"the store": stored(store), "the events": watcher.view()} {
		have, err := texts(objects)
		if err != nil {
			return nil, err
		}
		found = append(found, compare(who, have, want)...)
	}
	return found, nil
}

func compare(who string, have, want map[string]string) []string {
	found := []string{}
	for _, name := range slices.Sorted(maps.Keys(want)) {
		if have[name] != want[name] {
			found = append(found, fmt.Sprintf("%s: %s has %q, a list has %q", name, who, have[name], want[name]))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(have)) {
		if _, ok := want[name]; !ok {
			found = append(found, fmt.Sprintf("%s: %s has it, a list has not", name, who))
		}
	}
	return found
}

func stored(store cache.Store) []runtime.Object {
	objects := []runtime.Object{}
	for _, object := range store.List() {
		objects = append(objects, object.(runtime.Object))
	}
	return objects
}

// texts are the whole objects by their names, in a form in which they can be compared.
func texts(objects []runtime.Object) (map[string]string, error) {
	texts := map[string]string{}
	for _, object := range objects {
		if _, err := withoutKind(object); err != nil {
			return nil, err
		}
		name, err := cache.MetaNamespaceKeyFunc(object)
		if err != nil {
			return nil, err
		}
		text, err := json.Marshal(object)
		if err != nil {
			return nil, err
		}
		texts[name] = string(text)
	}
	return texts, nil
}
