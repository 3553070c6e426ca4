/** The part of the script that compares a live answer with the recorded one. */
export const comparison = String.raw`
const parsed = (text) => {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
};

const withoutNumbers = (text) => text.replaceAll(/\{\{([A-Z_]+?)_\d+\}\}/g, "{{$1}}").replaceAll(/\b\d{12,14}\b/g, "moment");

/** Whether it looks like a credential under a name that is not known to hold one. */
const looksDrawn = (value) =>
  /^[0-9a-f]{24,}$/i.test(value) || (/^[\w.-]{20,}$/.test(value) && [/\d/, /[a-z]/, /[A-Z]/].every((kind) => kind.test(value)));

const kindOfText = (value, isDeep) => {
  if (/^\{\{[A-Z_]+_\d+\}\}$/.test(value)) return "credential";
  if (/^\d{4}-\d\d-\d\dT/.test(value)) return "moment";
  if (/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(value)) return "uuid";
  if (looksDrawn(value)) return "drawn";
  return isDeep ? "text" : withoutNumbers(value);
};

/** What is compared of an answer: of values that differ each time, only their kind. */
const kindOf = (value, isDeep = false) => {
  if (Array.isArray(value)) return { items: value.length, each: [...new Set(value.map((one) => JSON.stringify(kindOf(one, true))))].sort() };
  if (value !== null && typeof value === "object")
    return Object.fromEntries(Object.keys(value).sort().map((key) => [key, kindOf(value[key], isDeep)]));
  // From seconds to nanoseconds since 1970: the unit is compared, the moment is another one each time.
  if (typeof value === "number") return value >= 1e9 ? "moment of " + String(Math.trunc(value)).length + " digits" : isDeep ? "number" : value;
  return typeof value === "string" ? kindOfText(value, isDeep) : value;
};

const isPage = (value) => value !== null && typeof value === "object" && Array.isArray(value.data);

/** The record keeps the beginning of a long answer only. */
const isCut = ({ text }) => /… \(\d+ characters in all\)$/.test(text);

const idsIn = (one) => {
  if (isCut(one)) return [...one.text.matchAll(/"id":\s*"([^"]*)"/g)].map(([, id]) => id);
  const body = parsed(one.text);
  return isPage(body) ? body.data.map((item) => item?.id) : [];
};

/** Which notifications a service holds does not matter, unless the breach is about lists. */
const bodyOf = (text, withItems) => {
  const body = parsed(text);
  if (withItems) return kindOf(body);
  if (isPage(body)) return { page: Object.keys(body).sort() };
  // A list that is none otherwise.
  return kindOf(typeof body?.total === "number" ? { ...body, total: "number" } : body);
};

const shapeOf = ({ status, headers, text, end }, { withItems, withBodies }) =>
  JSON.stringify({
    ...(status === 0 ? { "no answer": end } : { status }),
    headers: Object.fromEntries(headers.filter(([name]) => told.has(name.toLowerCase())).map(([name, value]) => [name.toLowerCase(), kindOf(String(value))]).sort()),
    ...(withBodies && { body: bodyOf(text, withItems) }),
  });

const difference = (then, live, withItems) => {
  const what = { withItems, withBodies: !then.some(isCut) };
  const before = then.map((one) => shapeOf(one, what)).sort();
  const now = live.map((one) => shapeOf(one, what)).sort();
  const other = now.find((shape, at) => shape !== before[at]);
  return other === undefined ? undefined : { before: before.find((shape) => !now.includes(shape)) ?? before[0], now: other };
};
`;
