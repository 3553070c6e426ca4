import { settingsVariable, type ScriptSettings } from "../protocol.ts";

const file = __ENV[settingsVariable];
if (file === undefined)
  throw new Error(
    `${settingsVariable} does not name a settings file: \`touchstone load\` runs this script, not k6 by itself`,
  );

/** The runner's settings for this run, read during k6's init stage, once per virtual user. */
export const settings = JSON.parse(open(file)) as ScriptSettings;
