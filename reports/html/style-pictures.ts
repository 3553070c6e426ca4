/** Style of the pictures. One hue in shades for measurements; red only for failures. */
export const pictures = `
.sheet { position: absolute; }
symbol path { fill: none; stroke: currentColor; stroke-width: 2; stroke-linecap: round; stroke-linejoin: round; }
figure { margin: 0 0 44px; position: relative; }
.tip { position: absolute; z-index: 2; max-width: min(340px, 62%); padding: 7px 11px; font-size: 13px; background: var(--surface); border: 1px solid var(--line); border-radius: 7px; box-shadow: 0 3px 14px rgb(0 0 0 / 0.18); pointer-events: none; overflow-wrap: anywhere; }
.tip.pinned { pointer-events: auto; border-color: var(--accent); }
.tip dl { display: grid; grid-template-columns: auto auto; gap: 0 14px; }
.tip dt { color: var(--soft); }
.tip dd { text-align: right; }
.cursor { stroke: var(--ink); stroke-opacity: 0.7; }
tr:focus { outline: 2px solid var(--accent); outline-offset: -2px; }
figcaption h3 { margin: 0 0 2px; font-size: 16px; }
figcaption p { font-size: 14px; max-width: 78ch; }
.legend { list-style: none; display: flex; flex-wrap: wrap; gap: 3px 18px; font-size: 13px; color: var(--soft); margin: 6px 0 12px; }
.legend li { display: inline-flex; align-items: center; gap: 7px; }
.key { width: 18px; height: 9px; border-radius: 2px; background: var(--soft); }
.key.good { background: var(--good); }
.key.ended { background: var(--ended); }
.key.wrong, .key.failed { background: var(--bad); }
.key.broken { background: none; border: 0 solid var(--bad); width: 12px; height: 12px; clip-path: polygon(0 18%, 18% 0, 50% 32%, 82% 0, 100% 18%, 68% 50%, 100% 82%, 82% 100%, 50% 68%, 18% 100%, 0 82%, 32% 50%); background: var(--bad); }
.key.asked { width: 24px; height: 2px; border-radius: 0; background: repeating-linear-gradient(to right, var(--ink) 0 5px, transparent 5px 9px); }
.key.achieved { background: var(--accent); opacity: 0.45; }
.key.heat { background: linear-gradient(to right, transparent, var(--accent)); }
.key.p50 { height: 3px; background: var(--ink); }
.key.p95 { width: 24px; height: 2px; border-radius: 0; background: repeating-linear-gradient(to right, var(--ink) 0 5px, transparent 5px 8px); }
.key.p99 { width: 24px; height: 2px; border-radius: 0; background: repeating-linear-gradient(to right, var(--ink) 0 2px, transparent 2px 5px); }
.key.max { width: 5px; height: 5px; border-radius: 50%; background: var(--soft); }
.key.measured { width: 12px; height: 12px; border-radius: 50%; background: var(--ink); }
.key.window-fits { background: var(--good-soft); border: 1.5px solid var(--good); height: 12px; }
.key.window-beyond { background: var(--bad-soft); border: 1.5px solid var(--bad); height: 12px; }
.key.window-out { background: none; border: 1.5px dashed var(--ended); height: 12px; }
.figures { margin-top: 8px; font-size: 13px; }
.figures > summary { color: var(--soft); cursor: pointer; }
.figures .scroll { max-height: 380px; overflow: auto; margin-top: 6px; }
.chart { display: grid; grid-template-columns: 56px minmax(0, 1fr); margin-top: 8px; }
.chart svg { display: block; overflow: visible; }
.chart .plot { width: 100%; touch-action: pan-y; }
.chart[role="slider"] .plot { cursor: crosshair; }
.chart .box { overflow: hidden; }
svg text { font-size: 12px; fill: var(--soft); font-family: system-ui, "Segoe UI", "Open Sans", sans-serif; }
svg path, svg rect, svg line { vector-effect: non-scaling-stroke; }
.grid { stroke: var(--hair); }
.axis { stroke: var(--line); }
.warm-up { fill: var(--raised); }
.achieved { fill: var(--accent); fill-opacity: 0.3; }
.asked { fill: none; stroke: var(--ink); stroke-width: 1.5; stroke-dasharray: 5 4; }
rect.failed { fill: var(--bad); }
svg.broken { color: var(--bad); }
.chart + .chart { margin-top: 16px; }
.heat path { fill: var(--accent); shape-rendering: crispEdges; }
.heat-1 { opacity: 0.12; } .heat-2 { opacity: 0.22; } .heat-3 { opacity: 0.34; } .heat-4 { opacity: 0.46; } .heat-5 { opacity: 0.6; } .heat-6 { opacity: 0.76; }
.halo { fill: none; stroke: var(--surface); stroke-width: 4.5; stroke-opacity: 0.8; }
.line-p50, .line-p95, .line-p99 { fill: none; stroke: var(--ink); stroke-width: 1.3; stroke-linejoin: round; }
.line-p50 { stroke-width: 2; }
.line-p95 { stroke-dasharray: 5 3; }
.line-p99 { stroke-dasharray: 1.5 3; }
.dots-max { fill: none; stroke: var(--soft); stroke-width: 3; stroke-linecap: round; }
.lane { display: grid; grid-template-columns: 268px minmax(0, 1fr); gap: 0 18px; align-items: center; overflow-y: clip; }
.lanes .lane + .lane:not(.foot) { border-top: 1px solid var(--hair); }
.lane-name { font-size: 13px; line-height: 1.35; padding: 5px 0; overflow-wrap: anywhere; }
.lane-name > * { display: block; }
.lane-name .fit { font-weight: 400; color: var(--soft); }
.lane.fits .fit { color: var(--good); font-weight: 600; }
.lane.beyond .fit { color: var(--bad); font-weight: 600; }
.lane.out b { color: var(--soft); font-weight: 500; }
.strip { display: block; width: 100%; overflow: visible; align-self: center; }
.promise-line { stroke: var(--ink); stroke-width: 1.5; }
.bar-good { fill: var(--good); }
.bar-ended { fill: var(--ended); }
.bar-wrong { fill: var(--bad); }
.band { fill: var(--ink); fill-opacity: 0.12; }
.band.faint { fill-opacity: 0.07; }
.push-dot { fill: var(--ink); }
svg text.push-nth { fill: var(--surface); font-weight: 700; font-size: 11px; }
.window { fill: none; stroke: var(--ended); stroke-width: 1.5; stroke-dasharray: 3 3; }
.window.fits { fill: var(--good-soft); stroke: var(--good); stroke-dasharray: none; }
.window.beyond { fill: var(--bad-soft); stroke: var(--bad); stroke-dasharray: none; }
.hills .lane { align-items: end; overflow-y: visible; }
.hills .strip { align-self: end; }
.hills .lane-name { padding-bottom: 8px; }
.hill { fill: var(--accent); fill-opacity: 0.32; stroke: var(--accent); stroke-width: 1.2; }
.at-p0, .at-p1, .at-p2 { stroke: var(--ink); stroke-width: 1.2; }
.at-p1 { stroke-dasharray: 5 3; }
.at-p2 { stroke-dasharray: 1.5 3; }
.floor-band { fill: var(--hair); stroke: var(--line); }
.no-change { stroke: var(--soft); }
.detectable-line { stroke: var(--ink); stroke-opacity: 0.6; stroke-dasharray: 2 3; }
.interval { fill: var(--accent); fill-opacity: 0.45; }
.interval.regressed { fill: var(--bad); }
.interval.improved { fill: var(--good); }
.change-dot { fill: var(--accent); stroke: var(--surface); stroke-width: 1.5; }
.change-dot.regressed { fill: var(--bad); }
.change-dot.improved { fill: var(--good); }
.key.change-mean { background: linear-gradient(var(--accent), var(--accent)) center / 100% 5px no-repeat; }
.key.change { width: 11px; height: 11px; border-radius: 50%; background: var(--accent); }
.key.floor { background: var(--hair); border: 1px solid var(--line); height: 12px; }
.key.detectable { width: 0; height: 14px; background: none; border-left: 2px dotted var(--ink); }
.key.pair-dot { width: 9px; height: 9px; border-radius: 50%; background: var(--ink); }
.limit-band { fill: var(--good-soft); stroke: var(--good); }
.key.limits { background: var(--good-soft); border: 1.5px solid var(--good); height: 12px; }
.forest .lane { overflow-y: visible; }
.trend { display: block; }
.trend polyline { fill: none; stroke: var(--accent); stroke-width: 1.5; stroke-linejoin: round; }
.trend circle { fill: var(--accent); }
.trend .good { fill: var(--good); }
.trend .bad { fill: var(--bad); }
.trend .warn, .trend .open { fill: var(--warn); }
.trend .seen { fill: var(--seen); }
.whisker { stroke: var(--ink); stroke-width: 1.5; }
.limit-line { stroke: var(--ink); stroke-width: 2; }
.key.limit { width: 0; height: 14px; background: none; border-left: 2px solid var(--ink); }
.key.whisker { height: 9px; border-radius: 0; background: linear-gradient(var(--ink), var(--ink)) center / 100% 1.5px no-repeat; border: solid var(--ink); border-width: 0 1.5px; }
.key.band { background: var(--ink); opacity: 0.14; height: 12px; }
`;
