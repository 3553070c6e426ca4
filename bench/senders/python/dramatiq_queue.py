"""https://dramatiq.io/guide.html#message-retries: exponential backoff with jitter is built in, and `Retry(delay=)` asks
for any delay. The worker keeps delayed messages in its memory; another takes them 60 s after its last heartbeat."""

import dramatiq
from dramatiq.brokers.redis import RedisBroker
from dramatiq.middleware import CurrentMessage
from settings import CONCURRENCY, DELAYS_S, FAULT, REDIS, RETRIES, delay_s, push

WORKER = ["dramatiq", "dramatiq_queue", "--processes=1", f"--threads={CONCURRENCY}"]

broker = RedisBroker(url=REDIS)
broker.add_middleware(CurrentMessage())
dramatiq.set_broker(broker)


@dramatiq.actor(max_retries=RETRIES, min_backoff=int(DELAYS_S[0] * 1000))
def deliver(job, is_built_in):
    try:
        push(job)
    except Exception as error:
        if is_built_in:
            raise
        retries = CurrentMessage.get_current_message().options.get("retries", 0)
        raise dramatiq.errors.Retry(delay=int(delay_s(retries) * 1000)) from error


def add(job):
    deliver.send(job, FAULT == "built-in-backoff")
