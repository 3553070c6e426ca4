"""https://docs.celeryq.dev/en/stable/userguide/tasks.html#retrying: `max_retries` does not count the first run, and
`retry(countdown=)` takes any delay. The worker keeps delayed tasks in its memory."""

from celery import Celery
from settings import CONCURRENCY, DELAYS_S, FAULT, REDIS, RETRIES, delay_s, push

WORKER = [
    "celery", "--app=celery_queue", "worker", "--pool=threads", f"--concurrency={CONCURRENCY}",
    "--loglevel=WARNING", "--without-mingle", "--without-gossip",
]

app = Celery("celery_queue", broker=REDIS)
app.conf.update(task_ignore_result=True, broker_connection_retry_on_startup=True)
# A redelivery before the longest countdown has passed: the fault of which the documentation of the Redis transport warns.
if FAULT == "short-lock":
    timeout = {"visibility_timeout": DELAYS_S[-1] / 2}
    app.conf.broker_transport_options = {**timeout, "unacked_restore_interval": 1, "unacked_restore_throttle": 1}

if FAULT == "built-in-backoff":
    options = {"autoretry_for": (Exception,), "retry_backoff": DELAYS_S[0], "retry_kwargs": {"max_retries": RETRIES}}
else:
    options = {"max_retries": RETRIES}


@app.task(bind=True, name="push", **options)
def deliver(self, job):
    if FAULT == "built-in-backoff":
        return push(job)
    try:
        push(job)
    except Exception as error:
        raise self.retry(exc=error, countdown=delay_s(self.request.retries))


def add(job):
    deliver.delay(job)
