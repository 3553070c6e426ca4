import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { run } from "../../conformance/testing/installed.ts";
import { freePort } from "../../conformance/testing/servers.ts";
import type { ForeignImplementation, RunningService } from "./services.ts";

/** Requests a second that nginx lets through, and how many more wait; beyond that it answers 503 without Retry-After. */
const LIMIT = { rate: "50r/s", burst: 20 } as const;

const configured = (folder: string, port: number, upstream: string): string => `
${process.getuid?.() === 0 ? "user root;" : ""}
pid ${folder}/nginx.pid;
error_log ${folder}/error.log;
events { worker_connections 512; }
http {
  access_log off;
  client_body_temp_path ${folder}/body;
  proxy_temp_path ${folder}/proxy;
  fastcgi_temp_path ${folder}/fastcgi;
  uwsgi_temp_path ${folder}/uwsgi;
  scgi_temp_path ${folder}/scgi;
  limit_req_zone $binary_remote_addr zone=each:1m rate=${LIMIT.rate};
  server {
    listen 127.0.0.1:${port};
    location / {
      limit_req zone=each burst=${LIMIT.burst};
      proxy_pass ${upstream};
    }
  }
}
`;

/** Where Debian, Fedora and Alpine, and a build by hand, install it; undefined if it is not installed. */
const nginx = ["/usr/sbin/nginx", "/usr/local/sbin/nginx", "/usr/bin/nginx"].find((file) => existsSync(file));

export const hasNginx = nginx !== undefined;

/** What nginx adds, with buffers as they come. Its error log says "upstream sent too big header". */
export const ofNginx: ForeignImplementation["examined"] = {
  "service.survives-bad-input": {
    seen: /\/authorize with the query x.* got status 502/,
    theirs:
      "a long state that the service echoes in a Location does not fit into nginx's proxy_buffer_size, so that it answers 502",
  },
};

/** The same service behind nginx with its limiter as it comes. Hooks go past it. */
export const behindNginx = async (service: RunningService, folder: string): Promise<RunningService> => {
  const own = path.join(folder, "nginx");
  mkdirSync(own);
  const port = await freePort();
  const file = path.join(own, "nginx.conf");
  writeFileSync(file, configured(own, port, service.profile.baseUrl));
  // It goes into the background once it listens.
  await run(nginx ?? "nginx", ["-p", own, "-c", file], {});
  return {
    profile: { ...service.profile, baseUrl: `http://127.0.0.1:${port}` },
    stop: () => Promise.resolve(process.kill(Number(readFileSync(path.join(own, "nginx.pid"), "utf8")))),
  };
};
