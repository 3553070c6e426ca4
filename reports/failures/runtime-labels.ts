/** The part of the script that fills labels with live values, learns these from answers, and hides them again. */
export const labels = String.raw`
/** Which client a secret belongs to, as a request shows. */
const ownerOf = (name) => {
  const bodies = cases.flatMap(({ steps }) => steps.map(({ body = "" }) => body));
  const found = bodies.find((body) => body.includes("{{" + name + "}}"));
  const client = /"clientId":\s*"([^"]+)"/.exec(found ?? "")?.[1];
  return client !== undefined && name.startsWith("CLIENT_SECRET") ? ", the secret of the client " + client : "";
};

const caseSwapped = (text) => (text === text.toLowerCase() ? text.toUpperCase() : text.toLowerCase());

/** The place from which on a change of this kind changes something. */
const placeFrom = (value, at, changes) => {
  for (let one = 0; one < value.length; one += 1) if (changes((at + one) % value.length)) return (at + one) % value.length;
  throw new CannotRun("the value that the service gave this time cannot be changed as the recorded one was");
};

/** A value changed as the record says that the one at that time was. */
const altered = (value, { start, end = 0, drop = 0, put = "", to }) => {
  const at = start ?? Math.max(0, value.length - end);
  if (to === "upper case" || to === "lower case") {
    const all = to === "upper case" ? value.toUpperCase() : value.toLowerCase();
    if (all !== value) return all;
    throw new CannotRun("the value that the service gave this time is in " + to + " already");
  }
  if (to === "other case") {
    const here = placeFrom(value, at, (one) => caseSwapped(value[one]) !== value[one]);
    return value.slice(0, here) + caseSwapped(value[here]) + value.slice(here + 1);
  }
  if (to === "exchanged") {
    const here = placeFrom(value, at, (one) => one + 1 < value.length && value[one] !== value[one + 1]);
    return value.slice(0, here) + value[here + 1] + value[here] + value.slice(here + 2);
  }
  const instead = drop === put.length && value.slice(at, at + drop) === put ? (put === "x" ? "y" : "x") : put;
  return value.slice(0, at) + instead + value.slice(at + drop);
};

const valueOf = (name, known) => known.get(name) ?? process.env[name];

/** The value of NEARLY_CODE_3, from that of CODE_3. */
const nearlyOf = (name, known, near) => {
  const [, how, exact] = /^(NEARLY|ENCODED)_(.+)$/.exec(name) ?? [];
  if (how === undefined) return undefined;
  if (how === "ENCODED") throw new CannotRun("a request held an encoded form of " + exact + ", and the record does not tell which; touchstone replay makes it again");
  if (near?.[name] === undefined) throw new CannotRun("a request held nearly the value " + exact + ", and the record does not tell how it differed; touchstone replay makes it again");
  const value = valueOf(exact, known);
  return value === undefined ? undefined : altered(value, near[name]);
};

const asIs = (value) => value;
const inJson = (value) => JSON.stringify(value).slice(1, -1);

const filled = (text, known, near, written = asIs) =>
  text.replaceAll(/\{\{([A-Z_]+_\d+)\}\}/g, (_, name) => {
    const value = valueOf(name, known) ?? nearlyOf(name, known, near);
    if (value === undefined) throw new CannotRun("set the environment variable " + name + ownerOf(name));
    if (!name.startsWith("NEARLY")) known.set(name, value);
    return written(value);
  });

const kindOfLabel = (name) => name.replace(/_\d+$/, "");

/** Keeps the live value of a label. Equal labels are equal values, and others are not: where that changed, it is noted. */
const keep = (name, value, known, clashes) => {
  if (/^(NEARLY|ENCODED)_/.test(name) || value === "") return;
  const before = known.get(name);
  if (before !== undefined && before !== value) clashes.push({ name, wasEqual: true });
  for (const [other, one] of known)
    if (one === value && other !== name && kindOfLabel(other) === kindOfLabel(name)) clashes.push({ name, other, wasEqual: false });
  known.set(name, value);
};

/** Keeps the live value wherever the earlier answer had a credential. */
const learn = (before, now, known, clashes) => {
  const name = typeof before === "string" ? /^\{\{([A-Z_]+_\d+)\}\}$/.exec(before)?.[1] : undefined;
  if (name !== undefined && typeof now === "string") keep(name, now, known, clashes);
  else if (typeof before === "string" && typeof now === "string" && before.includes("{{")) {
    const names = [...before.matchAll(/\{\{(.+?)\}\}/g)].map(([, one]) => one);
    const escaped = before.split(/\{\{.+?\}\}/).map((part) => part.replaceAll(/[.*+?^$\{}()|[\]\\]/g, "\\$&"));
    const found = new RegExp("^" + escaped.join("(.+?)") + "$").exec(now) ?? [];
    for (const [at, one] of names.entries()) if (found[at + 1] !== undefined) keep(one, found[at + 1], known, clashes);
  } else if (before !== null && now !== null && typeof before === "object" && typeof now === "object")
    for (const key of Object.keys(before)) learn(before[key], now[key], known, clashes);
};

const decoded = (text) => {
  try {
    return decodeURIComponent(text.replaceAll("+", " "));
  } catch {
    return text;
  }
};

/** Credentials in the query or fragment of a redirect, whatever else is in it. */
const learnFromAddress = (before, now, known, clashes) => {
  for (const [, key, name] of before.matchAll(/[?&#]([^=&#]+)=\{\{([A-Z_]+_\d+)\}\}/g)) {
    const found = now.split(/[?&#]/).find((part) => part.startsWith(key + "="));
    if (found !== undefined) keep(name, decoded(found.slice(key.length + 1)), known, clashes);
  }
};

/** Learns from a whole answer; returns where equal values became different, or different ones equal. */
const learnFrom = (step, answer, known) => {
  const clashes = [];
  learn(parsed(step.text), parsed(answer.text), known, clashes);
  for (const [name, value] of step.answerHeaders) {
    const now = answer.headers[name.toLowerCase()];
    if (now === undefined || !value.includes("{{")) continue;
    if (name.toLowerCase() === "location") learnFromAddress(value, String(now), known, clashes);
    else for (const one of [now].flat()) learn(value, one, known, clashes);
  }
  return clashes;
};

/** A live answer with its credentials as labels, so that it can be compared. */
const masked = (value, known) => {
  let text = value;
  for (const [name, secret] of [...known].sort(([, a], [, b]) => b.length - a.length))
    if (secret.length > 3) for (const form of new Set([secret, encodeURIComponent(secret)])) text = text.replaceAll(form, "{{" + name + "}}");
  return text;
};
`;
