/** The style of the page, in light and dark. */
export const PAGE_STYLE = `
:root { color-scheme: light dark; --line: #8884; --good: #1a7f4b; --bad: #c0392b; }
body { font: 15px/1.5 system-ui, sans-serif; margin: 0; }
main { max-width: 70rem; margin: 0 auto; padding: 1.5rem; }
table { border-collapse: collapse; margin: 1rem 0; }
th, td { padding: .25rem .9rem .25rem 0; border-bottom: 1px solid var(--line); text-align: right; }
th:first-child, td:first-child { text-align: left; }
details { border-bottom: 1px solid var(--line); padding: .25rem 0; }
details.trial { margin-left: 1.2rem; }
summary span { color: GrayText; font-size: .85em; }
pre { white-space: pre-wrap; overflow-wrap: anywhere; margin: .2rem 0; font-size: .85em; }
summary b { font-weight: normal; }
.passed { color: var(--good); } .failed { color: var(--bad); } .infrastructure { color: #b7791f; }
.plots { display: flex; flex-wrap: wrap; gap: 1rem; } svg text { font: 12px system-ui, sans-serif; fill: CanvasText; }
`;
