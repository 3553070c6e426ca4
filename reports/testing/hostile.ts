import { unsafe } from "../../conformance/contract/harmless-text.ts";

/** Characters that act on a terminal, are invisible or reorder text, of each kind; and half a surrogate pair. */
export const acting = "a\u001b[2J\rb\u202ec\u200bd\u0000\u009be\ud800f\u{e0041}g\u2028h\u3164i\u034fj\ufe0f";

/** Answers of a malicious service: markup, escapes, bidirectional marks, broken text, commands of CI services. */
export const hostile = [
  `</script><script>document.title="taken"</script>`,
  `<img src=x onerror="document.title='taken'">`,
  `"><style>*{display:none}</style>`,
  acting,
  "\u001b]8;;https://evil.example\u0007link",
  "\u202etxt.exe\u2066",
  "a\u0000b\u0007c",
  "half \ud800 a pair, and \udfff the other",
  "]]>&amp;<!--",
  "$& $1 $` `code` **bold** [link](javascript:alert(1)) @someone #1 | cell",
  "::error::faked\n##vso[task.complete result=Succeeded]\n##teamcity[x]",
].join(" ");

/** Characters that affect whatever displays them; of these, what is shown may only contain line ends. */
export const unsafeCharacters = new RegExp(`(?!\n)${unsafe.source}`, "u");

/** What a CI service takes for a command in the output of a program. */
export const ciCommand = /^\s*::.*::|##(?:\[|vso\[|teamcity\[)/im;
