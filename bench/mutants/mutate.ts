import { parseSync, type Node } from "oxc-parser";

/** One small change of a source text: the characters from `start` to `end` become `text`. */
export interface Mutation {
  readonly operator: string;
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

/** Every mutation of a TypeScript source by the operators below, in the order of the text. */
export const mutationsOf = (file: string, source: string): readonly Mutation[] => {
  const mutations: Mutation[] = [];
  const textOf: TextOf = ({ start, end }) => source.slice(start, end);
  const visit = (node: Node, parent: Node): void => {
    if (isNotRun(node)) return;
    for (const [operator, text, { start, end } = node] of changesOf(node, parent, textOf))
      if (source.slice(start, end) !== text) mutations.push({ operator, start, end, text });
    for (const child of childrenOf(node)) visit(child, node);
  };
  const { program } = parseSync(file, source);
  visit(program, program);
  return mutations.toSorted((a, b) => a.start - b.start);
};

export const mutated = (source: string, { start, end, text }: Mutation): string =>
  source.slice(0, start) + text + source.slice(end);

export const childrenOf = (node: Node): Node[] =>
  Object.entries(node).flatMap(([key, value]: [string, unknown]) =>
    TYPES.has(key) ? [] : (Array.isArray(value) ? value : [value]).filter(isNode),
  );

const isNode = (value: unknown): value is Node =>
  typeof value === "object" && value !== null && "type" in value && "start" in value;

const TYPES = new Set(["typeAnnotation", "typeParameters", "typeArguments", "returnType"]);
const WRAPS = new Set(["TSAsExpression", "TSSatisfiesExpression", "TSNonNullExpression"]);
const isNotRun = ({ type }: Node): boolean =>
  type === "ImportDeclaration" || (type.startsWith("TS") && !WRAPS.has(type));

/** What an operator writes, and in place of which node if not of the visited one. */
type Change = readonly [operator: string, text: string, instead?: Pick<Node, "start" | "end">];
type TextOf = (node: Pick<Node, "start" | "end">) => string;

/** What each operator may become, by the kind of change. */
const SWAPS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  boundary: { "<": "<=", "<=": "<", ">": ">=", ">=": ">" },
  negation: { "<": ">=", "<=": ">", ">": "<=", ">=": "<", "===": "!==", "!==": "===" },
  operator: {
    "+": "-",
    "-": "+",
    "*": "/",
    "/": "*",
    "%": "*",
    "**": "*",
    "&": "|",
    "|": "&",
    "+=": "-=",
    "-=": "+=",
    "&&": "||",
    "||": "&&",
    "??": "&&",
    "||=": "&&=",
  },
};

const changesOf = (node: Node, parent: Node, textOf: TextOf): readonly Change[] => {
  switch (node.type) {
    case "BinaryExpression":
    case "LogicalExpression":
    case "AssignmentExpression": {
      const { operator, left, right } = node;
      return Object.entries(SWAPS).flatMap(([kind, { [operator]: other }]): Change[] => {
        if (other === undefined) return [];
        const text = parenthesized(node, `${textOf(left)} ${other} ${textOf(right)}`);
        return [[`${kind}: ${operator} to ${other}`, text]];
      });
    }
    case "IfStatement":
      return (isDropped(node.consequent) && node.alternate === null ? ["true"] : ["true", "false"]).map(
        (text) => [`condition: ${text}`, text, node.test],
      );
    case "ConditionalExpression":
      return ["true", "false"].map((text) => [`condition: ${text}`, text, node.test]);
    case "ForStatement":
    case "WhileStatement":
      return node.test === null ? [] : [["condition: false", "false", node.test]];
    case "UnaryExpression":
      return node.operator === "!" ? [["negation: ! dropped", textOf(node.argument)]] : [];
    case "Literal":
      return isKey(node, parent) ? [] : literalChanges(node.value, textOf(node));
    case "TemplateLiteral":
      return [["text: emptied", '""']];
    case "ArrayExpression":
      return node.elements.length === 0 ? [] : [["list: emptied", "[]"]];
    case "SpreadElement":
      return [["spread: dropped", "...[]"]];
    case "Property":
      return parent.type === "ObjectExpression" ? [["property: dropped", "...[]"]] : [];
    case "ArrowFunctionExpression":
      return node.expression ? [["function: gives nothing", "undefined", node.body]] : [];
    case "BlockStatement":
      return node.body.length === 0 || isDropped(node) ? [] : [["block: emptied", "{}"]];
    default:
      return isDropped(node) ? [["statement: dropped", ";"]] : [];
  }
};

/** Whether dropping a statement, or the only one of a block, is a mutation of its own. */
const isDropped = (node: Node): boolean =>
  node.type === "BlockStatement"
    ? node.body.length === 1 && node.body.every(isDropped)
    : ["ExpressionStatement", "ReturnStatement", "ThrowStatement"].includes(node.type);

const isKey = (node: Node, parent: Node): boolean =>
  "key" in parent && parent.key === node && !("computed" in parent && parent.computed);

/** An expression in parentheses; an assignment that is a statement needs none. */
const parenthesized = ({ type }: Node, text: string): string =>
  type === "AssignmentExpression" ? text : `(${text})`;

const literalChanges = (value: unknown, text: string): readonly Change[] => {
  if (typeof value === "boolean") return [["truth: flipped", String(!value)]];
  if (typeof value === "string") return [["text: emptied", value === "" ? '"mutated"' : '""']];
  if (typeof value === "number")
    return [
      ["number: + 1", `(${text} + 1)`],
      ["number: - 1", `(${text} - 1)`],
      ...(value === 0 ? [] : [["number: times 10", `(${text} * 10)`] as const]),
    ];
  if (!(value instanceof RegExp)) return [];
  const parts: Readonly<Record<string, string>> = {
    "^ dropped": text.replace("/^", "/"),
    "$ dropped": text.replace(/\$(?=\/\w*$)/, ""),
    "+ dropped": text.replace("]+", "]").replace(String.raw`\d+`, String.raw`\d`),
  };
  return Object.entries(parts).flatMap(([name, made]) => (made === text ? [] : [[`pattern: ${name}`, made]]));
};
