// A service that uses almost no CPU, for loads that do not measure the service.
// It grants and lists as the document says; its list never changes. Listens on a free loopback port
// and prints its address; the first argument is the secret of the client "light".
package main

import (
	"crypto/rand"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"
)

const (
	client          = "light"
	codeLifetime    = 10 * time.Minute
	refreshLifetime = 30 * 24 * time.Hour
	accessLifetime  = time.Hour
	defaultLimit    = 10
)

// grants maps each credential to its expiry.
type grants struct {
	lock   sync.Mutex
	endsAt map[string]time.Time
}

func (g *grants) issue(life time.Duration) string {
	credential := rand.Text()
	g.lock.Lock()
	defer g.lock.Unlock()
	g.endsAt[credential] = time.Now().Add(life)
	return credential
}

func (g *grants) holds(credential string, once bool) bool {
	g.lock.Lock()
	defer g.lock.Unlock()
	endsAt, known := g.endsAt[credential]
	if once {
		delete(g.endsAt, credential)
	}
	return known && time.Now().Before(endsAt)
}

type notification struct{ id, accountID, body string }

var notifications = func() []notification {
	var all []notification
	for at := range 4 {
		id := fmt.Sprintf("00000000-0000-4000-8000-%012d", at)
		accountID := fmt.Sprintf("00000000-0000-4000-9000-%012d", at/2)
		body, _ := json.Marshal(map[string]string{
			"id": id, "accountId": accountID, "createTime": "2026-01-01T00:00:00.000Z",
			"businessType": "CreateGlobalAccount", "businessStatus": "Passed",
			"remark": "", "data": "", "status": "readed",
		})
		all = append(all, notification{id, accountID, string(body)})
	}
	return all
}()

func number(text string, otherwise int) int {
	if value, err := strconv.Atoi(text); err == nil && value >= 0 {
		return value
	}
	return otherwise
}

func answer(w http.ResponseWriter, status int, body map[string]any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	body["timestamp"] = time.Now().UnixMilli()
	_ = json.NewEncoder(w).Encode(body)
}

func main() {
	secret := os.Args[1]
	kept := func() *grants { return &grants{endsAt: map[string]time.Time{}} }
	codes, access, refresh := kept(), kept(), kept()
	refuse := func(w http.ResponseWriter, status int) { answer(w, status, map[string]any{"error": "refused"}) }
	opened := func() map[string]any {
		return map[string]any{"accessToken": access.issue(accessLifetime), "expiresIn": int(accessLifetime.Seconds())}
	}
	type asked struct{ ClientID, ClientSecret, Code, RefreshToken string }
	read := func(r *http.Request) (body asked) {
		_ = json.NewDecoder(r.Body).Decode(&body)
		return body
	}

	http.HandleFunc("GET /open-api/oauth/authorize", func(w http.ResponseWriter, r *http.Request) {
		query := r.URL.Query()
		if query.Get("clientId") != client {
			refuse(w, http.StatusBadRequest)
			return
		}
		answer(w, http.StatusOK, map[string]any{"state": query.Get("state"), "code": codes.issue(codeLifetime)})
	})
	http.HandleFunc("POST /open-api/oauth/access-token", func(w http.ResponseWriter, r *http.Request) {
		body := read(r)
		if body.ClientID != client || body.ClientSecret != secret || !codes.holds(body.Code, true) {
			refuse(w, http.StatusUnauthorized)
			return
		}
		tokens := opened()
		tokens["refreshToken"] = refresh.issue(refreshLifetime)
		answer(w, http.StatusOK, tokens)
	})
	http.HandleFunc("POST /open-api/oauth/refresh-token", func(w http.ResponseWriter, r *http.Request) {
		body := read(r)
		if body.ClientID != client || !refresh.holds(body.RefreshToken, false) {
			refuse(w, http.StatusUnauthorized)
			return
		}
		answer(w, http.StatusOK, opened())
	})
	http.HandleFunc("GET /open-api/v1/notifications", func(w http.ResponseWriter, r *http.Request) {
		if !access.holds(r.Header.Get("x-service-access-token"), false) {
			refuse(w, http.StatusUnauthorized)
			return
		}
		query := r.URL.Query()
		id, account := query.Get("id"), query.Get("accountId")
		var found []string
		for _, one := range notifications {
			if (id == "" || one.id == id) && (account == "" || one.accountID == account) {
				found = append(found, one.body)
			}
		}
		// So that nothing overflows.
		limit := min(number(query.Get("limit"), defaultLimit), len(found)+1)
		from := min(min(number(query.Get("page"), 0), len(found))*limit, len(found))
		page := found[from:min(from+limit, len(found))]
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"data":[%s],"total":%d}`, strings.Join(page, ","), len(found))
	})

	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	fmt.Printf("http://%s\n", listener.Addr())
	panic(http.Serve(listener, nil))
}
