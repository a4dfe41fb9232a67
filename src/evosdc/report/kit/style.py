"""The style sheet of all pages: light, dark and printed."""

from __future__ import annotations

STYLE = """
:root {
  color-scheme: light dark;
  --paper: #f5f6f8; --card: #ffffff; --ink: #1b2430; --soft: #5b6675;
  --rule: #dfe3e9; --zebra: #f8f9fb; --accent: #1f4e79;
  --safe: #1d6b45; --safe-bg: #e6f4ec; --bad: #a32018; --bad-bg: #fbeae8;
  --open: #7a5200; --open-bg: #fdf3dc;
  --primary: #a8322a; --primary-bg: #f3d3cf;
  --secondary: #2a669f; --secondary-bg: #d5e5f4; --rest: #e3e7ec;
  --real: #2456b3; --made: #d9792b;
}
@media (prefers-color-scheme: dark) {
  :root {
    --paper: #12161c; --card: #1a2028; --ink: #e6eaf0; --soft: #9aa6b5;
    --rule: #2d3641; --zebra: #1e252e; --accent: #8fbce6;
    --safe: #7fd3a6; --safe-bg: #15301f; --bad: #f2978d; --bad-bg: #3a1a17;
    --open: #e8c271; --open-bg: #34290f;
    --primary: #f2978d; --primary-bg: #57241f;
    --secondary: #94c3ee; --secondary-bg: #1d3b57; --rest: #303945;
    --real: #7fa7f5; --made: #f0a765;
  }
}
* { box-sizing: border-box; }
body {
  margin: 0; background: var(--paper); color: var(--ink);
  font: .94rem/1.55 system-ui, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif;
  font-variant-numeric: tabular-nums;
}
main { max-width: 1080px; margin: 0 auto; padding: 2.2rem 1.5rem 3rem; }
header p { margin: .2rem 0 1.4rem; color: var(--soft); }
h1 { font-size: 1.75rem; line-height: 1.2; margin: 0; letter-spacing: -.01em; }
h2 { font-size: 1.1rem; margin: 0 0 .9rem; color: var(--accent); }
h3 { font-size: .95rem; margin: 1.2rem 0 .45rem; }
section {
  background: var(--card); border: 1px solid var(--rule); border-radius: 10px;
  padding: 1.3rem 1.5rem 1.4rem; margin-top: 1.1rem;
}
p { margin: .4rem 0; max-width: 88ch; }
.note, figcaption { color: var(--soft); font-size: .9rem; }
.verdict { border-left: 8px solid; padding: 1.2rem 1.5rem; }
.verdict.safe { border-left-color: var(--safe); background: var(--safe-bg); }
.verdict.bad { border-left-color: var(--bad); background: var(--bad-bg); }
.verdict h2 { font-size: 1.45rem; margin: 0 0 .2rem; }
.verdict.safe h2 { color: var(--safe); }
.verdict.bad h2 { color: var(--bad); }
.verdict.open { border-left-color: var(--open); background: var(--open-bg); }
.verdict.open h2 { color: var(--open); }
.tiles {
  display: grid; grid-template-columns: repeat(auto-fit, minmax(150px, 1fr));
  gap: .8rem; margin: 1.1rem 0 0; padding: 0;
}
.tile {
  background: var(--card); border: 1px solid var(--rule); border-radius: 10px;
  padding: .8rem 1rem;
}
.tile dt { color: var(--soft); font-size: .84rem; }
.tile dd { margin: 0; font-size: 1.45rem; font-weight: 650; }
.tile small { display: block; color: var(--soft); font-size: .8rem; font-weight: 400; }
.bars { display: grid; grid-template-columns: max-content 1fr max-content;
  gap: .35rem .9rem; align-items: center; font-size: .9rem; }
.bars h3 { grid-column: 1 / -1; margin: .7rem 0 0; }
.bar { display: flex; height: 14px; border-radius: 4px; overflow: hidden;
  background: var(--rest); }
.bar i { display: block; }
.bar .primary { background: var(--primary); }
.bar .secondary { background: var(--secondary); }
.key { display: flex; flex-wrap: wrap; gap: .3rem 1.3rem; font-size: .9rem;
  color: var(--soft); margin: 0 0 .8rem; padding: 0; list-style: none; }
.key b { font-weight: 400; display: inline-block; min-width: 1.5em; margin-right: .45em;
  text-align: center; border-radius: 3px; }
.key .rest { background: var(--rest); }
.chart { width: 100%; height: auto; }
.chart .rule { stroke: var(--rule); }
.chart text.tick { fill: var(--soft); font-size: 12px; }
.chart .line { fill: none; stroke-width: 2.2; }
.chart .cost { stroke: var(--accent); }
.chart .bound { stroke: var(--safe); stroke-dasharray: 6 4; }
.chart .dot { stroke: none; }
.chart .dot.cost { fill: var(--accent); }
.chart .dot.bound { fill: var(--safe); }
.key .cost { background: var(--accent); height: 3px; vertical-align: middle; }
.key .bound { border-top: 3px dashed var(--safe); height: 0; vertical-align: middle; }
.chart text { fill: var(--ink); font-size: 11px; }
.chart text.axis { fill: var(--soft); }
.chart .level { fill: none; stroke: var(--soft); stroke-dasharray: 4 3; }
.chart .real { fill: var(--real); }
.chart .made { fill: var(--made); }
.chart .mark { fill: var(--soft); }
.chart .near { fill: none; stroke: var(--real); stroke-width: 1.5; }
.key .real { background: var(--real); }
.key .made { background: var(--made); }
.key .mark { background: var(--soft); }
.charts { display: grid; grid-template-columns: repeat(auto-fit, minmax(320px, 1fr));
  gap: 1.2rem; align-items: start; }
.charts figure { margin: 0; }
figure { margin: 1rem 0 0; }
figure > .chart { max-width: 760px; }
summary { color: var(--soft); cursor: pointer; font-size: .82rem; }
details table { margin: .3rem 0 .6rem; }
figcaption { margin-bottom: .35rem; }
.map { width: 100%; max-width: 620px; max-height: 620px; border: 1px solid var(--rule);
  border-radius: 6px; }
.map .paper { fill: var(--zebra); }
.map .primary { fill: var(--primary); }
.map .secondary, .map .hidden { fill: var(--secondary); }
.scroll { overflow: auto; max-height: 36rem; border: 1px solid var(--rule);
  border-radius: 6px; }
table { border-collapse: collapse; font-size: .86rem; }
th, td { padding: .28rem .6rem; border-bottom: 1px solid var(--rule); }
.plain { width: 100%; }
.plain th { text-align: left; font-weight: 600; vertical-align: top; }
.facts th { width: 13rem; }
.claim th { width: 17rem; }
.plain td { overflow-wrap: anywhere; }
.plain td.n, .plain th.n { text-align: right; }
.plain td.n, .plain td.short { white-space: nowrap; overflow-wrap: normal; }
.across { overflow-x: auto; }
.grid { width: 100%; border-collapse: separate; border-spacing: 0; }
.grid td { text-align: right; white-space: nowrap; }
.grid thead th { position: sticky; top: 0; background: var(--card); text-align: right;
  z-index: 1; white-space: nowrap; }
.grid tr > th:first-child { position: sticky; left: 0; background: var(--card);
  text-align: left; white-space: nowrap; font-weight: 500; z-index: 1; }
.grid thead th:first-child { z-index: 2; }
.grid thead th span { color: var(--soft); font-weight: 400; }
.grid th.total { font-weight: 700; }
.grid td.fixed { color: var(--soft); }
.grid td.none { background: var(--zebra); }
td.primary, td.secondary, td.hidden { text-align: center !important; }
td.primary, .key b.primary, .chips .primary {
  background: var(--primary-bg); color: var(--primary); }
td.secondary, .key b.secondary, .chips .secondary,
td.hidden, .key b.hidden, .chips .hidden {
  background: var(--secondary-bg); color: var(--secondary); }
td.exposed { outline: 2px solid var(--bad); outline-offset: -2px; font-weight: 700; }
.key b.exposed { outline: 2px solid var(--bad); outline-offset: -2px; }
.chips { display: flex; flex-wrap: wrap; gap: .3rem; margin-top: .7rem; }
.chips span { padding: .05rem .5rem; border-radius: 4px; font-size: .85rem; }
.secret { color: var(--bad); font-weight: 600; }
footer { color: var(--soft); font-size: .85rem; margin-top: 1.6rem; }
code { font-size: .9em; }
@media print {
  :root { --paper: #fff; font-size: 10.5px; }
  .tiles { grid-template-columns: repeat(6, 1fr); gap: .5rem; }
  h2, h3, .key { break-after: avoid; }
  .map { max-width: 420px; max-height: 420px; }
  .wide::after {
    content: "A page is too narrow for every column: see them on a screen.";
    color: var(--soft);
  }
  main { max-width: none; padding: 0; }
  section, .tile { break-inside: avoid; border-radius: 0; }
  section.long { break-inside: auto; }
  .scroll { overflow: visible; max-height: none; border: 0; }
  .grid th, .grid thead th { position: static; }
  table { font-size: 8px; }
  th, td { padding: 1px 4px; }
  * { print-color-adjust: exact; -webkit-print-color-adjust: exact; }
}
"""
