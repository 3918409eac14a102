// Command clients is what Go programs make of our API, for the tests to look at: client-go's informers and its
// reading of errors. Reports go as lines of JSON to stdout; the log, which is client-go's own, to stderr.
//
//	clients informer [--kind typed|dynamic|metadata] [--resource R.V.G] [--namespace NS]
//	    runs an informer and reports when it is synced; then, for every line on stdin, waits until its store agrees
//	    with a list, and reports what it has seen. Ends with stdin.
//	clients errors [--circumstance NAME] [--namespace NS]
//	    provokes failures and reports for each whether apierrors.IsX holds, and what came. Those that need the cluster
//	    or the server in some state are tried when it is said to be in that: terminating,
//	    overloaded, storeless, away.
//
// Whether informers use WatchList, and whether client-go checks what they got by it, is up to client-go's own variables:
// KUBE_FEATURE_WatchListClient and KUBE_WATCHLIST_INCONSISTENCY_DETECTOR.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

func main() {
	if err := run(context.Background(), os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, arguments []string) error {
	if len(arguments) == 0 {
		return fmt.Errorf("usage: clients informer|errors [FLAG...]")
	}
	flags := flag.NewFlagSet(arguments[0], flag.ExitOnError)
	kubeconfig := flags.String("kubeconfig", "", "whom to ask, and as whom")
	var command func(context.Context, *rest.Config) error
	switch arguments[0] {
	case "informer":
		command = informerCommand(flags)
	case "errors":
		command = errorsCommand(flags)
	default:
		return fmt.Errorf("there is no command %q", arguments[0])
	}
	if err := flags.Parse(arguments[1:]); err != nil {
		return err
	}

	config, err := clientcmd.BuildConfigFromFlags("", *kubeconfig)
	if err != nil {
		return err
	}
	// The tests measure the server, not how politely a client waits.
	config.QPS = -1
	return command(ctx, config)
}

// report prints a line of JSON.
func report(what any) error {
	return json.NewEncoder(os.Stdout).Encode(what)
}
