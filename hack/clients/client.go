package main

import (
	"context"
	"fmt"
	"io"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/rest"
)

// user is who asks.
type user string

const (
	// administrator is whoever the kubeconfig says.
	administrator user = ""
	// ordinary has rights, but is none of the administrators, who are exempt from limits.
	ordinary user = "alice-token"
	// nobody has no rights.
	nobody user = "bob-token"
	// stranger has a token that is not known.
	stranger user = "wrong-token"
)

// client sends what it is told, and reads failures as every client made with client-go does.
type client struct {
	rest      *rest.RESTClient
	namespace string
}

// request is what to send.
type request struct {
	verb string
	// Below the namespace.
	path string
	// Pairs of name and value.
	query  []string
	header []string
	body   string
}

func newClient(config *rest.Config, as user, namespace string) (*client, error) {
	config = rest.CopyConfig(config)
	if as != administrator {
		config = rest.AnonymousClientConfig(config)
		config.BearerToken = string(as)
	}
	scheme := runtime.NewScheme()
	metav1.AddToGroupVersion(scheme, schema.GroupVersion{Version: "v1"})
	config.APIPath = "/apis"
	config.GroupVersion = &schema.GroupVersion{Group: "template.openshift.io", Version: "v1"}
	config.NegotiatedSerializer = serializer.NewCodecFactory(scheme).WithoutConversion()
	sender, err := rest.RESTClientFor(config)
	return &client{sender, namespace}, err
}

// send sends r once, and returns what client-go makes of a failure.
func (c *client) send(ctx context.Context, r request) error {
	return c.prepared(r).Do(ctx).Error()
}

// hold sends r with a body that never ends, until the context does. A server that is busy turns it away, and then it comes
// again.
func (c *client) hold(ctx context.Context, r request) {
	for ctx.Err() == nil {
		body, end := io.Pipe()
		stop := context.AfterFunc(ctx, func() { end.Close() })
		c.prepared(r).Body(body).Do(ctx)
		stop()
		end.Close()
	}
}

// watch returns what r fails with, be it at once or as the first event.
func (c *client) watch(ctx context.Context, r request) error {
	watching, err := c.prepared(r).Watch(ctx)
	if err != nil {
		return err
	}
	defer watching.Stop()
	event := <-watching.ResultChan()
	if event.Type != watch.Error {
		return fmt.Errorf("the first event is %s", event.Type)
	}
	return apierrors.FromObject(event.Object)
}

func (c *client) prepared(r request) *rest.Request {
	prepared := c.rest.Verb(r.verb).Namespace(c.namespace).Suffix(r.path).MaxRetries(0)
	for i := 0; i < len(r.query); i += 2 {
		prepared.Param(r.query[i], r.query[i+1])
	}
	if r.body != "" {
		prepared.SetHeader("Content-Type", "application/json").Body([]byte(r.body))
	}
	for i := 0; i < len(r.header); i += 2 {
		prepared.SetHeader(r.header[i], r.header[i+1])
	}
	return prepared
}
