"""One of the two processes of a queue in Python: `python run.py QUEUE enqueue` takes jobs over HTTP at JOBS_PORT, and
`python run.py QUEUE work` becomes the queue's own worker program."""

import importlib
import os
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

name, role = sys.argv[1:]
queue = importlib.import_module(f"{name}_queue")
if role == "work":
    here = os.path.dirname(os.path.abspath(__file__))
    os.environ.update(PYTHONPATH=here, PYTHONDONTWRITEBYTECODE="1")
    program, *parameters = queue.WORKER
    program = os.path.join(os.path.dirname(sys.executable), program)
    os.execv(program, [program, *parameters])


class Jobs(BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["content-length"])).decode()
        queue.add({"url": self.headers["x-callback"], "body": body})
        self.send_response(200)
        self.send_header("content-length", "0")
        self.end_headers()

    def log_message(self, *_):
        pass


class Server(ThreadingHTTPServer):
    request_queue_size = 256


Server(("127.0.0.1", int(os.environ["JOBS_PORT"])), Jobs).serve_forever()
