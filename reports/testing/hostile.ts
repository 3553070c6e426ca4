/** Answers of a malicious service: markup, escapes, bidirectional marks, broken text. */
export const hostile = [
  `</script><script>document.title="taken"</script>`,
  `<img src=x onerror="document.title='taken'">`,
  `"><style>*{display:none}</style>`,
  "\u001b[2J\u001b]8;;https://evil.example\u0007link",
  "\u202etxt.exe\u2066",
  "inv\u3164isi\u034fble\ufe0f",
  "a\u0000b\u0007c",
  "half \ud800 a pair, and \udfff the other",
  "]]>&amp;<!--",
  "$& $1 $` `code` **bold** [link](javascript:alert(1)) @someone #1 | cell",
  "::error::faked\n##vso[task.complete result=Succeeded]\n##teamcity[x]",
].join(" ");

/** Characters that affect whatever displays them; of these, a report may only contain line ends. */
export const unsafeCharacters =
  // eslint-disable-next-line no-control-regex -- control characters are what it is about
  /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u200b-\u200f\u202a-\u202e\u2066-\u2069\p{Cs}\p{DI}]/u;
