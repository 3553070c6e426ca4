import com.github.kagkarlsson.scheduler.Scheduler;
import com.github.kagkarlsson.scheduler.SchedulerClient;
import com.github.kagkarlsson.scheduler.task.FailureHandler;
import com.github.kagkarlsson.scheduler.task.helper.OneTimeTask;
import com.github.kagkarlsson.scheduler.task.helper.Tasks;
import com.sun.net.httpserver.HttpServer;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.UUID;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import org.postgresql.ds.PGSimpleDataSource;

/**
 * One of the two processes of a queue over db-scheduler (https://github.com/kagkarlsson/db-scheduler): a failure handler
 * reschedules to any moment; the built-in one multiplies the delay by 1.5. The table is polled every 10 s.
 */
public class Main {
  static final String TABLE =
      """
      create table if not exists scheduled_tasks (
        task_name text not null, task_instance text not null, task_data bytea,
        execution_time timestamp with time zone not null, picked boolean not null, picked_by text,
        last_success timestamp with time zone, last_failure timestamp with time zone, consecutive_failures int,
        last_heartbeat timestamp with time zone, version bigint not null, priority smallint,
        primary key (task_name, task_instance))
      """;

  static final String FAULT = System.getenv("FAULT");
  static final long[] DELAYS =
      Arrays.stream(System.getenv("DELAYS_MS").split(",")).mapToLong(Long::parseLong).toArray();
  static final int RETRIES = DELAYS.length + (FAULT.equals("attempt-too-many") ? 1 : 0);
  static final Duration TIMEOUT = Duration.ofMillis(number("TIMEOUT_MS"));
  static final HttpClient HTTP = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();

  static long number(String name) {
    return Long.parseLong(System.getenv(name));
  }

  /** The callback's URL in the first line, the body after it. */
  static void push(String job) throws Exception {
    int end = job.indexOf('\n');
    var request =
        HttpRequest.newBuilder(URI.create(job.substring(0, end)))
            .timeout(TIMEOUT)
            .header("content-type", "application/json")
            .POST(HttpRequest.BodyPublishers.ofString(job.substring(end + 1)))
            .build();
    // The request's own timeout ends with the head of the answer: a body that never comes would hold the worker for ever.
    var answering = HTTP.sendAsync(request, BodyHandlers.ofString());
    int status =
        FAULT.equals("body-without-timeout")
            ? answering.get().statusCode()
            : answering.orTimeout(TIMEOUT.toMillis(), TimeUnit.MILLISECONDS).get().statusCode();
    if (status != 200) throw new IllegalStateException("not acknowledged: " + status);
  }

  static FailureHandler<String> afterFailure() {
    if (FAULT.equals("built-in-backoff"))
      return new FailureHandler.MaxRetriesFailureHandler<>(
          RETRIES, new FailureHandler.ExponentialBackoffFailureHandler<>(Duration.ofMillis(DELAYS[0])));
    return (complete, operations) -> {
      int failed = complete.getExecution().consecutiveFailures;
      if (failed >= RETRIES) operations.remove();
      else {
        long delay = DELAYS[Math.min(failed, DELAYS.length - 1)];
        operations.reschedule(complete, complete.getTimeDone().plusMillis(delay));
      }
    };
  }

  public static void main(String[] arguments) throws Exception {
    var store = new PGSimpleDataSource();
    store.setUrl(System.getenv("JDBC_URL"));
    OneTimeTask<String> task =
        Tasks.oneTime("push", String.class)
            .onFailure(afterFailure())
            .execute(
                (instance, context) -> {
                  try {
                    push(instance.getData());
                  } catch (Exception error) {
                    throw new RuntimeException(error);
                  }
                });
    if (arguments[arguments.length - 1].equals("work")) {
      Scheduler.create(store, task)
          .threads((int) number("CONCURRENCY"))
          .pollingInterval(Duration.ofMillis(number("POLL_MS")))
          .build()
          .start();
      return;
    }
    try (var connection = store.getConnection()) {
      connection.createStatement().execute(TABLE);
    }
    var client = SchedulerClient.Builder.create(store, task).build();
    var server = HttpServer.create(new InetSocketAddress("127.0.0.1", (int) number("JOBS_PORT")), 256);
    server.setExecutor(Executors.newFixedThreadPool(8));
    server.createContext(
        "/",
        exchange -> {
          var body = new String(exchange.getRequestBody().readAllBytes(), StandardCharsets.UTF_8);
          var job = exchange.getRequestHeaders().getFirst("x-callback") + "\n" + body;
          client.scheduleIfNotExists(task.instance(UUID.randomUUID().toString(), job), Instant.now());
          exchange.sendResponseHeaders(200, -1);
          exchange.close();
        });
    server.start();
  }
}
