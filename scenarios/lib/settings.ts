import { settingsVariable, type ScriptSettings } from "../protocol.ts";

const file = __ENV[settingsVariable];
if (file === undefined)
  throw new Error(
    `${settingsVariable} names no settings file: \`touchstone load\` runs this script, not k6 by itself`,
  );

/** What the runner asks of this run. Read while k6 initialises, once for each virtual user. */
export const settings = JSON.parse(open(file)) as ScriptSettings;
