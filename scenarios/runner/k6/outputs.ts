import { ConfigurationError } from "../../../conformance/contract/problem.ts";

/**
 * k6 outputs allowed beside ours, with the prefixes of the variables that configure them; k6 gets only these variables.
 */
const prefixes = {
  opentelemetry: "K6_OTEL_",
  "experimental-prometheus-rw": "K6_PROMETHEUS_RW_",
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
  cloud: "it sends every sample elsewhere, digests of issued codes and tokens among them",
};

/** Throws ConfigurationError for an unknown output, or one that would export more than metrics. */
export const parseK6Output = (name: string): K6OutputName => {
  const known = Object.keys(prefixes) as readonly K6OutputName[];
  const found = known.find((one) => one === name);
  if (found !== undefined) return found;
  const why = refused[name.split("=")[0] ?? ""];
  throw new ConfigurationError([
    {
      key: "--k6-out",
      value: name,
      accepted: known.join(" or "),
      ...(why === undefined ? {} : { remedy: why }),
    },
  ]);
};

export const isFor = (output: K6Output | undefined, variable: string): boolean =>
  output !== undefined && variable.startsWith(prefixes[output.name]);

export const outputFlags = (output: K6Output | undefined): readonly string[] =>
  output === undefined
    ? []
    : [
        `--out=${output.name}`,
        ...Object.entries(output.tags).map(([name, value]) => `--tag=${name}=${value}`),
      ];
