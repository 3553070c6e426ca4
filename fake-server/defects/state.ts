import type { IncomingMessage } from "node:http";
import { type Defect, defect } from "../registry.ts";
import type { Behaviour } from "../behaviour.ts";
import { parseQuery } from "../query.ts";

/** The state written back by `written` instead of as it came. */
const echoing =
  (written: (state: string) => unknown) =>
  (sound: Behaviour): Pick<Behaviour, "authorizeFields"> => ({
    authorizeFields: (record, timestamp, context) => ({
      ...sound.authorizeFields(record, timestamp, context),
      state: written(record.state),
    }),
  });

/** The state examined in a form that `seen` makes of it. */
const examining =
  (seen: (state: string) => string) =>
  (sound: Behaviour): Pick<Behaviour, "acceptsState"> => ({
    acceptsState: (state, query, context) =>
      state !== undefined && sound.acceptsState(seen(state), query, context),
  });

/** Characters that match `pattern` allowed beside the documented ones. */
const allowing = (pattern: RegExp): ReturnType<typeof examining> =>
  examining((state) => state.replaceAll(pattern, "x"));

/** States of at most so many characters accepted. */
const upTo = (characters: number) => (): Pick<Behaviour, "acceptsState"> => ({
  acceptsState: (state) => state !== undefined && state.length <= characters && /^[a-zA-Z0-9]+$/.test(state),
});

const REPAIRABLE = /%(?![0-7][0-9a-f])[^&]{0,2}/gi;

/** The state of sections 2.1, 4.1 and 8 gone wrong. */
export const stateDefects = {
  "state-in-lower-case": defect(
    "The state comes back in lower case.",
    ["authorize.echoes-state"],
    echoing((state) => state.toLowerCase()),
  ),
  "state-as-number": defect(
    "A state of digits comes back as a JSON number.",
    ["authorize.echoes-state"],
    echoing((state) => (/^\d+$/.test(state) ? Number(state) : state)),
  ),
  "state-without-leading-zeros": defect(
    "Leading zeros of a state of digits get lost.",
    ["authorize.echoes-state"],
    echoing((state) => (/^\d+$/.test(state) ? state.replace(/^0+(?=\d)/, "") : state)),
  ),
  "state-as-literal": defect(
    "The states true, false and null come back as JSON literals.",
    ["authorize.echoes-state"],
    echoing((state) => (/^(?:true|false|null)$/.test(state) ? (JSON.parse(state) as unknown) : state)),
  ),
  "state-loses-last-byte": defect(
    "A state of 128 bytes comes back with 127.",
    ["authorize.echoes-state"],
    echoing((state) => state.slice(0, 127)),
  ),
  "state-cut-at-64": defect(
    "A column of 64 characters cuts longer states.",
    ["authorize.echoes-state"],
    echoing((state) => state.slice(0, 64)),
  ),
  "state-of-property-name-refused": defect(
    "States are looked up in a plain object, so names like constructor seem taken.",
    ["authorize.echoes-state"],
    (sound) => ({
      acceptsState: (state, query, context) =>
        sound.acceptsState(state, query, context) && !(String(state) in {}),
    }),
  ),
  "state-of-eight-at-least": defect(
    "States of fewer than eight characters are refused.",
    ["authorize.echoes-state"],
    (sound) => ({
      acceptsState: (state, query, context) =>
        sound.acceptsState(state, query, context) && (state ?? "").length >= 8,
    }),
  ),
  "state-beginning-with-digit-refused": defect(
    "A state has to begin with a letter.",
    ["authorize.echoes-state"],
    (sound) => ({
      acceptsState: (state, query, context) =>
        sound.acceptsState(state, query, context) && !/^\d/.test(state ?? ""),
    }),
  ),
  "state-of-first-spelling": defect(
    "A cache that ignores case answers with the spelling that was seen first.",
    ["authorize.echoes-state"],
    () => {
      const spellings = new Map<string, string>();
      return {
        authorizeFields: ({ state, code }, timestamp) => {
          const folded = state.toLowerCase();
          const spelling = spellings.get(folded) ?? state;
          spellings.set(folded, spelling);
          return { timestamp, state: spelling, code };
        },
      };
    },
  ),

  "state-with-dash-and-underscore": defect(
    "The state may hold - and _ as well.",
    ["authorize.state-charset"],
    allowing(/[-_]/g),
  ),
  "state-with-dot": defect("The state may hold dots.", ["authorize.state-charset"], allowing(/\./g)),
  "state-with-space": defect("The state may hold spaces.", ["authorize.state-charset"], allowing(/ /g)),
  "state-with-any-letter": defect(
    "The state may hold letters and digits of every script.",
    ["authorize.state-charset"],
    allowing(/[\p{L}\p{N}]/gu),
  ),
  "state-with-latin-letters": defect(
    "The state may hold accented Latin letters.",
    ["authorize.state-charset"],
    allowing(/[À-ÖØ-öø-ÿ]/g),
  ),
  "state-with-control-characters": defect(
    "Control characters in the state are overlooked.",
    ["authorize.state-charset"],
    allowing(/(?!\0)\p{Cc}/gu),
  ),
  "state-with-last-line-feed": defect(
    "The pattern's end also matches before a last line feed.",
    ["authorize.state-charset"],
    examining((state) => state.replace(/\n$/, "")),
  ),
  "state-trimmed": defect(
    "White space around the state is cut off before it is examined.",
    ["authorize.state-charset"],
    examining((state) => state.trim()),
  ),
  "state-read-to-nul": defect(
    "The state is examined up to its first NUL.",
    ["authorize.state-charset"],
    examining((state) => state.replace(/(?<=.)\0.*$/s, "")),
  ),
  "state-examined-at-its-start-only": defect(
    "The pattern is not anchored at the end of the state.",
    ["authorize.state-charset"],
    examining((state) => /^[a-zA-Z0-9]+/.exec(state)?.[0] ?? ""),
  ),
  "state-examined-at-its-end-only": defect(
    "The pattern is not anchored at the start of the state.",
    ["authorize.state-charset"],
    examining((state) => /[a-zA-Z0-9]+$/.exec(state)?.[0] ?? ""),
  ),
  "state-with-list-of-bad-characters": defect(
    "Only the characters of markup are refused in a state.",
    ["authorize.state-charset"],
    allowing(/[^<>"'&]/gs),
  ),
  "state-decoded-twice": defect(
    "The state is decoded a second time before it is examined.",
    ["authorize.state-charset"],
    examining((state) => state.replaceAll(/%[0-7][0-9a-f]/gi, decodeURIComponent)),
  ),
  "state-with-wide-forms-folded": defect(
    "Compatibility forms, such as full-width digits, are folded before the state is examined.",
    ["authorize.state-charset"],
    examining((state) => state.normalize("NFKC")),
  ),
  "state-with-malformed-encoding": defect(
    "Percent-encoding that is no UTF-8 is dropped from the query instead of refused.",
    ["authorize.state-charset"],
    () => ({ readQuery: (raw) => parseQuery(raw) ?? parseQuery(raw.replaceAll(REPAIRABLE, "")) }),
  ),
  "state-refused-with-code": defect(
    "A bad state is answered with status 400, and a code that works.",
    ["authorize.state-charset", "authorize.state-length"],
    (sound) => {
      const refused = new WeakSet<IncomingMessage>();
      return {
        acceptsState: (state, query, context) => {
          if (!sound.acceptsState(state, query, context)) refused.add(context.from);
          return state !== undefined;
        },
        renderAuthorized: (fields, redirectUri, context) => {
          const answer = sound.renderAuthorized(fields, redirectUri, context);
          return refused.has(context.from) ? { ...answer, status: 400 } : answer;
        },
      };
    },
  ),

  "state-of-127-at-most": defect("A state of 128 bytes is refused.", ["authorize.state-length"], upTo(127)),
  "state-of-129-at-most": defect("A state of 129 bytes is accepted.", ["authorize.state-length"], upTo(129)),
  "state-of-255-at-most": defect("States may have 255 bytes.", ["authorize.state-length"], upTo(255)),
  "state-of-64-at-most": defect(
    "States of more than 64 bytes are refused.",
    ["authorize.state-length", "authorize.echoes-state"],
    upTo(64),
  ),
  "state-of-any-length": defect(
    "States have no greatest length.",
    ["authorize.state-length"],
    upTo(Infinity),
  ),
  "state-too-long-cut": defect(
    "A state that is too long is cut to 128 bytes and accepted.",
    ["authorize.state-length"],
    examining((state) => state.slice(0, 128)),
  ),
} satisfies Record<string, Defect>;
