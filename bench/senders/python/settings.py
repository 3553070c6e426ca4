"""What the bench tells every queue, and the push itself: a job is {url, body}, and no acknowledgement raises."""

import os
import urllib.error
import urllib.request

DELAYS_S = [int(ms) / 1000 for ms in os.environ["DELAYS_MS"].split(",")]
TIMEOUT_S = int(os.environ["TIMEOUT_MS"]) / 1000
CONCURRENCY = int(os.environ["CONCURRENCY"])
FAULT = os.environ["FAULT"]
REDIS = f"redis://127.0.0.1:{os.environ['REDIS_PORT']}/0"

# One push too many is the usual slip: "attempts" and "retries" differ by the first push.
RETRIES = len(DELAYS_S) + (1 if FAULT == "attempt-too-many" else 0)


def delay_s(retries):
    """The delay before the next push, after so many retries."""
    return DELAYS_S[min(retries, len(DELAYS_S) - 1)]


class Unredirected(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_):
        return None


OPENER = urllib.request.build_opener(Unredirected)


def push(job):
    headers = {"content-type": "application/json"}
    request = urllib.request.Request(job["url"], job["body"].encode(), headers, method="POST")
    with OPENER.open(request, timeout=TIMEOUT_S) as answer:
        if answer.status != 200:
            raise RuntimeError(f"not acknowledged: {answer.status}")
        answer.read()
