import type { CiCase, CiSuite } from "./cases.ts";

/**
 * Runs as JUnit XML: a suite per run, a test case per rule and objective. Anything not judged is skipped, and the
 * suite's property `incomplete` says that the run is not a pass.
 */
export const renderJunit = (suites: readonly CiSuite[]): string =>
  xmlDocument({
    name: "testsuites",
    attributes: {
      name: "Touchstone",
      ...countsOf(suites.flatMap(({ cases }) => cases)),
      time: seconds(suites.reduce((sum, suite) => sum + wallTimeOf(suite), 0)),
    },
    children: suites.map(suiteElement),
  });

const countsOf = (cases: readonly CiCase[]): Readonly<Record<string, number>> => {
  const count = (status: CiCase["status"]): number => cases.filter((one) => one.status === status).length;
  return {
    tests: cases.length,
    failures: count("failed"),
    errors: count("error"),
  };
};

const seconds = (durationMs: number): string => (Math.max(0, durationMs) / 1_000).toFixed(3);

const wallTimeOf = ({ startedAt, endedAt }: CiSuite): number =>
  endedAt === undefined ? 0 : Date.parse(endedAt) - Date.parse(startedAt);

const suiteElement = (suite: CiSuite, at: number): Element => {
  const { cases, startedAt } = suite;
  return {
    name: "testsuite",
    attributes: {
      name: `touchstone ${suite.name}`,
      ...countsOf(cases),
      skipped: cases.filter(({ status }) => status === "skipped").length,
      time: seconds(wallTimeOf(suite)),
      // UTC without a zone, because some schemas accept no other form.
      timestamp: startedAt.slice(0, 19),
      id: at,
    },
    children: [propertiesOf(suite), ...cases.map((one) => caseElement(one, suite))],
  };
};

const propertiesOf = (suite: CiSuite): Element => {
  const { outcome, incomplete, exitCode, target, run, seed, tool, replacedLimits } = suite;
  const properties = Object.entries({
    outcome,
    incomplete: String(incomplete !== undefined),
    whyIncomplete: incomplete,
    exitCode,
    target,
    run,
    seed,
    touchstone: tool,
    limitsThatAreNotTheDocuments: replacedLimits.length === 0 ? undefined : replacedLimits.join(", "),
  }).filter(([, value]) => value !== undefined);
  return {
    name: "properties",
    children: properties.map(([name, value]) => ({ name: "property", attributes: { name, value } })),
  };
};

const caseElement = (one: CiCase, suite: CiSuite): Element => ({
  name: "testcase",
  attributes: {
    name: one.name,
    classname: `touchstone.${suite.name.replace(" ", "-")}.${one.group}`,
    time: seconds(one.durationMs),
  },
  children: outcomeOf(one),
});

const outcomeOf = ({ status, verdict, message, details }: CiCase): readonly Element[] => {
  if (status === "skipped") return [{ name: "skipped", attributes: { message } }];
  if (status === "passed") {
    const said = `${verdict}${message === undefined ? "" : `: ${message}`}${details === undefined ? "" : `\n${details}`}`;
    return [{ name: "system-out", children: [said] }];
  }
  const children = [details ?? message ?? verdict];
  const name = status === "error" ? "error" : "failure";
  return [{ name, attributes: { message, type: verdict }, children }];
};

export interface Element {
  readonly name: string;
  readonly attributes?: Readonly<Record<string, string | number | undefined>>;
  readonly children?: readonly (Element | string)[];
}

/** Characters that XML 1.0 cannot represent, even escaped (section 2.2): they are removed. */
// eslint-disable-next-line no-control-regex -- control characters are what it is about
const illegal = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff\p{Cs}]/gu;

const entities: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "\n": "&#10;",
  "\r": "&#13;",
  "\t": "&#9;",
};

const text = (value: string): string =>
  value.replace(illegal, "").replace(/[&<>\r]/g, (character) => entities[character] ?? character);

/** Escapes line ends and tabs, which parsers read as spaces in attributes. */
const attribute = (value: string): string =>
  value.replace(illegal, "").replace(/[&<>"\r\n\t]/g, (character) => entities[character] ?? character);

/**
 * The XML document of an element, indented by two spaces. Text is written unchanged, so no whitespace is added to it.
 */
export const xmlDocument = (root: Element): string =>
  `<?xml version="1.0" encoding="UTF-8"?>\n${linesOf(root, "").join("\n")}\n`;

const linesOf = ({ name, attributes = {}, children = [] }: Element, margin: string): string[] => {
  const written = Object.entries(attributes).flatMap(([key, value]) =>
    value === undefined ? [] : [` ${key}="${attribute(String(value))}"`],
  );
  const opening = `${margin}<${name}${written.join("")}`;
  if (children.length === 0) return [`${opening}/>`];
  if (children.every((child) => typeof child === "string"))
    return [`${opening}>${children.map(text).join("")}</${name}>`];
  return [
    `${opening}>`,
    ...children.flatMap((child) =>
      typeof child === "string" ? [text(child)] : linesOf(child, `${margin}  `),
    ),
    `${margin}</${name}>`,
  ];
};
