import path from "node:path";
import { run } from "../../conformance/testing/installed.ts";
import { anyState, faketimeEnvironment, movedByFile, type ForeignImplementation } from "./services.ts";

const project = path.join(import.meta.dirname, "java");

/** Java asks for the time through libc, but waits by a monotonic clock, which stays real. */
const start: ForeignImplementation["start"] = async (place) => {
  const target = path.join(place.cache, "java");
  await run("mvn", ["--quiet", "--batch-mode", `-Dproject.target=${target}`, "package"], { cwd: project });
  return movedByFile("java", ["-jar", path.join(target, "service.jar")], place, {
    env: (file) => ({ ...faketimeEnvironment(file), FAKETIME_DONT_FAKE_MONOTONIC: "1" }),
  });
};

export const springAuthorizationServer: ForeignImplementation = {
  name: "Spring Authorization Server of Spring Boot 4.0.7",
  language: "Java",
  start,
  examined: { ...anyState },
};
