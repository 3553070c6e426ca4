// The document's four calls in front of github.com/go-oauth2/oauth2: its manager, its server and its memory store decide
// everything. Go programs do not ask libc for the time, so this one is built with a package time whose Now is
// later by time.Offset (see overlay.ts).
//
//	service CLIENTS_FILE
//
// CLIENTS_FILE is a JSON array of { id, secret, redirectUri }. Prints one line of JSON with the address once it listens,
// and ends when its standard input does.
package main

import (
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/go-oauth2/oauth2/v4/manage"
	"github.com/go-oauth2/oauth2/v4/models"
	"github.com/go-oauth2/oauth2/v4/server"
	"github.com/go-oauth2/oauth2/v4/store"
)

type client struct{ Id, Secret, RedirectUri string }

type notification struct {
	Id             string `json:"id"`
	AccountId      string `json:"accountId"`
	CreateTime     string `json:"createTime"`
	BusinessType   string `json:"businessType"`
	BusinessStatus string `json:"businessStatus"`
	Remark         string `json:"remark"`
	Data           string `json:"data"`
	Status         string `json:"status"`
}

type object = map[string]any

type service struct {
	oauth   *server.Server
	clients map[string]client
	mutex   sync.Mutex
	items   []notification
}

func newService(clients []client) *service {
	clientStore := store.NewClientStore()
	known := map[string]client{}
	for _, one := range clients {
		known[one.Id] = one
		_ = clientStore.Set(one.Id, &models.Client{ID: one.Id, Secret: one.Secret, Domain: one.RedirectUri})
	}
	manager := manage.NewDefaultManager()
	manager.SetAuthorizeCodeExp(10 * time.Minute)
	manager.SetAuthorizeCodeTokenCfg(&manage.Config{
		AccessTokenExp: time.Hour, RefreshTokenExp: 30 * 24 * time.Hour, IsGenerateRefresh: true,
	})
	manager.SetRefreshTokenCfg(&manage.RefreshingConfig{AccessTokenExp: time.Hour})
	manager.MapClientStorage(clientStore)
	manager.MustTokenStorage(store.NewMemoryTokenStore())
	oauth := server.NewDefaultServer(manager)
	oauth.SetClientInfoHandler(server.ClientFormHandler)
	oauth.SetUserAuthorizationHandler(func(http.ResponseWriter, *http.Request) (string, error) { return "owner", nil })
	return &service{oauth: oauth, clients: known}
}

func answer(w http.ResponseWriter, status int, value any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(value)
}

func (s *service) authorize(w http.ResponseWriter, r *http.Request) {
	given := r.URL.Query()
	asked := url.Values{"response_type": {"code"}}
	for theirs, ours := range map[string]string{"client_id": "clientId", "state": "state", "redirect_uri": "redirectUri"} {
		if given.Has(ours) {
			asked.Set(theirs, given.Get(ours))
		}
	}
	request := httptest.NewRequest("GET", "/authorize?"+asked.Encode(), nil)
	if err := s.oauth.HandleAuthorizeRequest(w, request); err != nil {
		answer(w, 400, object{"error": err.Error()})
	}
}

// text gives a field of a JSON body as the library's forms want it; what is no text is no value.
func text(body object, name string) string {
	value, _ := body[name].(string)
	return value
}

func (s *service) token(w http.ResponseWriter, form url.Values) {
	request := httptest.NewRequest("POST", "/token", strings.NewReader(form.Encode()))
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	recorded := httptest.NewRecorder()
	if err := s.oauth.HandleTokenRequest(recorded, request); err != nil {
		answer(w, 500, object{"error": err.Error()})
		return
	}
	var told object
	_ = json.Unmarshal(recorded.Body.Bytes(), &told)
	if recorded.Code != 200 {
		answer(w, recorded.Code, told)
		return
	}
	for name, values := range recorded.Header() {
		w.Header()[name] = values
	}
	tokens := object{
		"accessToken": told["access_token"], "expiresIn": told["expires_in"], "timestamp": time.Now().UnixMilli(),
	}
	// The document's refresh gives no refresh token; the library tells the old one again.
	if form.Get("grant_type") == "authorization_code" {
		tokens["refreshToken"] = told["refresh_token"]
	}
	answer(w, 200, tokens)
}

func (s *service) exchange(w http.ResponseWriter, body object) {
	id := text(body, "clientId")
	// The document's exchange carries no redirect URI, which the library asks for again.
	s.token(w, url.Values{
		"grant_type": {"authorization_code"}, "client_id": {id}, "client_secret": {text(body, "clientSecret")},
		"code": {text(body, "code")}, "redirect_uri": {s.clients[id].RedirectUri},
	})
}

func (s *service) refresh(w http.ResponseWriter, body object) {
	id := text(body, "clientId")
	// The document's refresh carries no secret, which the library asks for.
	s.token(w, url.Values{
		"grant_type": {"refresh_token"}, "client_id": {id}, "client_secret": {s.clients[id].Secret},
		"refresh_token": {text(body, "refreshToken")},
	})
}

func (s *service) list(w http.ResponseWriter, r *http.Request) {
	bearer := httptest.NewRequest("GET", "/", nil)
	bearer.Header.Set("Authorization", "Bearer "+r.Header.Get("x-service-access-token"))
	if _, err := s.oauth.ValidationBearerToken(bearer); err != nil {
		answer(w, 401, object{"error": err.Error()})
		return
	}
	query := r.URL.Query()
	number := func(name string, usual int) int {
		if !query.Has(name) {
			return usual
		}
		value, err := strconv.Atoi(query.Get(name))
		if err != nil {
			return -1
		}
		return value
	}
	limit, page := number("limit", 10), number("page", 0)
	if limit < 1 || page < 0 {
		answer(w, 400, object{"error": "invalid_request"})
		return
	}
	s.mutex.Lock()
	defer s.mutex.Unlock()
	matching := []notification{}
	for _, item := range s.items {
		if (!query.Has("id") || item.Id == query.Get("id")) &&
			(!query.Has("accountId") || item.AccountId == query.Get("accountId")) {
			matching = append(matching, item)
		}
	}
	// So that nothing overflows.
	limit, page = min(limit, len(matching)+1), min(page, len(matching))
	from := min(len(matching), page*limit)
	answer(w, 200, object{"data": matching[from:min(len(matching), from+limit)], "total": len(matching)})
}

func (s *service) trigger(w http.ResponseWriter, body object) {
	b := make([]byte, 16)
	_, _ = rand.Read(b)
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	id := fmt.Sprintf("%x-%x-%x-%x-%x", b[0:4], b[4:6], b[6:8], b[8:10], b[10:])
	item := notification{
		Id: id, AccountId: text(body, "accountId"),
		CreateTime:   time.Now().UTC().Format("2006-01-02T15:04:05.000Z"),
		BusinessType: "CreateGlobalAccount", BusinessStatus: "Passed", Status: "readed",
	}
	s.mutex.Lock()
	s.items = append(s.items, item)
	s.mutex.Unlock()
	answer(w, 200, object{"id": id})
}

func advance(w http.ResponseWriter, body object) {
	ms, _ := body["ms"].(float64)
	time.Offset += int64(ms) * int64(time.Millisecond)
	answer(w, 200, object{"now": time.Now().UnixMilli(), "inFlight": 0})
}

func withBody(handle func(http.ResponseWriter, object)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		raw, err := io.ReadAll(r.Body)
		var body object
		if err != nil || json.Unmarshal(raw, &body) != nil || body == nil {
			answer(w, 400, object{"error": "invalid_request"})
			return
		}
		handle(w, body)
	}
}

func main() {
	raw, err := os.ReadFile(os.Args[1])
	if err != nil {
		panic(err)
	}
	var clients []client
	if err := json.Unmarshal(raw, &clients); err != nil {
		panic(err)
	}
	s := newService(clients)
	mux := http.NewServeMux()
	mux.HandleFunc("GET /open-api/oauth/authorize", s.authorize)
	mux.HandleFunc("POST /open-api/oauth/access-token", withBody(s.exchange))
	mux.HandleFunc("POST /open-api/oauth/refresh-token", withBody(s.refresh))
	mux.HandleFunc("GET /open-api/v1/notifications", s.list)
	mux.HandleFunc("POST /test/events", withBody(s.trigger))
	mux.HandleFunc("POST /test/clock/advance", withBody(advance))
	mux.HandleFunc("GET /test/clock", func(w http.ResponseWriter, _ *http.Request) {
		answer(w, 200, object{"now": time.Now().UnixMilli()})
	})
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	fmt.Printf("{\"baseUrl\":\"http://%s\"}\n", listener.Addr())
	go func() { _ = http.Serve(listener, mux) }()
	_, _ = io.Copy(io.Discard, os.Stdin)
}
