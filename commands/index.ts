import { compareCommand } from "./compare.ts";
import { conformCommand } from "./conform.ts";
import { detectCommand } from "./detect.ts";
import { doctorCommand } from "./doctor.ts";
import { duetCommand } from "./duet.ts";
import { historyCommand } from "./history.ts";
import { initCommand } from "./init.ts";
import { ledgerCommand } from "./ledger.ts";
import { loadCommand } from "./load.ts";
import { receiveCommand } from "./receive.ts";
import { replayCommand } from "./replay.ts";
import { reportCommand } from "./report.ts";
import { rulesCommand } from "./rules.ts";
import { runCommand } from "./run.ts";
import { serveCommand } from "./serve.ts";

/** Every command, in the order in which the help lists them. Each loads the parts that it composes once it is called. */
export const commands = [
  conformCommand,
  replayCommand,
  initCommand,
  doctorCommand,
  rulesCommand,
  serveCommand,
  receiveCommand,
  loadCommand,
  runCommand,
  reportCommand,
  compareCommand,
  ledgerCommand,
  historyCommand,
  duetCommand,
  detectCommand,
];
