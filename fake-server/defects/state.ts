import type { IncomingMessage } from "node:http";
import { remembered } from "../changes.ts";
import { parseQuery } from "../requests.ts";
import { alsoIf, change, given, keeping, onlyIf, type Replacement, rows } from "../registry.ts";

const echoing = (written: (state: string) => unknown): Replacement =>
  change("authorizeFields", (fields, { state }) => ({ ...fields, state: written(state) }));

/** Validates the state in the form returned by `seen`. */
const examining = (seen: (state: string) => string): Replacement =>
  given("acceptsState", (state, ...more) => [state === undefined ? state : seen(state), ...more]);

/** Allows characters that match `pattern` in addition to the documented ones. */
const allowing = (pattern: RegExp): Replacement => examining((state) => state.replaceAll(pattern, "x"));

const accepting = (accepts: (state: string) => boolean): Replacement => ({
  acceptsState: (state) => state !== undefined && accepts(state),
});

const upTo = (characters: number): Replacement =>
  accepting((state) => state.length <= characters && /^[a-zA-Z0-9]+$/.test(state));

const REPAIRABLE = /%(?![0-7][0-9a-f])[^&]{0,2}/gi;

/** Defects in the state (sections 2.1, 4.1 and 8). */
export const stateDefects = rows({
  "authorize.echoes-state": {
    "state-in-lower-case: The state comes back in lower case.": echoing((state) => state.toLowerCase()),
    "state-as-number: A state of digits comes back as a JSON number.": echoing((state) =>
      /^\d+$/.test(state) ? Number(state) : state,
    ),
    "state-without-leading-zeros: A state of digits loses its leading zeros.": echoing((state) =>
      /^\d+$/.test(state) ? state.replace(/^0+(?=\d)/, "") : state,
    ),
    "state-as-literal: The states true, false and null come back as JSON literals.": echoing((state) =>
      /^(?:true|false|null)$/.test(state) ? (JSON.parse(state) as unknown) : state,
    ),
    "state-of-uuid-in-lower-case: A state of 32 hexadecimal digits comes back in lower case, as from a column of UUIDs.":
      echoing((state) => (/^[\da-f]{32}$/i.test(state) ? state.toLowerCase() : state)),
    "state-loses-last-byte: The 128th byte of a state is dropped.": echoing((state) => state.slice(0, 127)),
    "state-cut-at-64: States are cut to 64 characters.": echoing((state) => state.slice(0, 64)),
    "state-of-property-name-refused: States are looked up in a plain object, so the state constructor seems to be taken.":
      onlyIf("acceptsState", (state) => !(String(state) in {})),
    "state-with-word-of-attacks-refused: A filter against attacks refuses a state that contains script or select.":
      onlyIf("acceptsState", (state) => !/script|select/i.test(state ?? "")),
    "state-of-eight-at-least: States of fewer than eight characters are refused.": onlyIf(
      "acceptsState",
      (state) => (state ?? "").length >= 8,
    ),
    "state-beginning-with-digit-refused: A state that begins with a digit is refused.": onlyIf(
      "acceptsState",
      (state) => !/^\d/.test(state ?? ""),
    ),
    "state-of-first-spelling: A case-insensitive cache echoes the first spelling seen.": keeping(
      (spellings = new Map<string, string>()) =>
        echoing((state) => remembered(spellings, state.toLowerCase(), () => state)),
    ),
    "state-of-request-before: The previous request's state is echoed.": keeping((last?: string) =>
      echoing((state) => {
        const before = last ?? state;
        last = state;
        return before;
      }),
    ),
    "state-read-as-number: A state of digits is read as a number and written back as text.": echoing(
      (state) => (/^\d+$/.test(state) ? String(Number(state)) : state),
    ),
  },
  "authorize.state-charset": {
    "state-with-dash-and-underscore: The state may hold - and _ as well.": allowing(/[-_]/g),
    "state-with-dot: The state may hold dots.": allowing(/\./g),
    "state-with-space: The state may hold spaces.": allowing(/ /g),
    "state-with-any-letter: Letters and digits of every script are accepted.": allowing(/[\p{L}\p{N}]/gu),
    "state-with-latin-letters: The state may hold accented Latin letters.": allowing(/[À-ÖØ-öø-ÿ]/g),
    "state-with-control-characters: Control characters in a state are accepted.": allowing(/(?!\0)\p{Cc}/gu),
    "state-with-last-line-feed: The end of the pattern also matches before a final line feed.": examining(
      (state) => state.replace(/\n$/, ""),
    ),
    "state-trimmed: The state is trimmed before it is checked.": examining((state) => state.trim()),
    "state-read-to-nul: The state is checked only up to its first NUL.": examining((state) =>
      state.replace(/(?<=.)\0.*$/s, ""),
    ),
    "state-examined-at-its-start-only: The pattern is not anchored at the end of the state.": examining(
      (state) => /^[a-zA-Z0-9]+/.exec(state)?.[0] ?? "",
    ),
    "state-examined-at-its-end-only: The pattern is not anchored at the start of the state.": examining(
      (state) => /[a-zA-Z0-9]+$/.exec(state)?.[0] ?? "",
    ),
    "state-with-list-of-bad-characters: Only markup characters are refused.": allowing(/[^<>"'&]/gs),
    "state-decoded-twice: The state is decoded a second time before it is checked.": examining((state) =>
      state.replaceAll(/%[0-7][0-9a-f]/gi, decodeURIComponent),
    ),
    "state-with-wide-forms-folded: Compatibility forms, such as full-width digits, are normalized before the check.":
      examining((state) => state.normalize("NFKC")),
    "state-with-malformed-encoding: Invalid UTF-8 in percent-encoding is dropped instead of refused.": {
      readQuery: (raw) => parseQuery(raw) ?? parseQuery(raw.replaceAll(REPAIRABLE, "")),
    },
    "state-with-case-folding: A case-insensitive pattern accepts characters that fold to letters.": accepting(
      (state) => state.length < 129 && /^[a-z0-9]+$/iu.test(state),
    ),
    "state-examined-for-100-characters: Only the first hundred characters of a state are checked.": accepting(
      (state) => state.length < 129 && /^[a-zA-Z0-9]+$/.test(state.slice(0, 100)),
    ),
    "state-examined-line-by-line: The state is checked line by line, and one matching line is enough.":
      accepting((state) => state.length < 129 && /^[a-zA-Z0-9]+$/m.test(state)),
  },
  "authorize.state-charset authorize.state-length": {
    "state-refused-with-code: A bad state is answered with status 400 and a working code.": (
      sound,
      refused = new WeakSet<IncomingMessage>(),
    ) => ({
      acceptsState: (state, query, context) => {
        if (!sound.acceptsState(state, query, context)) refused.add(context.from);
        return state !== undefined;
      },
      renderAuthorized: (fields, redirectUri, context) => {
        const answer = sound.renderAuthorized(fields, redirectUri, context);
        return refused.has(context.from) ? { ...answer, status: 400 } : answer;
      },
    }),
  },
  "authorize.state-length": {
    "state-of-127-at-most: A state of 128 bytes is refused.": upTo(127),
    "state-of-129-at-most: A state of 129 bytes is accepted.": upTo(129),
    "state-of-255-at-most: States may have 255 bytes.": upTo(255),
    "state-of-256-digits-at-most: A state of digits alone may have 256 bytes.": alsoIf(
      "acceptsState",
      (state) => /^\d{1,256}$/.test(state ?? ""),
    ),
    "state-of-one-letter-of-256-at-most: A state that repeats one letter may have 256 bytes.": alsoIf(
      "acceptsState",
      (state) => /^([a-z])\1{0,255}$/i.test(state ?? ""),
    ),
    "state-of-any-length: States have no maximum length.": upTo(Infinity),
    "state-known-by-its-beginning: A state is accepted if one with the same first 128 characters was accepted before.":
      keeping((known = new Set<string>()) =>
        change("acceptsState", (accepted, state) => {
          if (accepted && state !== undefined) known.add(state);
          return accepted || known.has(state?.slice(0, 128) ?? "");
        }),
      ),
    "state-too-long-cut: A state that is too long is truncated to 128 bytes and accepted.": examining(
      (state) => state.slice(0, 128),
    ),
    "state-of-two-at-least: A state of one byte is refused.": accepting((state) =>
      /^[a-zA-Z0-9]{2,128}$/.test(state),
    ),
    "state-length-in-one-byte: The length of a state is stored in one byte.": accepting(
      (state) => /^[a-zA-Z0-9]+$/.test(state) && state.length % 256 <= 128,
    ),
  },
  "authorize.state-length authorize.echoes-state": {
    "state-of-64-at-most: States of more than 64 bytes are refused.": upTo(64),
  },
});
