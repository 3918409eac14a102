package main

import (
	"context"
	"flag"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
)

// attempt is a failure that is provoked, and what client-go has to make of the answer.
type attempt struct {
	name string
	// The state in which the server has to be; empty is good health.
	circumstance string
	as           user
	provoke      func(context.Context, *client) error
	is           func(error) bool
}

// outcome is the report of an attempt.
type outcome struct {
	Name  string `json:"name"`
	Holds bool   `json:"holds"`
	// What came.
	Code    int32  `json:"code"`
	Reason  string `json:"reason"`
	Message string `json:"message"`
}

func errorsCommand(flags *flag.FlagSet) func(context.Context, *rest.Config) error {
	circumstance := flags.String("circumstance", "", "the state that the server is in")
	namespace := flags.String("namespace", "default", "where to try")
	return func(ctx context.Context, config *rest.Config) error {
		for _, attempt := range attempts() {
			if attempt.circumstance != *circumstance {
				continue
			}
			c, err := newClient(config, attempt.as, *namespace)
			if err != nil {
				return err
			}
			if err := report(attempt.try(ctx, c)); err != nil {
				return err
			}
		}
		return nil
	}
}

func (a attempt) try(ctx context.Context, c *client) outcome {
	err := a.provoke(ctx, c)
	if err == nil {
		return outcome{Name: a.name, Message: "nothing failed"}
	}
	status, ok := err.(apierrors.APIStatus)
	if !ok {
		return outcome{Name: a.name, Message: fmt.Sprintf("%T: %v", err, err)}
	}
	said := status.Status()
	return outcome{
		Name:    a.name,
		Holds:   a.is(err) && (a.circumstance == "away" || !guessed(err)),
		Code:    said.Code,
		Reason:  string(said.Reason),
		Message: said.Message,
	}
}

// guessed says whether client-go had nothing to go by but the code. When we are away kube-apiserver answers, and it
// does so in plain text.
func guessed(err error) bool {
	return apierrors.HasStatusCause(err, metav1.CauseTypeUnexpectedServerResponse)
}
