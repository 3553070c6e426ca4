// The document's four calls in front of oxide-auth: its client map, its code map, its token maps and its flows decide
// everything. Rust's std reads the clock through libc, so libfaketime moves it.
//
//     service CLIENTS_FILE
//
// CLIENTS_FILE is a JSON array of { id, secret, redirectUri }. Prints one line of JSON with the address once it
// listens, and ends when its standard input does.
use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, PoisonError};

use chrono::{Duration, SecondsFormat, Utc};
use oxide_auth::endpoint::{
    AccessTokenFlow, AuthorizationFlow, Endpoint, OAuthError, OwnerConsent, RefreshFlow, ResourceFlow,
    Solicitation,
};
use oxide_auth::frontends::simple::endpoint::{Error, FnSolicitor, Generic, Vacant};
use oxide_auth::frontends::simple::request::{Request as Call, Response as Told, Status};
use oxide_auth::primitives::authorizer::AuthMap;
use oxide_auth::primitives::generator::RandomGenerator;
use oxide_auth::primitives::grant::Grant;
use oxide_auth::primitives::issuer::{IssuedToken, Issuer, RefreshedToken, TokenMap};
use oxide_auth::primitives::registrar::{
    Argon2, Client, ClientMap, ExactUrl, PasswordPolicy, RegisteredUrl, RegistrarError,
};
use oxide_auth::primitives::scope::Scope;
use serde_json::{Map, Value, json};
use tiny_http::{Header, Method, Request, Response, Server};

/// The library's hash with its lowest cost: its usual 64 MiB for each exchange would leave no processor to judge it.
struct Cheap;

impl PasswordPolicy for Cheap {
    fn store(&self, client_id: &str, secret: &[u8]) -> Vec<u8> {
        let config = argon2::Config { ad: client_id.as_bytes(), mem_cost: 8, time_cost: 1, ..Default::default() };
        let salt = uuid::Uuid::new_v4();
        argon2::hash_encoded(secret, salt.as_bytes(), &config).expect("a hash").into_bytes()
    }

    fn check(&self, client_id: &str, secret: &[u8], stored: &[u8]) -> Result<(), RegistrarError> {
        Argon2::default().check(client_id, secret, stored)
    }
}

/// A token map of the library for each kind of token, as its own lets both live equally long and replaces the refresh
/// token with each refresh, which the document does not.
struct Tokens {
    access: TokenMap<RandomGenerator>,
    refresh: TokenMap<RandomGenerator>,
}

impl Tokens {
    fn new() -> Self {
        let map = |lifetime| {
            let mut tokens = TokenMap::new(RandomGenerator::new(32));
            tokens.valid_for(lifetime);
            tokens
        };
        Tokens { access: map(Duration::hours(1)), refresh: map(Duration::days(30)) }
    }
}

impl Issuer for Tokens {
    fn issue(&mut self, grant: Grant) -> Result<IssuedToken, ()> {
        let refresh = self.refresh.issue(grant.clone())?.token;
        Ok(IssuedToken { refresh: Some(refresh), ..self.access.issue(grant)? })
    }

    fn refresh(&mut self, _: &str, grant: Grant) -> Result<RefreshedToken, ()> {
        let IssuedToken { token, until, token_type, .. } = self.access.issue(grant)?;
        Ok(RefreshedToken { token, refresh: None, until, token_type })
    }

    fn recover_token<'a>(&'a self, token: &'a str) -> Result<Option<Grant>, ()> {
        self.access.recover_token(token)
    }

    fn recover_refresh<'a>(&'a self, token: &'a str) -> Result<Option<Grant>, ()> {
        self.refresh.recover_token(token)
    }
}

struct Known {
    secret: String,
    redirect_uri: String,
}

struct Service {
    registrar: ClientMap,
    codes: AuthMap<RandomGenerator>,
    tokens: Tokens,
    known: HashMap<String, Known>,
    items: Vec<Value>,
}

type Answer = Response<std::io::Cursor<Vec<u8>>>;
type Object = Map<String, Value>;

fn answer(status: u16, value: &Value) -> Answer {
    let json = Header::from_bytes("Content-Type", "application/json").expect("a header");
    Response::from_string(value.to_string()).with_status_code(status).with_header(json)
}

/// What the front ends of oxide-auth answer with when a flow gives no response of its own.
fn failed(error: Error<Call>) -> Answer {
    match error {
        Error::OAuth(OAuthError::PrimitiveError) => answer(500, &json!({ "error": "server_error" })),
        _ => answer(400, &json!({ "error": "invalid_request" })),
    }
}

fn number(status: Status) -> u16 {
    match status {
        Status::Ok => 200,
        Status::Redirect => 302,
        Status::BadRequest => 400,
        Status::Unauthorized => 401,
    }
}

fn body_of(told: &Told) -> Value {
    told.body.as_ref().and_then(|body| serde_json::from_str(body.as_str()).ok()).unwrap_or_else(|| json!({}))
}

/// A field of a JSON body as the library's forms want it; what is no text is no value.
fn text<'a>(body: &'a Object, name: &str) -> Option<&'a str> {
    body.get(name).and_then(Value::as_str)
}

fn form<const N: usize>(fields: [(&str, Option<&str>); N]) -> HashMap<String, String> {
    fields.into_iter().filter_map(|(name, value)| Some((name.to_string(), value?.to_string()))).collect()
}

/// The query, without what comes more than once: the library takes no such parameter either.
fn query_of(url: &str) -> HashMap<String, String> {
    let given = url.split_once('?').map_or("", |(_, query)| query);
    let (mut query, mut repeated) = (HashMap::new(), HashSet::new());
    for (name, value) in url::form_urlencoded::parse(given.as_bytes()).into_owned() {
        if query.insert(name.clone(), value).is_some() {
            repeated.insert(name);
        }
    }
    query.retain(|name, _| !repeated.contains(name));
    query
}

fn now() -> i64 {
    Utc::now().timestamp_millis()
}

impl Service {
    fn new(clients: &[Value]) -> Self {
        let scope: Scope = "all".parse().expect("a scope");
        let (mut registrar, mut known) = (ClientMap::new(), HashMap::new());
        registrar.set_password_policy(Cheap);
        for client in clients {
            let [id, secret, uri] = ["id", "secret", "redirectUri"].map(|name| client[name].as_str().expect(name));
            let exact = RegisteredUrl::Exact(ExactUrl::new(uri.to_string()).expect("a redirect URI"));
            registrar.register_client(Client::confidential(id, exact, scope.clone(), secret.as_bytes()));
            known.insert(id.to_string(), Known { secret: secret.to_string(), redirect_uri: uri.to_string() });
        }
        let codes = AuthMap::new(RandomGenerator::new(32));
        Service { registrar, codes, tokens: Tokens::new(), known, items: vec![] }
    }

    fn endpoint(&mut self) -> impl Endpoint<Call, Error = Error<Call>> {
        Generic {
            registrar: &self.registrar,
            authorizer: &mut self.codes,
            issuer: &mut self.tokens,
            solicitor: FnSolicitor(|_: &mut Call, _: Solicitation| OwnerConsent::Authorized("owner".to_string())),
            scopes: vec!["all".parse::<Scope>().expect("a scope")],
            response: Vacant,
        }
    }

    fn authorize(&mut self, given: &HashMap<String, String>) -> Answer {
        let of = |name: &str| given.get(name).map(String::as_str);
        let query = form([
            ("response_type", Some("code")),
            ("client_id", of("clientId")),
            ("state", of("state")),
            ("redirect_uri", of("redirectUri")),
        ]);
        let asked = AuthorizationFlow::prepare(self.endpoint())
            .and_then(|mut flow| flow.execute(Call { query, ..Call::default() }));
        match asked {
            Err(error) => failed(error),
            Ok(Told { status, location: Some(url), .. }) => Response::from_data([])
                .with_status_code(number(status))
                .with_header(Header::from_bytes("Location", url.as_str()).expect("a header")),
            Ok(told) => answer(number(told.status), &body_of(&told)),
        }
    }

    fn exchange(&mut self, body: &Object) -> Answer {
        // The document's exchange carries no redirect URI, which the library asks for again.
        let id = text(body, "clientId");
        let known = id.and_then(|id| self.known.get(id));
        let urlbody = form([
            ("grant_type", Some("authorization_code")),
            ("client_id", id),
            ("client_secret", text(body, "clientSecret")),
            ("code", text(body, "code")),
            ("redirect_uri", Some(known.map_or("https://unknown.example/", |known| known.redirect_uri.as_str()))),
        ]);
        let told = AccessTokenFlow::prepare(self.endpoint()).and_then(|mut flow| {
            flow.allow_credentials_in_body(true);
            flow.execute(Call { urlbody, ..Call::default() })
        });
        told.map_or_else(failed, tokens)
    }

    fn refresh(&mut self, body: &Object) -> Answer {
        // The document's refresh carries no secret, which the library asks for in a header.
        let auth = text(body, "clientId").map(|id| {
            let secret = self.known.get(id).map_or("", |known| known.secret.as_str());
            format!(
                "Basic {}",
                base64::Engine::encode(&base64::prelude::BASE64_STANDARD, format!("{id}:{secret}"))
            )
        });
        let urlbody = form([("grant_type", Some("refresh_token")), ("refresh_token", text(body, "refreshToken"))]);
        let told = RefreshFlow::prepare(self.endpoint())
            .and_then(|mut flow| flow.execute(Call { urlbody, auth, ..Call::default() }));
        told.map_or_else(failed, tokens)
    }

    fn list(&mut self, request: &Request, query: &HashMap<String, String>) -> Answer {
        let token = request.headers().iter().find(|header| header.field.equiv("x-service-access-token"));
        let auth = token.map(|header| format!("Bearer {}", header.value));
        match ResourceFlow::prepare(self.endpoint()).map(|mut flow| flow.execute(Call { auth, ..Call::default() }))
        {
            Err(error) | Ok(Err(Err(error))) => return failed(error),
            Ok(Err(Ok(told))) => return answer(number(told.status), &body_of(&told)),
            Ok(Ok(_)) => {}
        }
        let number = |name: &str, usual: usize| query.get(name).map_or(Ok(usual), |given| given.parse::<usize>());
        let (Ok(limit @ 1..), Ok(page)) = (number("limit", 10), number("page", 0)) else {
            return answer(400, &json!({ "error": "invalid_request" }));
        };
        let is_asked = |item: &&Value| {
            ["id", "accountId"].iter().all(|&name| query.get(name).is_none_or(|asked| item[name] == *asked))
        };
        let matching: Vec<&Value> = self.items.iter().filter(is_asked).collect();
        let shown: Vec<&&Value> = matching.iter().skip(page.saturating_mul(limit)).take(limit).collect();
        answer(200, &json!({ "data": shown, "total": matching.len() }))
    }

    fn trigger(&mut self, body: &Object) -> Answer {
        let id = uuid::Uuid::new_v4().to_string();
        self.items.push(json!({
            "id": id, "accountId": text(body, "accountId"),
            "createTime": Utc::now().to_rfc3339_opts(SecondsFormat::Millis, true),
            "businessType": "CreateGlobalAccount", "businessStatus": "Passed",
            "remark": "", "data": "", "status": "readed",
        }));
        answer(200, &json!({ "id": id }))
    }

    fn handle(&mut self, request: &Request, body: &[u8]) -> Answer {
        let url = request.url();
        let handle = match (request.method(), url.split('?').next().unwrap_or("")) {
            (Method::Get, "/open-api/oauth/authorize") => return self.authorize(&query_of(url)),
            (Method::Get, "/open-api/v1/notifications") => {
                return self.list(request, &query_of(url));
            }
            (Method::Post, "/open-api/oauth/access-token") => Self::exchange,
            (Method::Post, "/open-api/oauth/refresh-token") => Self::refresh,
            (Method::Post, "/test/events") => Self::trigger,
            _ => return answer(404, &json!({ "error": "not_found" })),
        };
        match serde_json::from_slice(body) {
            Ok(body) => handle(self, &body),
            Err(_) => answer(400, &json!({ "error": "invalid_request" })),
        }
    }
}

/// The library's token response in the document's names.
fn tokens(told: Told) -> Answer {
    let body = body_of(&told);
    if !matches!(told.status, Status::Ok) {
        return answer(number(told.status), &body);
    }
    let mut tokens = json!({
        "accessToken": body["access_token"], "expiresIn": body["expires_in"], "timestamp": now(),
    });
    if !body["refresh_token"].is_null() {
        tokens["refreshToken"] = body["refresh_token"].clone();
    }
    answer(200, &tokens)
}

fn main() {
    let file = std::env::args().nth(1).expect("a file of clients");
    let clients: Vec<Value> =
        serde_json::from_slice(&std::fs::read(file).expect("clients")).expect("a JSON array");
    let service = Arc::new(Mutex::new(Service::new(&clients)));
    let server = Arc::new(Server::http("127.0.0.1:0").expect("a port"));
    for _ in 0..8 {
        let (server, service) = (server.clone(), service.clone());
        std::thread::spawn(move || {
            while let Ok(mut request) = server.recv() {
                let mut body = vec![];
                let _ = request.as_reader().read_to_end(&mut body);
                let answered = service.lock().unwrap_or_else(PoisonError::into_inner).handle(&request, &body);
                let _ = request.respond(answered);
            }
        });
    }
    println!("{}", json!({ "baseUrl": format!("http://{}", server.server_addr()) }));
    let _ = std::io::copy(&mut std::io::stdin(), &mut std::io::sink());
}
