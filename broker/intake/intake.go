// Package intake is the broker's HTTP door: tickets come in, their states and dead letters go out.
//
// It validates, asks the [Desk] and answers; it decides nothing and stores nothing. 202 is said
// only after the commit that it speaks of (DESIGN.md I1). Errors are RFC 9457 problem documents
// with a stable type, and a problem with a request names every field that is wrong.
//
//	door := intake.New(intake.Config{Desk: desk, Tokens: tokens, Log: log})
//	http.Serve(listener, door)
package intake

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"time"

	"chit/device/wire"
)

// What a [Desk] answers that the door must tell apart. Anything else is an internal error.
var (
	// ErrConflict means that the id is known with other content.
	ErrConflict = errors.New("same id with other content")
	// ErrBusy means that nothing was decided; the same request may be repeated soon.
	ErrBusy = errors.New("busy")
	// ErrNotFound means that there is no such ticket, dead letter or device.
	ErrNotFound = errors.New("not found")
	// ErrState means that what was asked for does not fit the state, such as redriving a ticket that
	// is on paper. The wrapping error says which state it found.
	ErrState = errors.New("wrong state")
	// ErrKitchen and ErrStation mean names that the tenant does not have.
	ErrKitchen = errors.New("unknown kitchen")
	ErrStation = errors.New("unknown station")
	// ErrReason means a reason that no dead letter can have.
	ErrReason = errors.New("unknown reason")
)

// Desk is what the door needs of the broker. Its methods return after the commit they speak of.
type Desk interface {
	// Accept takes a ticket in. repeat is true where the same id and content were accepted before;
	// then the view is of now.
	Accept(ctx context.Context, tenant string, content wire.Content, data []byte) (
		view Ticket, repeat bool, err error)
	// Tickets lists the tickets of one mutation, one for each station; made is "" or "r<k>"/"d<k>".
	Tickets(ctx context.Context, tenant, order string, seq int, made string) ([]Ticket, error)
	// Dead lists at most limit dead letters from behind a place, oldest first. next is where to go
	// on, the zero Place where there is no more.
	Dead(ctx context.Context, tenant string, after Place, limit int) (list []Ticket, next Place,
		err error)
	// DeadLetter is one of them with everything that is known about it, by ticket id.
	DeadLetter(ctx context.Context, tenant, id string) (Ticket, error)
	// Redrive goes on with a dead letter under the same id. who and why go into the audit.
	Redrive(ctx context.Context, tenant, id, who, why string) (Ticket, error)
	// Ready is nil once a ticket could be printed or held, else it says what is missing.
	Ready(ctx context.Context) error
}

// Tokens says whose a bearer token is.
type Tokens interface {
	// Tenant returns the tenant and a name for the audit, or false.
	Tenant(token string) (tenant, who string, ok bool)
}

// Fleet is the part of the device doors that the door only mounts or passes on.
type Fleet interface {
	// PairHandler and RenewHandler check their own proofs; no owner's token is asked.
	PairHandler() http.Handler
	RenewHandler() http.Handler
	// NewCode makes a pairing code for stations of the tenant, all of them where none is named.
	NewCode(ctx context.Context, tenant string, stations []string) (Code, error)
	// Devices lists the tenant's devices.
	Devices(ctx context.Context, tenant string) ([]Device, error)
	// Bind gives a device these stations of the tenant, all of them where none is named.
	Bind(ctx context.Context, tenant, device string, stations []string, who string) error
	// Revoke ends a device and its connection. who and why go into the audit, as with Bind.
	Revoke(ctx context.Context, tenant, device, reason, who string) error
}

// Config is what a door is made of. Fleet, Alarms, BackOffice and
// Metrics may be nil.
type Config struct {
	Desk       Desk
	Tokens     Tokens
	Fleet      Fleet
	Alarms     Alarms
	BackOffice BackOffice
	Stale      Stale
	Days       Days
	Kitchens   Kitchens
	Metrics    http.Handler
	Log        *slog.Logger
}

// Door is the http.Handler.
type Door struct {
	Config
	mux *http.ServeMux
}

// New makes the door and its routes.
func New(c Config) *Door {
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	d := &Door{Config: c, mux: http.NewServeMux()}
	methods := map[string][]string{}
	for _, r := range d.routes() {
		d.mux.Handle(r.pattern, strict(r.query, r.handler))
		method, path, _ := strings.Cut(r.pattern, " ")
		methods[path] = append(methods[path], method)
	}
	for path, allowed := range methods {
		if strings.HasPrefix(path, "/v1/dead-letters/redrive") || strings.HasSuffix(path, "/cancel") {
			continue // What other methods find there is a dead letter or a ticket, or none.
		}
		d.mux.Handle(path, otherMethod(allowed))
	}
	d.mux.HandleFunc("/", d.unknown)
	return d
}

// otherMethod answers for a path that is known under other methods (RFC 9110 section 15.5.6).
func otherMethod(allowed []string) http.Handler {
	if slices.Contains(allowed, http.MethodGet) {
		allowed = append(allowed, http.MethodHead) // ServeMux serves it with GET.
	}
	slices.Sort(allowed)
	list := strings.Join(allowed, ", ")
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Allow", list)
		problem{
			Status: http.StatusMethodNotAllowed, Type: "method-not-allowed",
			Detail: "this path does not know " + shorten(r.Method) + ", only " + list,
			Hint:   "GET /openapi.json lists what there is",
		}.write(w)
	})
}

// ServeHTTP keeps a panic of one request from ending the others, and says nothing of its cause to
// the outside.
func (d *Door) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	defer func() {
		if v := recover(); v != nil && v != http.ErrAbortHandler {
			d.Log.Error("request panicked", "method", r.Method, "route", r.Pattern, "panic", v)
			problem{Status: http.StatusInternalServerError, Type: "internal"}.write(w)
		}
	}()
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.Header().Set("Cache-Control", "no-store")
	d.mux.ServeHTTP(w, r)
}

// route is one path under one method; query are the names that its query may hold.
type route struct {
	pattern string
	handler http.Handler
	query   []string
}

// routes lists every path; the test of the OpenAPI document compares with it.
func (d *Door) routes() []route {
	routes := []route{
		{"GET /healthz", http.HandlerFunc(d.healthy), nil},
		{"GET /readyz", http.HandlerFunc(d.ready), nil},
		{"GET /openapi.json", document("application/json", openapi), nil},
		{"GET /schemas/ticket.json", document("application/schema+json", wire.Schema()), nil},
		{"POST /v1/tickets", d.owned(d.accept), nil},
		{"GET /v1/tickets/{order}/{seq}", d.owned(d.ticket), atStation},
		{"GET /v1/tickets/{order}/{seq}/{made}", d.owned(d.ticket), atStation},
		{"GET /v1/dead-letters", d.owned(d.deadLetters), paged},
		{"GET /v1/dead-letters/{delivery...}", d.owned(d.deadLetter), nil},
		{"POST /v1/dead-letters/{delivery...}", d.owned(d.letter), nil},
	}
	if d.BackOffice != nil {
		routes = append(routes,
			route{"POST /v1/dead-letters/redrive", d.owned(d.redriveMany), nil},
			route{"GET /v1/dead-letters/redrive/{job}", d.owned(d.redriveJob), nil},
			route{"POST /v1/tickets/{order}/{seq}/cancel", d.owned(d.cancel), nil},
			route{"GET /v1/audit", d.owned(d.audit), []string{"since", "limit"}},
		)
	}
	if d.Stale != nil {
		routes = append(routes,
			route{"GET /v1/stale", d.owned(d.staleTickets), paged},
			route{"POST /v1/stale/answer", d.owned(d.answerStale), nil},
		)
	}
	if d.Config.Days != nil {
		routes = append(routes,
			route{"GET /v1/days/{day}", d.owned(d.days), atStation},
			route{"POST /v1/days/{day}/print", d.owned(d.printDays), atStation},
		)
	}
	if d.Kitchens != nil {
		routes = append(routes,
			route{"GET /v1/kitchens/{kitchen}/rhythm", d.owned(d.rhythm), nil})
	}
	if d.Metrics != nil {
		routes = append(routes, route{"GET /metrics", d.Metrics, nil})
	}
	if d.Alarms != nil {
		routes = append(routes,
			route{"GET /v1/alarms", d.owned(d.alarms), []string{"state"}},
			route{"GET /v1/alarms/{alarm...}", d.owned(d.alarm), nil},
			route{"POST /v1/alarms/{alarm...}", d.owned(d.postAlarm), nil},
		)
	}
	if d.Fleet != nil {
		routes = append(routes,
			route{"POST /v1/devices/pair", d.Fleet.PairHandler(), nil},
			route{"POST /v1/devices/renew", d.Fleet.RenewHandler(), nil},
			route{"POST /v1/devices/codes", d.owned(d.newCode), nil},
			route{"GET /v1/devices", d.owned(d.devices), nil},
			route{"POST /v1/devices/{device}/bind", d.owned(d.bind), nil},
			route{"POST /v1/devices/{device}/revoke", d.owned(d.revoke), nil},
		)
	}
	return routes
}

// What queries of several routes may hold.
var (
	atStation = []string{"station"}
	paged     = []string{"limit", "after"}
)

func (d *Door) healthy(w http.ResponseWriter, _ *http.Request) {
	_, _ = io.WriteString(w, "ok\n") // A client that went away is not our trouble.
}

func (d *Door) ready(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithTimeout(r.Context(), 5*time.Second)
	defer cancel()
	if err := d.Desk.Ready(ctx); err != nil {
		w.Header().Set("Retry-After", "1")
		problem{
			Status: http.StatusServiceUnavailable, Type: "not-ready", Detail: err.Error(),
		}.write(w)
		return
	}
	_, _ = io.WriteString(w, "ready\n")
}

func (d *Door) unknown(w http.ResponseWriter, r *http.Request) {
	problem{
		Status: http.StatusNotFound, Type: "not-found",
		Detail: "there is nothing at " + r.Method + " " + shorten(r.URL.Path),
		Hint:   "GET /openapi.json lists what there is",
	}.write(w)
}

// document serves fixed bytes.
func document(kind string, body []byte) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", kind)
		_, _ = w.Write(body)
	})
}

// shorten keeps what a stranger sent from filling an answer or a log.
func shorten(s string) string {
	const most = 120
	if len(s) > most {
		return s[:most] + "…"
	}
	return s
}
