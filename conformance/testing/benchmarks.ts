import { senders } from "../../bench/senders/senders.bench.ts";
import { kubernetes } from "../../deploy/kubernetes.bench.ts";
import { exchanges } from "../../fake-server/exchanges.bench.ts";
import { loadDetection } from "../../fake-server/load-detection.bench.ts";
import { receiver } from "../../fake-server/receiver/receiver.bench.ts";
import { duet } from "../../reports/duet/duet.bench.ts";
import { statistics } from "../../reports/duet/statistics.bench.ts";
import { history } from "../../reports/history/history.bench.ts";
import { page } from "../../reports/html/page.bench.ts";
import { live } from "../../reports/live/live.bench.ts";
import { proofs } from "../../reports/failures/proofs.bench.ts";
import { schemathesisBench } from "../../reports/openapi/schemathesis.bench.ts";
import { load } from "../../scenarios/runner/load.bench.ts";
import { segments } from "../../scenarios/runner/segments.bench.ts";
import { detection } from "../engine/detect.bench.ts";
import { gate } from "../engine/gate.bench.ts";
import { asked } from "./asked.ts";
import { faketime } from "./foreign/faketime.bench.ts";
import { foreign } from "./foreign/foreign.bench.ts";
import { guides } from "./guides/guides.bench.ts";
import { mutants } from "./mutants/mutants.bench.ts";
import { noise } from "./noise/noise.bench.ts";
import { reliability } from "./reliability/reliability.bench.ts";
import { ci } from "./ci/ci.bench.ts";
import { release } from "./ci/release.bench.ts";
import { image } from "./image.bench.ts";
import { adopt, packageBench } from "./package.bench.ts";
import { startup } from "./startup.bench.ts";

/** `npm run bench [-- NAME ...]`: prints measured figures next to their targets, and asserts nothing. */
const benchmarks: Readonly<Record<string, () => Promise<void>>> = {
  gate,
  detect: detection,
  receiver,
  load: async () => {
    await load();
    await exchanges();
  },
  "load-detect": loadDetection,
  segments,
  kubernetes,
  reports: async () => {
    await page();
    await history();
  },
  "live-page": live,
  statistics,
  duet,
  reliability,
  foreign,
  faketime,
  startup,
  package: packageBench,
  adopt,
  ci,
  release,
  image,
  noise,
  mutants,
  proofs,
  schemathesis: schemathesisBench,
  guides,
  senders,
};

for (const [name, run] of asked("benchmark", benchmarks)) {
  process.stdout.write(`${name}\n`);
  await run();
}
