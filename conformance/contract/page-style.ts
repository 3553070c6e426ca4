const light = `color-scheme: light;
--ground: #f7f8fa; --surface: #ffffff; --raised: #f3f5f7; --line: #dde3e9; --hair: #e9edf1;
--ink: #17222d; --soft: #53616d; --accent: #1f5f99; --accent-soft: #e3eef8;
--good: #14744a; --good-soft: #d9f0e4; --bad: #b3261e; --bad-soft: #fbe4e1;
--warn: #7a5200; --warn-soft: #fbf0d5; --seen: #1f5f99; --seen-soft: #e3eef8;
--ended: #8a97a3; --on-mark: #ffffff;`;
const dark = `color-scheme: dark;
--ground: #10161c; --surface: #161e26; --raised: #1c2630; --line: #2c3843; --hair: #222d37;
--ink: #e4eaf0; --soft: #9dabb8; --accent: #7fbcf0; --accent-soft: #1d3345;
--good: #63d39b; --good-soft: #153527; --bad: #ff8d83; --bad-soft: #43201e;
--warn: #ecc262; --warn-soft: #3a2f16; --seen: #7fbcf0; --seen-soft: #1d3345;
--ended: #6d7a86; --on-mark: #10161c;`;

/**
 * What reports and the receiver's page share: colours, type and controls. Colour always has a meaning, and never carries
 * it alone: each mark also has a symbol. The colours are distinguishable with every common kind of colour blindness, and
 * text has a contrast of at least 4.5:1 in both themes. Paper is light.
 */
export const pageStyle = `:root { ${light} }
@media screen and (prefers-color-scheme: dark) { :root:not([data-theme="light"]) { ${dark} } }
@media screen { :root[data-theme="dark"] { ${dark} } }
* { box-sizing: border-box; }
[hidden] { display: none !important; }
html { scroll-padding-top: 20px; }
body { margin: 0; background: var(--ground); color: var(--ink); font: 15px/1.55 system-ui, "Segoe UI", "Open Sans", sans-serif; font-variant-numeric: tabular-nums; }
code, pre, .id, .nth { font-family: ui-monospace, "SF Mono", "Cascadia Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace; font-size: 0.875em; }
code, pre, dd, .id, td, .sentence { unicode-bidi: isolate; }
code, .wrap, dd, td { overflow-wrap: anywhere; }
/* Words that may break anywhere make a column as narrow as one letter. */
td:not(.number) { min-width: 9ch; }
a { color: var(--accent); text-underline-offset: 0.15em; text-decoration-thickness: 1px; }
a:hover { text-decoration-thickness: 2px; }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; border-radius: 3px; }
h1, h2, h3, h4, p, ul, ol, dl, dd, figure, table { margin: 0; padding: 0; }
h1 { font-size: clamp(26px, 4vw, 38px); line-height: 1.15; letter-spacing: -0.022em; font-weight: 640; text-wrap: balance; }
h2 { font-size: 23px; line-height: 1.25; letter-spacing: -0.015em; font-weight: 620; margin-bottom: 18px; }
h3 { font-size: 16px; font-weight: 620; margin: 34px 0 8px; }
h4 { font-size: 13px; font-weight: 600; color: var(--soft); margin: 14px 0 6px; }
.soft { color: var(--soft); }
.heard { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
.skip { position: absolute; left: -999px; }
.skip:focus { left: 12px; top: 12px; z-index: 2; padding: 8px 14px; background: var(--surface); }
button, input, select { font: inherit; font-size: 14px; color: inherit; background: var(--surface); border: 1px solid var(--line); border-radius: 7px; height: 32px; padding: 0 11px; }
button { cursor: pointer; white-space: nowrap; }
button:hover { background: var(--accent-soft); }
button[aria-pressed="true"] { background: var(--accent-soft); border-color: var(--accent); }
pre { background: var(--raised); border-radius: 6px; padding: 11px 13px; max-height: 420px; overflow: auto; white-space: pre-wrap; overflow-wrap: anywhere; line-height: 1.5; }
input::placeholder { color: var(--soft); opacity: 1; }
`;
