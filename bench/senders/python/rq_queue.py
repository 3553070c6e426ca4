"""https://python-rq.org/docs/exceptions/#retrying-failed-jobs: `Retry(max, interval)` takes a list of delays; the
scheduler of a worker looks every second, and each job runs in a process of its own."""

from redis import Redis
from rq import Queue, Retry
from settings import CONCURRENCY, DELAYS_S, FAULT, REDIS, RETRIES, push

WORKER = ["rq", "worker-pool", "pushes", f"--num-workers={CONCURRENCY}", f"--url={REDIS}", "--logging-level=WARNING"]

queue = Queue("pushes", connection=Redis.from_url(REDIS))
intervals = [int(seconds) for seconds in DELAYS_S]


def add(job):
    interval = intervals[0] if FAULT == "built-in-backoff" else intervals
    queue.enqueue(push, job, retry=Retry(max=RETRIES, interval=interval))
