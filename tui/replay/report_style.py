"""How the report page looks: light and dark, wide and on a phone, with nothing to load."""

STYLE = """
:root { color-scheme: light dark; --ground: #ffffff; --ink: #1b1f24; --soft: #57606a; --rule: #d0d7de;
  --panel: #f6f8fa; --good: #1a7f37; --bad: #cf222e; --warn: #9a6700; --memory: #0969da; --busy: #bc4c00;
  --band: #8250df; }
@media (prefers-color-scheme: dark) { :root { --ground: #0d1117; --ink: #e6edf3; --soft: #8b949e;
  --rule: #30363d; --panel: #161b22; --good: #3fb950; --bad: #ff7b72; --warn: #d29922; --memory: #58a6ff;
  --busy: #f0883e; --band: #a371f7; } }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 70rem; padding: 1rem; background: var(--ground); color: var(--ink);
  font: 1rem/1.5 system-ui, sans-serif; overflow-wrap: anywhere; }
h1 { font-size: 1.5rem; line-height: 1.25; margin: .5rem 0; } h2 { font-size: 1.1rem; margin: 2rem 0 .5rem; }
.ready { color: var(--good); } .failed { color: var(--bad); } .timeout, .lost { color: var(--warn); }
.soft { color: var(--soft); } .panel { background: var(--panel); border: 1px solid var(--rule);
  border-radius: .5rem; padding: .75rem 1rem; }
.scroll { overflow-x: auto; } table { border-collapse: collapse; width: 100%; }
th, td { text-align: left; vertical-align: top; padding: .25rem .75rem .25rem 0;
  border-bottom: 1px solid var(--rule); }
td.number, th.number { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
pre { margin: 0; padding: .75rem; overflow-x: auto; background: var(--panel); border: 1px solid var(--rule);
  border-radius: .5rem; font: .8rem/1.45 ui-monospace, monospace; }
pre.tall { max-height: 36rem; overflow-y: auto; }
h3 { font-size: 1rem; margin: 1rem 0 .25rem; } details { margin: .25rem 0; }
summary { cursor: pointer; font: .8rem/1.45 ui-monospace, monospace; }
ol.bands { columns: 18rem; margin: .25rem 0; padding-left: 2rem; font-size: .85rem; }
.error { color: var(--bad); } .warning { color: var(--warn); } .mark { color: var(--band); }
.cause { background: var(--bad); color: var(--ground); }
svg { display: block; width: 100%; height: auto; }
svg text { font: 11px system-ui, sans-serif; fill: var(--soft); }
svg .band { fill: var(--band); } svg .frame { fill: none; stroke: var(--rule); }
svg .edge { stroke: var(--rule); stroke-dasharray: 2 3; }
svg .area { fill: var(--memory); opacity: .22; stroke: none; }
svg .memory { fill: none; stroke: var(--memory); stroke-width: 1.6; }
svg .busy { fill: none; stroke: var(--busy); stroke-width: 1; opacity: .9; }
"""
