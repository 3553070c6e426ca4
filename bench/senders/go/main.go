// One of the two processes of a queue over asynq (https://github.com/hibiken/asynq/wiki/Task-Retry): RetryDelayFunc
// gives any delay, and the default is exponential with jitter. Retries that are due are looked for every 5 s.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/hibiken/asynq"
)

type job struct{ URL, Body string }

func number(name string) int {
	value, err := strconv.Atoi(os.Getenv(name))
	if err != nil {
		log.Fatal(name, ": ", err)
	}
	return value
}

func delays() (list []time.Duration) {
	for _, ms := range strings.Split(os.Getenv("DELAYS_MS"), ",") {
		delay, err := time.ParseDuration(ms + "ms")
		if err != nil {
			log.Fatal(err)
		}
		list = append(list, delay)
	}
	return list
}

func enqueue(redis asynq.RedisClientOpt, retries int) {
	client := asynq.NewClient(redis)
	log.Fatal(http.ListenAndServe("127.0.0.1:"+os.Getenv("JOBS_PORT"), http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		payload, _ := json.Marshal(job{r.Header.Get("x-callback"), string(body)})
		if _, err := client.Enqueue(asynq.NewTask("push", payload), asynq.MaxRetry(retries)); err != nil {
			http.Error(w, err.Error(), 500)
		}
	})))
}

func work(redis asynq.RedisClientOpt, list []time.Duration) {
	config := asynq.Config{
		Concurrency:              number("CONCURRENCY"),
		DelayedTaskCheckInterval: time.Duration(number("POLL_MS")) * time.Millisecond,
		LogLevel:                 asynq.ErrorLevel,
	}
	if os.Getenv("FAULT") != "built-in-backoff" {
		config.RetryDelayFunc = func(retried int, _ error, _ *asynq.Task) time.Duration {
			return list[min(retried, len(list)-1)]
		}
	}
	client := &http.Client{
		Timeout:       time.Duration(number("TIMEOUT_MS")) * time.Millisecond,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	push := func(_ context.Context, task *asynq.Task) error {
		var pushed job
		if err := json.Unmarshal(task.Payload(), &pushed); err != nil {
			return err
		}
		answer, err := client.Post(pushed.URL, "application/json", strings.NewReader(pushed.Body))
		if err != nil {
			return err
		}
		defer answer.Body.Close()
		if _, err := io.Copy(io.Discard, answer.Body); err != nil {
			return err
		}
		if answer.StatusCode != 200 {
			return fmt.Errorf("not acknowledged: %d", answer.StatusCode)
		}
		return nil
	}
	log.Fatal(asynq.NewServer(redis, config).Run(asynq.HandlerFunc(push)))
}

func main() {
	redis := asynq.RedisClientOpt{Addr: "127.0.0.1:" + os.Getenv("REDIS_PORT")}
	list := delays()
	if os.Args[len(os.Args)-1] == "work" {
		work(redis, list)
		return
	}
	retries := len(list)
	if os.Getenv("FAULT") == "attempt-too-many" {
		retries++
	}
	enqueue(redis, retries)
}
