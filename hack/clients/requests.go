package main

import (
	"net/http"
	"sync"

	"k8s.io/client-go/rest"
)

// requests are those that an informer sent and that were answered.
type requests struct {
	// Lists that begin at the newest state.
	Lists int `json:"lists"`
	// Lists of a state that the client knows already: client-go's check of what it got by WatchList.
	Checks int `json:"checks"`
	// Watches that begin with the whole state.
	WatchLists int `json:"watchLists"`
	// Watches that go on where another ended.
	Watches int `json:"watches"`
	// Of any of these, refused.
	Refused int `json:"refused"`
}

// recorder counts the requests of a client.
type recorder struct {
	mutex    sync.Mutex
	requests requests
}

// recorded is config with every request counted.
func recorded(config *rest.Config) (*rest.Config, *recorder) {
	r := &recorder{}
	config = rest.CopyConfig(config)
	config.Wrap(func(next http.RoundTripper) http.RoundTripper {
		return roundTripper(func(request *http.Request) (*http.Response, error) {
			response, err := next.RoundTrip(request)
			if err == nil {
				r.record(request, response.StatusCode)
			}
			return response, err
		})
	})
	return config, r
}

func (r *recorder) record(request *http.Request, code int) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	query := request.URL.Query()
	switch {
	case code != http.StatusOK:
		r.requests.Refused++
	case query.Get("sendInitialEvents") == "true":
		r.requests.WatchLists++
	case query.Get("watch") == "true":
		r.requests.Watches++
	case query.Get("resourceVersionMatch") == "Exact":
		r.requests.Checks++
	// Its other pages are the same list.
	case query.Get("continue") == "":
		r.requests.Lists++
	}
}

func (r *recorder) counted() requests {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	return r.requests
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(request *http.Request) (*http.Response, error) {
	return f(request)
}
