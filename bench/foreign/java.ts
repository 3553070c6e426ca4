import path from "node:path";
import { run } from "../../conformance/testing/installed.ts";
import { anyState, startService, type ForeignImplementation } from "./services.ts";

const project = path.join(import.meta.dirname, "java");

/** A Java machine does not start under libfaketime, so what lives for minutes or days is set to seconds, in real time. */
const limits = { codeLifetimeMs: 20_000, refreshTokenLifetimeMs: 60_000 };

const start: ForeignImplementation["start"] = async (place) => {
  const target = path.join(place.cache, "java");
  await run("mvn", ["--quiet", "--batch-mode", `-Dproject.target=${target}`, "package"], { cwd: project });
  const service = await startService("java", ["-jar", path.join(target, "service.jar")], place);
  const { baseUrl, events, stop } = service;
  return { stop, profile: { baseUrl, limits, hooks: { events } } };
};

export const springAuthorizationServer: ForeignImplementation = {
  name: "Spring Authorization Server of Spring Boot 4.0.7",
  language: "Java",
  start,
  examined: { ...anyState },
};
