import { pageStyle } from "../../conformance/contract/page-style.ts";
import { pictures } from "./style-pictures.ts";

const frame = `
.rule-group > h3 .soft { font-weight: 400; font-size: 14px; margin-left: 6px; }
.note { padding: 10px 14px; border-left: 3px solid var(--warn); background: var(--warn-soft); border-radius: 3px; margin: 14px 0; }
.masthead { display: flex; align-items: center; justify-content: space-between; max-width: 1240px; margin: 0 auto; padding: 18px 32px 0; min-height: 50px; }
.wordmark { display: inline-flex; align-items: center; gap: 10px; font-weight: 620; letter-spacing: -0.01em; }
.stone { fill: var(--ink); }
.streak { stroke: #d9a520; stroke-width: 2.6; stroke-linecap: round; fill: none; }
.page { display: grid; grid-template-columns: 190px minmax(0, 1fr); gap: 0 56px; max-width: 1240px; margin: 0 auto; padding: 0 32px 80px; }
.contents { position: sticky; top: 0; align-self: start; max-height: 100vh; overflow: auto; padding: 44px 4px 24px; font-size: 14px; }
.contents ul { list-style: none; margin-bottom: 6px; }
.contents a { display: block; padding: 4px 0; color: var(--soft); text-decoration: none; }
.contents a:hover { color: var(--ink); text-decoration: underline; }
.contents .chapter { margin-top: 16px; color: var(--ink); font-weight: 620; }
main { min-width: 0; }
main section { margin-top: 68px; }
main section section { margin-top: 0; }
.overview { margin-top: 36px !important; }
.answer { display: grid; grid-template-columns: auto 1fr; gap: 20px; align-items: start; }
.answer > .mark { width: 46px; height: 46px; font-size: 24px; margin-top: 1px; }
.detail { margin-top: 10px; font-size: 16px; color: var(--soft); max-width: 68ch; }
.answers { list-style: none; margin: 26px 0 0; display: grid; gap: 14px; padding-left: 66px; }
.answers li { display: grid; grid-template-columns: auto 1fr; gap: 12px; }
.answers .mark { margin-top: 1px; }
.about-run { margin-top: 30px !important; }
.facts { display: grid; grid-template-columns: repeat(auto-fit, minmax(185px, 1fr)); gap: 18px 28px; padding-top: 22px; border-top: 1px solid var(--line); }
.facts dt { font-size: 13px; color: var(--soft); }
.callout { border: 1px solid var(--warn); background: var(--warn-soft); border-radius: 10px; padding: 18px 22px; margin-bottom: 34px; }
.callout h2 { font-size: 17px; margin-bottom: 8px; }
.chapter-head { display: flex; align-items: center; gap: 12px; margin-top: 84px; padding-top: 26px; border-top: 2px solid var(--ink); }
.chapter-head h2 { margin: 0; }
.chapter-head h2 .soft { font-weight: 400; }
.chapter-head .mark { width: 28px; height: 28px; }
.chapter-head + section { margin-top: 36px; }
footer { margin-top: 80px; padding-top: 18px; border-top: 1px solid var(--line); font-size: 13px; overflow-wrap: anywhere; }
.mark { display: inline-grid; place-items: center; flex: none; width: 22px; height: 22px; border-radius: 50%; font-size: 13px; font-weight: 700; position: relative; }
.icon { width: 100%; height: 100%; display: block; }
.mark.good { background: var(--good); color: var(--on-mark); }
.mark.bad { background: var(--bad); color: var(--on-mark); border-radius: 5px; }
.mark.warn { background: var(--warn-soft); color: var(--warn); box-shadow: inset 0 0 0 1.5px var(--warn); }
.mark.open { background: transparent; color: var(--warn); box-shadow: inset 0 0 0 1.5px var(--warn); }
.mark.seen { background: var(--seen-soft); color: var(--seen); }
.mark.none { background: var(--raised); color: var(--soft); }
.with-mark { display: inline-flex; align-items: center; gap: 9px; }
.word { white-space: nowrap; }
`;

const rules = `
.breach { background: var(--surface); border: 1px solid var(--line); border-radius: 10px; padding: 20px 24px; margin-bottom: 18px; }
.breach.failed { border-left: 4px solid var(--bad); }
.breach.warned { border-left: 4px solid var(--warn); }
.breach > header { display: flex; align-items: center; flex-wrap: wrap; gap: 6px 12px; }
.breach > header h3 { margin: 0; font-size: 17px; overflow-wrap: anywhere; }
.breach h3 a { color: inherit; }
.promise { font-size: 17px; line-height: 1.45; margin: 10px 0 14px; max-width: 70ch; }
.later { margin-bottom: 18px; }
.later > summary { cursor: pointer; color: var(--soft); padding: 2px 0 10px; }
.about > div { display: grid; grid-template-columns: 150px minmax(0, 1fr); gap: 0 18px; padding: 5px 0; }
.about dt { color: var(--soft); }
.about dd { max-width: 78ch; white-space: pre-line; }
.plain { list-style: none; }
.plain li { padding: 1px 0; overflow-wrap: anywhere; }
.map { display: flex; flex-wrap: wrap; gap: 14px 26px; padding: 4px 0 26px; }
.map > div > span { font-size: 13px; display: block; margin-bottom: 5px; }
.map ul { list-style: none; display: flex; flex-wrap: wrap; gap: 4px; }
.cell { display: block; text-decoration: none; border-radius: 50%; }
.cell:hover { outline: 2px solid var(--ink); outline-offset: 1px; }
.cell.good .mark { background: var(--good-soft); color: var(--good); }
.cell .mark { display: grid; }
.filters { display: flex; flex-wrap: wrap; gap: 8px; align-items: center; padding: 12px 0; position: sticky; top: 0; z-index: 1; background: var(--ground); border-bottom: 1px solid var(--line); }
.filters .find { width: 190px; }
.kind { display: inline-flex; align-items: center; gap: 7px; }
.kind .mark { width: 18px; height: 18px; font-size: 11px; }
.rule { border-top: 1px solid var(--hair); scroll-margin-top: 70px; }
.rule:last-child { border-bottom: 1px solid var(--hair); }
.rule > summary { display: grid; grid-template-columns: 22px 230px minmax(0, 1fr) 92px; gap: 2px 14px; padding: 9px 8px; cursor: pointer; list-style: none; border-radius: 6px; align-items: baseline; }
.rule > summary::-webkit-details-marker { display: none; }
.rule > summary:hover { background: var(--raised); }
.rule > summary .mark { align-self: start; margin-top: 1px; }
.rule .id { font-weight: 500; font-size: 13px; overflow-wrap: anywhere; }
.rule .cases { text-align: right; font-size: 13px; }
.rule[open] > summary { background: var(--raised); }
.rule-body { padding: 14px 8px 28px 44px; }
.command { display: flex; align-items: center; gap: 10px; background: var(--raised); border: 1px solid var(--line); border-radius: 7px; padding: 6px 6px 6px 12px; min-height: 40px; }
.command code { flex: 1; min-width: 0; }
.exchanges + .command, .facts + .command, .about + .command { margin-top: 14px; }
.command button { height: 28px; }
.exchange > .command { margin: 0 12px 14px; }
.exchanges { list-style: none; margin-top: 8px; border: 1px solid var(--line); border-radius: 8px; overflow: hidden; background: var(--surface); }
.exchanges + p { margin-top: 8px; font-size: 14px; }
.exchanges li + li { border-top: 1px solid var(--hair); }
.exchange > summary { display: grid; grid-template-columns: 62px 48px minmax(0, 1fr) 68px 74px; gap: 10px; padding: 7px 12px; cursor: pointer; list-style: none; font-size: 13.5px; align-items: baseline; }
.exchange > summary::-webkit-details-marker { display: none; }
.exchange > summary:hover, .exchange[open] > summary { background: var(--raised); }
.timed .exchange > summary { grid-template-columns: 62px 112px 48px minmax(0, 1fr) 68px 74px; }
.exchange .nth { color: var(--soft); }
.exchange .path { overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
.exchange[open] .path { white-space: normal; }
.exchange .took { text-align: right; }
.sides { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 320px), 1fr)); gap: 0 18px; padding: 2px 12px 14px; }
pre b { font-weight: 600; }
`;

const tables = `
.scroll { overflow-x: auto; }
p + .scroll { margin-top: 14px; }
.scroll + .scroll, p + figure { margin-top: 30px; }
table { width: 100%; border-collapse: collapse; font-size: 14px; }
th, td { text-align: left; vertical-align: top; padding: 8px 18px 8px 0; border-bottom: 1px solid var(--hair); font-weight: 400; }
thead th { color: var(--soft); font-size: 13px; border-bottom-color: var(--line); white-space: nowrap; }
tbody th { min-width: 130px; }
td.number, th.number { text-align: right; white-space: nowrap; }
tbody th.number { min-width: 0; }
/* Many columns are set closer, so that the last one is seen without scrolling. */
tr:has(> :nth-child(9)) > * { padding-right: 11px; }
tr:has(> :nth-child(9)) > th:first-child { min-width: 0; }
th:last-child, td:last-child, tr:has(> :nth-child(9)) > :last-child { padding-right: 4px; }
`;

const media = `
@media (max-width: 980px) {
  .page { grid-template-columns: minmax(0, 1fr); padding: 0 22px 60px; }
  .masthead { padding: 16px 22px 0; }
  .contents { position: static; display: flex; gap: 18px; padding: 14px 0 0; overflow-x: auto; white-space: nowrap; }
  .contents ul { display: flex; gap: 18px; }
  .contents .chapter { margin-top: 0; }
}
@media (max-width: 700px) {
  .rule > summary { grid-template-columns: 22px minmax(0, 1fr) auto; }
  .rule > summary .sentence { grid-column: 2 / -1; }
  .rule > summary .cases { grid-row: 1; grid-column: 3; }
  .rule-body { padding-left: 8px; }
  .about > div { grid-template-columns: minmax(0, 1fr); }
  .answers { padding-left: 0; }
  .breach { padding: 16px; }
  .filters { position: static; }
  .exchange > summary, .timed .exchange > summary { display: flex; flex-wrap: wrap; }
  .exchange .path { order: 1; flex: 1 0 100%; white-space: normal; }
  .exchange .took { margin-left: auto; }
  .wide { display: none; }
  /* The answer and what broke come first; what was run against what follows at the end. */
  main { display: flex; flex-direction: column; }
  .chapter-body { display: flex; flex-direction: column; }
  .about-run, .chapter-body > .facts { order: 1; }
  .chapter-body > .facts { margin-top: 34px; }
  .chapter-head { margin-top: 44px; }
  footer { order: 2; }
  .overview { margin-top: 14px !important; }
  .answer { gap: 14px; }
  .answer > .mark { width: 34px; height: 34px; font-size: 18px; }
  .detail { font-size: 15px; margin-top: 6px; }
  .lane { grid-template-columns: minmax(0, 1fr) !important; }
  .lane.foot > div { display: none; }
  /* What reaches beyond a strip would lie on the names above and below it; at its sides there is room for a mark. */
  .lane:not(.foot) .strip { clip-path: inset(0 -10px); }
  main section { margin-top: 34px; }
  h2 { margin-bottom: 12px; }
  .stacks thead { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
  .stacks :is(tbody, tr, th) { display: block; }
  .stacks tr { padding: 8px 0; border-bottom: 1px solid var(--hair); }
  .stacks :is(th, td), .stacks td.number { padding: 2px 0; border: 0; text-align: left; white-space: normal; overflow-wrap: anywhere; }
  .stacks td { display: flow-root; padding-left: 116px !important; min-height: 1.8em; }
  .stacks td::before { content: attr(data-head); float: left; width: 106px; margin-left: -116px; color: var(--soft); font-size: 13px; }
  .stacks th.number::before { content: attr(data-head) " "; color: var(--soft); font-size: 13px; }
  .stacks td:empty { display: none; }
}
@media print {
  body { background: #fff; font-size: 10.5pt; }
  .page { display: block; max-width: none; padding: 0; }
  .contents, .filters, .theme, .copy, .skip, .tip, .cursor { display: none !important; }
  .masthead { padding: 0; }
  main section { margin-top: 28pt; }
  .breach, figure, .rule > summary, .lane, tr { break-inside: avoid; }
  h2, h3, h4 { break-after: avoid; }
  .scroll { overflow: visible; }
  table { font-size: 9pt; }
  th, td { white-space: normal !important; }
  pre { max-height: none; }
  .exchange .path { white-space: normal; }
  .breach .exchange::details-content { content-visibility: visible; block-size: auto; }
  .mark, .cell, rect, path, circle { print-color-adjust: exact; -webkit-print-color-adjust: exact; }
  a { color: inherit; text-decoration: none; }
}
@media (prefers-reduced-motion: no-preference) { html { scroll-behavior: smooth; } }
`;

export const style = pageStyle + frame + rules + tables + pictures + media;
