package main

import (
	"bufio"
	"context"
	"flag"
	"fmt"
	"os"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
)

// synced is the first report of an informer.
type synced struct {
	Event        string `json:"event"`
	Objects      int    `json:"objects"`
	Milliseconds int64  `json:"milliseconds"`
}

// compared is the report after each line on stdin.
type compared struct {
	Event string `json:"event"`
	// Objects that the informer's store has, or its events left, otherwise than a list; none when they agree.
	Differences []string `json:"differences"`
	Objects     int      `json:"objects"`
	Seen        counts   `json:"seen"`
	Asked       requests `json:"asked"`
	// What the informer complained of since the report before.
	Complaints []string `json:"complaints"`
}

func informerCommand(flags *flag.FlagSet) func(context.Context, *rest.Config) error {
	kind := flags.String("kind", "dynamic", "typed, dynamic or metadata")
	resource := flags.String("resource", "templates.v1.template.openshift.io", "what to watch")
	namespace := flags.String("namespace", "", "where; all namespaces if empty")
	return func(ctx context.Context, config *rest.Config) error {
		gvr, _ := schema.ParseResourceArg(*resource)
		if gvr == nil {
			return fmt.Errorf("%s is not RESOURCE.VERSION.GROUP", *resource)
		}
		// The lists that comparing takes are not the informer's.
		asking, recorder := recorded(config)
		watched, err := newSource(*kind, asking, *gvr, *namespace)
		if err != nil {
			return err
		}
		trusted, err := newSource(*kind, config, *gvr, *namespace)
		if err != nil {
			return err
		}
		return follow(ctx, watched.informer, trusted.list, recorder)
	}
}

// follow runs the informer for as long as stdin is open.
func follow(ctx context.Context, informer cache.SharedIndexInformer, list lister, recorder *recorder) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	watcher, err := observe(informer)
	if err != nil {
		return err
	}
	began := time.Now()
	go informer.RunWithContext(ctx)
	if !cache.WaitForCacheSync(ctx.Done(), watcher.synced, informer.HasSynced) {
		return ctx.Err()
	}
	objects := len(informer.GetStore().List())
	if err := report(synced{"synced", objects, time.Since(began).Milliseconds()}); err != nil {
		return err
	}

	orders := bufio.NewScanner(os.Stdin)
	for orders.Scan() {
		differences, err := agree(ctx, informer.GetStore(), watcher, list)
		if err != nil {
			return err
		}
		result := compared{
			Event:       "compared",
			Differences: differences,
			Objects:     len(informer.GetStore().List()),
			Seen:        watcher.counted(),
			Asked:       recorder.counted(),
			Complaints:  watcher.complained(),
		}
		if err := report(result); err != nil {
			return err
		}
	}
	return orders.Err()
}
