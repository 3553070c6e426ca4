import { documentedPath } from "../contract/forms.ts";
import { ConfigurationError } from "../contract/problem.ts";
import type { Profile } from "../contract/profile.ts";
import { checkProfile } from "./profile-check.ts";

export interface Question {
  readonly flag: string;
  readonly text: string;
  /** The value of an empty answer. */
  readonly offered: string;
  readonly problem: (answer: string) => string | undefined;
  readonly read?: (answer: string) => string;
}

const client = { id: "client-1", secret: { env: "SECRET" }, redirectUri: "https://client.example/callback" };

/** What would be wrong with a profile that has this answer. */
const problemOf = (part: Partial<Profile>): string | undefined => {
  try {
    checkProfile({ baseUrl: "https://staging.example", clients: [client], ...part }, "answer");
    return undefined;
  } catch (error) {
    if (!(error instanceof ConfigurationError)) throw error;
    return error.problems.map((text) => text.replace(/^answer: (clients\[0\]\.)?/, "")).join("; ");
  }
};

const withoutSlashes = (address: string): string => address.replace(/\/+$/, "");

export const questions = {
  baseUrl: {
    flag: "--base-url",
    text: "Address of the service, the part before /open-api/",
    offered: "https://staging.example",
    problem: (answer) =>
      problemOf({ baseUrl: withoutSlashes(answer) }) ??
      (documentedPath.test(answer)
        ? `baseUrl is "${answer}"; accepted is the part before /open-api/: "${answer.replace(documentedPath, "")}"`
        : undefined),
    read: withoutSlashes,
  },
  id: (number: number) => ({
    flag: "--client-id",
    text: `Id of OAuth client ${number}`,
    offered: `client-${number}`,
    problem: (answer) => (answer === "" ? "the id is empty; accepted is the id of a client" : undefined),
  }),
  secretEnv: (number: number) => ({
    flag: "--secret-env",
    text: "Environment variable that holds its secret",
    offered: `CLIENT_${number}_SECRET`,
    // The input may be the secret itself, so it is not shown.
    problem: (answer) =>
      /^[A-Za-z_][A-Za-z0-9_]*$/.test(answer)
        ? undefined
        : `that is not a variable name; accepted is a name such as CLIENT_${number}_SECRET, never the secret itself`,
  }),
  redirectUri: {
    flag: "--redirect-uri",
    text: "Its redirectUri, as registered",
    offered: "https://client.example/callback",
    problem: (answer) => problemOf({ clients: [{ ...client, redirectUri: answer }] }),
  },
  second: {
    flag: "",
    text: "Is there a second client? Some rules compare two",
    offered: "no",
    problem: (answer) =>
      /^(y|yes|n|no)$/i.test(answer) ? undefined : `"${answer}" is neither; accepted are yes and no`,
  },
} as const satisfies Readonly<Record<string, Question | ((number: number) => Question)>>;
