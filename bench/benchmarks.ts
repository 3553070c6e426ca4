import { kubernetes } from "./kubernetes/kubernetes.ts";
import { exchanges } from "./exchanges.ts";
import { loadDetection } from "./load-detection.ts";
import { receiver } from "./receiver.ts";
import { duet } from "./duet.ts";
import { statistics } from "./statistics.ts";
import { history } from "./history.ts";
import { page } from "./page.ts";
import { proofs } from "./proofs.ts";
import { load } from "./load.ts";
import { segments } from "./segments/segments.ts";
import { detection } from "./detection.ts";
import { gate } from "./gate.ts";
import { asked } from "./asked.ts";
import { faketime } from "./foreign/faketime.ts";
import { foreign } from "./foreign/foreign.ts";
import { pages } from "./pages.ts";
import { mutants } from "./mutants/mutants.ts";
import { noise } from "./noise/noise.ts";
import { reliability } from "./reliability/reliability.ts";
import { ci } from "./ci.ts";
import { release } from "./release.ts";
import { image } from "./image.ts";
import { adopt, packageBench } from "./package.ts";
import { senders } from "./senders/senders.ts";
import { startup } from "./startup.ts";

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
  pages,
  senders,
};

for (const [name, run] of asked("benchmark", benchmarks)) {
  process.stdout.write(`${name}\n`);
  await run();
}
