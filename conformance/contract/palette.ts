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
 * The colours of reports and of the receiver's page. Colour always has a meaning, and never carries it alone: each mark
 * also has a symbol. The colours are distinguishable with every common kind of colour blindness, and text has a contrast
 * of at least 4.5:1 in both themes. Paper is light.
 */
export const palette = `:root { ${light} }
@media screen and (prefers-color-scheme: dark) { :root:not([data-theme="light"]) { ${dark} } }
@media screen { :root[data-theme="dark"] { ${dark} } }
`;
