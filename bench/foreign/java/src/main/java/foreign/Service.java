package foreign;

import jakarta.servlet.Filter;
import jakarta.servlet.http.HttpServletRequest;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.Collectors;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.boot.web.server.context.WebServerInitializedEvent;
import org.springframework.context.annotation.Bean;
import org.springframework.context.event.EventListener;
import org.springframework.http.HttpStatus;
import org.springframework.http.ResponseEntity;
import org.springframework.security.authentication.UsernamePasswordAuthenticationToken;
import org.springframework.security.config.Customizer;
import org.springframework.security.config.annotation.web.builders.HttpSecurity;
import org.springframework.security.core.authority.AuthorityUtils;
import org.springframework.security.core.context.SecurityContextHolder;
import org.springframework.security.oauth2.core.AuthorizationGrantType;
import org.springframework.security.oauth2.core.ClientAuthenticationMethod;
import org.springframework.security.oauth2.server.authorization.InMemoryOAuth2AuthorizationService;
import org.springframework.security.oauth2.server.authorization.OAuth2AuthorizationService;
import org.springframework.security.oauth2.server.authorization.OAuth2TokenType;
import org.springframework.security.oauth2.server.authorization.client.InMemoryRegisteredClientRepository;
import org.springframework.security.oauth2.server.authorization.client.RegisteredClient;
import org.springframework.security.oauth2.server.authorization.client.RegisteredClientRepository;
import org.springframework.security.oauth2.server.authorization.settings.ClientSettings;
import org.springframework.security.oauth2.server.authorization.settings.OAuth2TokenFormat;
import org.springframework.security.oauth2.server.authorization.settings.TokenSettings;
import org.springframework.security.web.SecurityFilterChain;
import org.springframework.security.web.context.SecurityContextHolderFilter;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RequestHeader;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;
import tools.jackson.databind.json.JsonMapper;

/**
 * Spring Authorization Server behind the document's calls: its endpoints and its stores decide everything. The calls are
 * translated to requests of its own endpoints, and back.
 *
 * <p>java -jar service.jar CLIENTS_FILE, a JSON array of { id, secret, redirectUri }. Prints one line of JSON with the
 * address once it listens, and ends when its standard input does.
 */
@SpringBootApplication
@RestController
public class Service {
  private static final JsonMapper JSON = new JsonMapper();
  private static Map<String, Map<String, String>> known;

  private final HttpClient http = HttpClient.newHttpClient();
  private final List<Map<String, Object>> notifications = new CopyOnWriteArrayList<>();
  private String baseUrl;

  @SuppressWarnings("unchecked")
  public static void main(String[] parameters) throws Exception {
    List<Map<String, String>> clients = JSON.readValue(Files.readString(Path.of(parameters[0])), List.class);
    known = clients.stream().collect(Collectors.toMap(client -> client.get("id"), client -> client));
    SpringApplication service = new SpringApplication(Service.class);
    service.setDefaultProperties(
        Map.of(
            "server.port", "0",
            "server.address", "127.0.0.1",
            "spring.main.banner-mode", "off",
            "logging.level.root", "OFF"));
    service.run();
    while (System.in.read() >= 0) {}
    System.exit(0);
  }

  @EventListener
  void listening(WebServerInitializedEvent event) {
    baseUrl = "http://127.0.0.1:" + event.getWebServer().getPort();
    System.out.println(JSON.writeValueAsString(Map.of("baseUrl", baseUrl)));
  }

  @Bean
  SecurityFilterChain security(HttpSecurity security) {
    return security
        .oauth2AuthorizationServer(Customizer.withDefaults())
        .authorizeHttpRequests(
            requests -> requests.requestMatchers("/open-api/**", "/test/**", "/error").permitAll().anyRequest().authenticated())
        .addFilterAfter(signedIn(), SecurityContextHolderFilter.class)
        .csrf(csrf -> csrf.ignoringRequestMatchers("/open-api/**", "/test/**"))
        .build();
  }

  /** The owner is always signed in; without a scope to ask for, no consent is. */
  private static Filter signedIn() {
    return (request, response, chain) -> {
      if (((HttpServletRequest) request).getRequestURI().equals("/oauth2/authorize"))
        SecurityContextHolder.getContext()
            .setAuthentication(
                UsernamePasswordAuthenticationToken.authenticated("owner", null, AuthorityUtils.NO_AUTHORITIES));
      chain.doFilter(request, response);
    };
  }

  @Bean
  OAuth2AuthorizationService authorizations() {
    return new InMemoryOAuth2AuthorizationService();
  }

  @Bean
  RegisteredClientRepository clients() {
    return new InMemoryRegisteredClientRepository(
        known.values().stream()
            .map(
                client ->
                    RegisteredClient.withId(client.get("id"))
                        .clientId(client.get("id"))
                        .clientSecret("{noop}" + client.get("secret"))
                        .clientAuthenticationMethod(ClientAuthenticationMethod.CLIENT_SECRET_POST)
                        .authorizationGrantType(AuthorizationGrantType.AUTHORIZATION_CODE)
                        .authorizationGrantType(AuthorizationGrantType.REFRESH_TOKEN)
                        .redirectUri(client.get("redirectUri"))
                        .clientSettings(ClientSettings.builder().requireProofKey(false).build())
                        .tokenSettings(
                            TokenSettings.builder()
                                .authorizationCodeTimeToLive(Duration.ofSeconds(20))
                                .accessTokenTimeToLive(Duration.ofSeconds(30))
                                .refreshTokenTimeToLive(Duration.ofSeconds(60))
                                .reuseRefreshTokens(true)
                                .accessTokenFormat(OAuth2TokenFormat.REFERENCE)
                                .build())
                        .build())
            .toArray(RegisteredClient[]::new));
  }

  @GetMapping("/open-api/oauth/authorize")
  ResponseEntity<?> authorize(
      @RequestParam String clientId, @RequestParam String state, @RequestParam String redirectUri) throws Exception {
    String query =
        form(Map.of("response_type", "code", "client_id", clientId, "state", state, "redirect_uri", redirectUri));
    HttpRequest asked =
        HttpRequest.newBuilder(URI.create(baseUrl + "/oauth2/authorize?" + query))
            .header("Accept", "text/html")
            .build();
    HttpResponse<String> answer = http.send(asked, HttpResponse.BodyHandlers.ofString());
    Optional<String> location = answer.headers().firstValue("Location");
    return location.isPresent()
        ? ResponseEntity.status(HttpStatus.FOUND).location(URI.create(location.get())).build()
        : ResponseEntity.status(answer.statusCode()).body(Map.of("error", "invalid_request"));
  }

  @PostMapping("/open-api/oauth/access-token")
  ResponseEntity<?> exchange(@RequestBody Map<String, Object> body) throws Exception {
    String clientId = text(body, "clientId");
    Map<String, String> client = known.getOrDefault(clientId, Map.of());
    return token(
        Map.of(
            "grant_type", "authorization_code",
            "client_id", clientId,
            "client_secret", text(body, "clientSecret"),
            "code", text(body, "code"),
            "redirect_uri", client.getOrDefault("redirectUri", "")),
        true);
  }

  /** The document's refresh carries no secret; the library asks for that of the client. */
  @PostMapping("/open-api/oauth/refresh-token")
  ResponseEntity<?> refresh(@RequestBody Map<String, Object> body) throws Exception {
    String clientId = text(body, "clientId");
    return token(
        Map.of(
            "grant_type", "refresh_token",
            "client_id", clientId,
            "client_secret", known.getOrDefault(clientId, Map.of()).getOrDefault("secret", ""),
            "refresh_token", text(body, "refreshToken")),
        false);
  }

  @SuppressWarnings("unchecked")
  private ResponseEntity<?> token(Map<String, String> fields, boolean isExchange) throws Exception {
    HttpRequest asked =
        HttpRequest.newBuilder(URI.create(baseUrl + "/oauth2/token"))
            .header("Content-Type", "application/x-www-form-urlencoded")
            .POST(HttpRequest.BodyPublishers.ofString(form(fields)))
            .build();
    HttpResponse<String> answer = http.send(asked, HttpResponse.BodyHandlers.ofString());
    Map<String, Object> given = answer.body().isEmpty() ? Map.of() : JSON.readValue(answer.body(), Map.class);
    if (answer.statusCode() != 200) return ResponseEntity.status(answer.statusCode()).body(given);
    Map<String, Object> tokens = new HashMap<>();
    tokens.put("accessToken", given.get("access_token"));
    if (isExchange) tokens.put("refreshToken", given.get("refresh_token"));
    tokens.put("expiresIn", given.get("expires_in"));
    tokens.put("timestamp", Instant.now().toEpochMilli());
    return ResponseEntity.ok()
        .header("Cache-Control", answer.headers().firstValue("Cache-Control").orElse(""))
        .body(tokens);
  }

  @GetMapping("/open-api/v1/notifications")
  ResponseEntity<?> list(
      @RequestHeader(name = "x-service-access-token", defaultValue = "") String token,
      @RequestParam(defaultValue = "10") int limit,
      @RequestParam(defaultValue = "0") int page,
      @RequestParam Optional<String> id,
      @RequestParam Optional<String> accountId) {
    var authorization = token.isEmpty() ? null : authorizations().findByToken(token, OAuth2TokenType.ACCESS_TOKEN);
    if (authorization == null || !authorization.getAccessToken().isActive())
      return ResponseEntity.status(401).body(Map.of("error", "invalid_token"));
    if (limit < 1 || page < 0) return ResponseEntity.badRequest().body(Map.of("error", "invalid_request"));
    List<Map<String, Object>> matching =
        notifications.stream()
            .filter(one -> id.isEmpty() || id.get().equals(one.get("id")))
            .filter(one -> accountId.isEmpty() || accountId.get().equals(one.get("accountId")))
            .toList();
    List<Map<String, Object>> data = matching.stream().skip((long) limit * page).limit(limit).toList();
    return ResponseEntity.ok(Map.of("data", data, "total", matching.size()));
  }

  @PostMapping("/test/events")
  Map<String, Object> trigger(@RequestBody Map<String, Object> body) {
    String created = Instant.now().truncatedTo(ChronoUnit.MILLIS).toString();
    Map<String, Object> notification =
        Map.of(
            "id", UUID.randomUUID().toString(),
            "accountId", text(body, "accountId"),
            "createTime", created.length() == 20 ? created.replace("Z", ".000Z") : created,
            "businessType", "CreateGlobalAccount",
            "businessStatus", "Passed",
            "remark", "",
            "data", "",
            "status", "readed");
    notifications.add(notification);
    return Map.of("id", notification.get("id"));
  }

  private static String text(Map<String, Object> body, String name) {
    if (body.get(name) instanceof String value) return value;
    throw new org.springframework.web.server.ResponseStatusException(HttpStatus.BAD_REQUEST);
  }

  private static String form(Map<String, String> fields) {
    return fields.entrySet().stream()
        .map(field -> field.getKey() + "=" + URLEncoder.encode(field.getValue(), StandardCharsets.UTF_8))
        .collect(Collectors.joining("&"));
  }
}
