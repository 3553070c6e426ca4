import { ConfigurationError } from "../../../conformance/contract/problem.ts";

/**
 * k6 outputs allowed beside ours, with the prefixes of the variables that configure them; k6 gets only these variables.
 * Those of the dashboard could open it to the network, so it gets none.
 */
const prefixes = {
  opentelemetry: "K6_OTEL_",
  "experimental-prometheus-rw": "K6_PROMETHEUS_RW_",
  "web-dashboard": undefined,
} as const;
export type K6OutputName = keyof typeof prefixes;

export interface K6Output {
  readonly name: K6OutputName;
  /** The tags that distinguish its series. */
  readonly tags: { readonly testid: string; readonly instance_id: string };
}

const refused: Readonly<Record<string, string>> = {
  json: "it writes every sample, digests of issued codes and tokens among them",
  csv: "it writes every sample, digests of issued codes and tokens among them; Touchstone reads one itself",
  "web-dashboard": "its address is always a free port of 127.0.0.1",
  cloud: "it sends every sample elsewhere, digests of issued codes and tokens among them",
};

/** Throws ConfigurationError for an unknown output, or one that would export more than metrics. */
export const parseK6Output = (name: string | undefined): K6OutputName | undefined => {
  if (name === undefined) return undefined;
  const known = Object.keys(prefixes) as readonly K6OutputName[];
  const found = known.find((one) => one === name);
  if (found !== undefined) return found;
  const why = refused[name.split("=")[0] ?? ""];
  throw new ConfigurationError([
    {
      key: "--k6-out",
      value: name,
      accepted: `${known.slice(0, -1).join(", ")} or ${known.at(-1)}`,
      ...(why === undefined ? {} : { remedy: why }),
    },
  ]);
};

export const isFor = (output: K6Output | undefined, variable: string): boolean => {
  const prefix = output && prefixes[output.name];
  return prefix !== undefined && variable.startsWith(prefix);
};

/** By default k6 serves its dashboard to the whole network, and updates it every ten seconds. */
export const outputFlags = (output: K6Output | undefined, port?: number): readonly string[] =>
  output === undefined
    ? []
    : [
        `--out=${output.name}${port === undefined ? "" : `=host=127.0.0.1&port=${port}&period=1s`}`,
        ...Object.entries(output.tags).map(([name, value]) => `--tag=${name}=${value}`),
      ];
