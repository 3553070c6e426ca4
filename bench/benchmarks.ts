import { kubernetes } from "./kubernetes/kubernetes.ts";
import { loadDetection } from "./load-detection.ts";
import { duet } from "./duet.ts";
import { statistics } from "./statistics.ts";
import { load } from "./load.ts";
import { segments } from "./segments/segments.ts";
import { detect, gate } from "./gate.ts";
import { asked } from "./asked.ts";
import { foreign } from "./foreign/foreign.ts";
import { pages } from "./pages.ts";
import { mutants } from "./mutants/mutants.ts";
import { noise } from "./noise.ts";
import { reliability } from "./reliability/reliability.ts";
import { ci } from "./ci.ts";
import { release } from "./release.ts";
import { image } from "./image.ts";
import { adopt, packageBench } from "./package.ts";
import { senders } from "./senders/senders.ts";

/** `npm run bench [-- NAME ...]`: prints measured figures next to their targets, and asserts nothing. */
const benchmarks: Readonly<Record<string, () => Promise<void>>> = {
  gate,
  detect,
  load,
  "load-detect": loadDetection,
  segments,
  kubernetes,
  statistics,
  duet,
  reliability,
  foreign,
  package: packageBench,
  adopt,
  ci,
  release,
  image,
  noise,
  mutants,
  pages,
  senders,
};

for (const [name, run] of asked("benchmark", benchmarks)) {
  process.stdout.write(`${name}\n`);
  await run();
}
