"""https://huey.readthedocs.io/en/latest/guide.html#retrying-tasks-that-fail: tasks have one `retry_delay`;
a list of delays is a new task with `schedule(delay=)` for each. The scheduler looks every second."""

from huey import RedisHuey
from settings import CONCURRENCY, DELAYS_S, FAULT, REDIS, RETRIES, delay_s, push

WORKER = ["huey_consumer", "huey_queue.huey", "--worker-type=thread", f"--workers={CONCURRENCY}", "--quiet"]

huey = RedisHuey("pushes", url=REDIS, results=False)


@huey.task(retries=RETRIES, retry_delay=DELAYS_S[0])
def deliver_by_default(job):
    push(job)


@huey.task()
def deliver(job, retried=0):
    try:
        push(job)
    except Exception:
        if retried < RETRIES:
            deliver.schedule((job, retried + 1), delay=delay_s(retried))


def add(job):
    (deliver_by_default if FAULT == "built-in-backoff" else deliver)(job)
