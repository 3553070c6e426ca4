import path from "node:path";
import { userFolder } from "../../conformance/files/folders.ts";
import type { PushPlan } from "../../conformance/contract/push.ts";
import { aborted, readJson, readText } from "../serving.ts";
import { fieldOf } from "../../conformance/contract/json.ts";
import { isLoopback } from "../../conformance/contract/text.ts";
import type { Certificate } from "./certificate.ts";
import { parsePlan } from "./plan.ts";
import { type ReceiverOptions, type RunningReceiver, startReceiver } from "./start.ts";
import { ConfigurationError } from "../../conformance/contract/problem.ts";

export interface ReceiveOptions extends Pick<
  ReceiverOptions,
  "port" | "controlPort" | "host" | "publicHost" | "path" | "page" | "journal" | "certificateFolder"
> {
  /** Plain HTTP instead of HTTPS. */
  readonly http?: boolean;
  /** PEM files of the user's own certificate and its key; both or none. */
  readonly certFile?: string;
  readonly keyFile?: string;
  /** The path of a JSON file: a PushPlan. */
  readonly planFile?: string;
  /** The environment variable with the control interface's token. */
  readonly tokenEnv?: string;
}

export interface ReceiverAddresses {
  readonly callbackUrl: string;
  readonly controlUrl: string;
  readonly pageUrl?: string;
  /** PEM of the authority that senders must trust. */
  readonly caFile?: string;
  readonly journal?: string;
  /** Set only if a token is required and was generated. */
  readonly token?: string;
}

export interface ReceiveIo {
  /** Called once, when both ports listen. */
  readonly listening: (addresses: ReceiverAddresses) => void;
  /** For what the operator should know immediately: an incomplete line set aside, a full disk. */
  readonly trouble: (message: string) => void;
  readonly signal: AbortSignal;
  readonly environment: Readonly<Record<string, string | undefined>>;
}

/** Runs a receiver until `io.signal` is aborted. Rejects with ConfigurationError before it listens. */
export const receive = async (options: ReceiveOptions, io: ReceiveIo): Promise<void> => {
  const { http = false, certFile, keyFile, planFile, tokenEnv, ...rest } = options;
  if (options.certificateFolder !== undefined && (http || certFile !== undefined))
    throw new ConfigurationError(
      `--certificate-folder stores a certificate that the receiver creates; with ${http ? "--http" : "--cert"} it creates none: remove one of the two`,
    );
  const certificate = await certificateIn(certFile, keyFile, http);
  const plan = planFile === undefined ? usualPlan : parsePlan(await readJson("--plan", planFile), planFile);
  const token = tokenEnv === undefined ? undefined : tokenIn(tokenEnv, io.environment);
  const receiver = await startReceiver({
    ...rest,
    scheme: http ? "http" : "https",
    certificateFolder: options.certificateFolder ?? usualFolder(io.environment),
    ...(certificate === undefined ? {} : { certificate }),
    plan,
    ...(token === undefined ? {} : { token }),
    onTrouble: io.trouble,
  });
  const isTold = token === undefined && !isLoopback(options.host ?? "127.0.0.1");
  io.listening(addressesOf(receiver, options, isTold ? receiver.token : undefined));
  await aborted(io.signal);
  await receiver.stop();
};

/** Like a service's own receiver, does not acknowledge what is not a notification. A custom plan may. */
const usualPlan: PushPlan = {
  rules: [],
  noNotification: {
    kind: "answer",
    status: 400,
    body: {
      text: "This body is not a notification: accepted is a JSON object with the notification's id.\n",
    },
  },
};

const addressesOf = (
  { callbackUrl, controlUrl, caFile }: RunningReceiver,
  { page, journal }: ReceiveOptions,
  token: string | undefined,
): ReceiverAddresses => ({
  callbackUrl,
  controlUrl,
  ...(page === true ? { pageUrl: `${controlUrl}/${token === undefined ? "" : `#token=${token}`}` } : {}),
  ...(caFile === undefined ? {} : { caFile }),
  ...(journal === undefined ? {} : { journal }),
  ...(token === undefined ? {} : { token }),
});

/** Kept between runs, so that senders need to trust the authority only once. */
const usualFolder = (environment: ReceiveIo["environment"]): string =>
  path.join(userFolder(environment, "XDG_STATE_HOME"), "receiver");

const certificateIn = async (
  certFile: string | undefined,
  keyFile: string | undefined,
  http: boolean,
): Promise<Certificate | undefined> => {
  if (certFile === undefined && keyFile === undefined) return undefined;
  if (http)
    throw new ConfigurationError("--http uses no certificate; give either --http, or --cert with --key");
  if (certFile === undefined)
    throw new ConfigurationError("--key needs --cert, the certificate that it belongs to");
  if (keyFile === undefined)
    throw new ConfigurationError("--cert needs --key, the private key that belongs to it");
  const certPem = await readText("--cert", certFile);
  const keyPem = await readText("--key", keyFile, "the key");
  return { certPem, keyPem };
};

const tokenIn = (name: string, environment: ReceiveIo["environment"]): string => {
  const token = fieldOf(environment, name);
  if (typeof token !== "string" || token === "")
    throw new ConfigurationError(
      `--token-env: the environment variable ${name} is not set; accepted is one that holds the token`,
    );
  if (!/^[!-~]+$/.test(token))
    throw new ConfigurationError(
      `--token-env: the value of ${name} cannot be sent in a header; accepted are visible ASCII characters`,
    );
  return token;
};
