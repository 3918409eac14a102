package main

import (
	"context"
	"net/http"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const (
	collection = "templates"
	minimal    = `{"kind":"Template","apiVersion":"template.openshift.io/v1","metadata":{"name":"minimal"}}`
	// Version 1 is that of no object.
	stale  = `{"metadata":{"name":"minimal","resourceVersion":"1"}}`
	future = "99999999999999"
)

// attempts is the table: every reason that the server has to fail, but for a fault of its own, which it had better not
// have.
func attempts() []attempt {
	get := func(path string, query ...string) request {
		return request{verb: http.MethodGet, path: path, query: query}
	}
	create := func(body string, query ...string) request {
		return request{verb: http.MethodPost, path: collection, body: body, query: query}
	}
	remove := func(body string) request {
		return request{verb: http.MethodDelete, path: collection + "/minimal", body: body}
	}
	patch := func(body, mediaType string) request {
		header := []string{"Content-Type", mediaType}
		return request{verb: http.MethodPatch, path: collection + "/minimal", body: body, header: header}
	}
	accept := func(mediaType string) request {
		return request{verb: http.MethodGet, path: collection, header: []string{"Accept", mediaType}}
	}
	typed := func(mediaType string) request {
		return request{verb: http.MethodPost, path: collection, body: minimal, header: []string{"Content-Type", mediaType}}
	}
	put := func(name, body string) request {
		return request{verb: http.MethodPut, path: collection + "/" + name, body: body}
	}
	large := `{"message":"` + strings.Repeat("a", 4<<20) + `"}`
	elsewhere := `{"metadata":{"name":"minimal","namespace":"elsewhere"}}`
	wrong := `{"metadata":{"name":"wrong"},"parameters":[{"name":"not a name"}]}`

	return []attempt{
		{"no JSON", "", administrator, send(create(`{"kind":`)), apierrors.IsBadRequest},
		{"another kind", "", administrator, send(create(`{"kind":"Pod","apiVersion":"v1"}`)), apierrors.IsBadRequest},
		{"another namespace", "", administrator, send(create(elsewhere)), apierrors.IsBadRequest},
		{"an unknown field", "", administrator, send(create(`{"x":1}`, "fieldValidation", "Strict")), apierrors.IsBadRequest},
		{"no selector", "", administrator, send(get(collection, "labelSelector", "a in")), apierrors.IsBadRequest},
		{"an unknown token", "", stranger, send(get(collection)), apierrors.IsUnauthorized},
		{"no right to list", "", nobody, send(get(collection)), apierrors.IsForbidden},
		{"no right to create", "", nobody, send(create(minimal)), apierrors.IsForbidden},
		{"no such object", "", administrator, send(get(collection + "/missing")), notFound("missing")},
		{"no object to replace", "", administrator, send(put("missing", `{"metadata":{"name":"missing"}}`)), notFound("missing")},
		{"no such resource", "", administrator, send(get("nothings")), apierrors.IsNotFound},
		{"no such subresource", "", administrator, send(get(collection + "/missing/nothing")), apierrors.IsNotFound},
		{"a verb that is not served", "", administrator, send(get("processedtemplates")), apierrors.IsMethodNotSupported},
		{"no form to answer in", "", administrator, send(accept("text/csv")), apierrors.IsNotAcceptable},
		{"a name that is taken", "", administrator, after(create(minimal), create(minimal)), apierrors.IsAlreadyExists},
		{"a stale version", "", administrator, after(create(minimal), put("minimal", stale)), apierrors.IsConflict},
		{"a stale version in a patch", "", administrator, after(create(minimal), patch(stale, "application/merge-patch+json")), apierrors.IsConflict},
		{"another uid", "", administrator, after(create(minimal), remove(`{"preconditions":{"uid":"another"}}`)), apierrors.IsConflict},
		{"a version that is forgotten", "", administrator, watched(get(collection, "watch", "1", "resourceVersion", "1")), apierrors.IsResourceExpired},
		{"a body too large", "", administrator, send(create(large)), apierrors.IsRequestEntityTooLargeError},
		{"options too large", "", administrator, after(create(minimal), remove(large)), apierrors.IsRequestEntityTooLargeError},
		{"a body in no form", "", administrator, send(typed("text/csv")), apierrors.IsUnsupportedMediaType},
		{"a patch that is not served", "", administrator, after(create(minimal), patch(`{}`, "application/strategic-merge-patch+json")), apierrors.IsUnsupportedMediaType},
		{"a wrong value", "", administrator, send(create(wrong)), invalid("parameters[0].name")},
		{"wrong options", "", administrator, after(create(minimal), remove(`{"propagationPolicy":"Sideways"}`)), apierrors.IsInvalid},
		{"a list of the future", "", administrator, send(get(collection, "resourceVersion", future, "resourceVersionMatch", "NotOlderThan")), fromTheFuture},

		{"a namespace that goes", "terminating", administrator, send(create(minimal)), caused(apierrors.IsForbidden, corev1.NamespaceTerminatingCause)},
		{"too much at once", "overloaded", ordinary, overload(create(minimal)), retryAfter(apierrors.IsTooManyRequests, 1)},
		{"no etcd to write to", "storeless", administrator, send(create(minimal)), retryAfter(apierrors.IsServerTimeout, 2)},
		{"nobody there", "away", administrator, send(get(collection)), apierrors.IsServiceUnavailable},
	}
}

func send(r request) func(context.Context, *client) error {
	return func(ctx context.Context, c *client) error { return c.send(ctx, r) }
}

// after sends what may succeed, or have succeeded already, and then the request that has to fail.
func after(first, r request) func(context.Context, *client) error {
	return func(ctx context.Context, c *client) error {
		if err := c.send(ctx, first); err != nil && !apierrors.IsAlreadyExists(err) {
			return err
		}
		return c.send(ctx, r)
	}
}

func watched(r request) func(context.Context, *client) error {
	return func(ctx context.Context, c *client) error { return c.watch(ctx, r) }
}

// overload fills a server that takes one change at a time.
func overload(r request) func(context.Context, *client) error {
	return func(ctx context.Context, c *client) error {
		ctx, stop := context.WithTimeout(ctx, 20*time.Second)
		defer stop()
		go c.hold(ctx, r)
		// Nobody says when the one that is held has arrived.
		for {
			err := c.send(ctx, r)
			if err != nil && !apierrors.IsAlreadyExists(err) {
				return err
			}
		}
	}
}

func notFound(name string) func(error) bool {
	return func(err error) bool {
		return apierrors.IsNotFound(err) && err.Error() == `templates.template.openshift.io "`+name+`" not found`
	}
}

// invalid holds for a failure that names the field.
func invalid(field string) func(error) bool {
	return func(err error) bool {
		cause, ok := apierrors.StatusCause(err, metav1.CauseTypeFieldValueInvalid)
		return apierrors.IsInvalid(err) && ok && cause.Field == field
	}
}

func caused(is func(error) bool, cause metav1.CauseType) func(error) bool {
	return func(err error) bool { return is(err) && apierrors.HasStatusCause(err, cause) }
}

func fromTheFuture(err error) bool {
	return apierrors.IsTimeout(err) && apierrors.HasStatusCause(err, metav1.CauseTypeResourceVersionTooLarge)
}

// retryAfter holds for a failure that says for how many seconds to wait.
func retryAfter(is func(error) bool, seconds int) func(error) bool {
	return func(err error) bool {
		delay, ok := apierrors.SuggestsClientDelay(err)
		return is(err) && ok && delay == seconds
	}
}
