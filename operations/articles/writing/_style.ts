/** Style of the site: one column for reading, light or dark as the reader's system is. */
export const STYLE = `
:root { color-scheme: light dark; --text: #1c2126; --quiet: #5b6570; --line: #dfe3e8; --link: #0b57a4; --code: #f2f4f7; --page: #ffffff }
@media (prefers-color-scheme: dark) {
  :root { --text: #e4e8ec; --quiet: #9aa5b1; --line: #333b44; --link: #7fb6f0; --code: #20262d; --page: #14181d }
}
* { box-sizing: border-box }
body { margin: 0; background: var(--page); color: var(--text); font: 1.0625rem/1.65 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif }
header, main, footer { max-width: 44rem; margin: 0 auto; padding: 0 1.25rem }
header { padding-top: 1.5rem; font-size: .9375rem }
header a { color: var(--quiet); text-decoration: none; font-weight: 600 }
a { color: var(--link) }
a:focus-visible { outline: 2px solid var(--link); outline-offset: 2px }
h1 { font-size: clamp(1.7rem, 5vw, 2.3rem); line-height: 1.2; margin: 2rem 0 .4rem; letter-spacing: -.01em; text-wrap: balance }
h2 { font-size: 1.3rem; line-height: 1.3; margin: 2.4rem 0 .6rem }
p, ul, ol { margin: 0 0 1rem }
ul, ol { padding-left: 1.35rem }
li { margin: .35rem 0 }
.about { color: var(--quiet); margin-bottom: 1.6rem }
h1 ~ .about + p { font-size: 1.15rem }
code { background: var(--code); border-radius: 4px; padding: .1em .35em; font: .875em/1.5 ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; overflow-wrap: anywhere }
.timeline { margin: 1.6rem 0 }
.timeline table { border-collapse: collapse; width: 100% }
.timeline caption, .timeline figcaption { color: var(--quiet); font-size: .9375rem; text-align: left; padding: .3rem 0 }
.timeline th { text-align: left; font-weight: 400; width: 7.5rem; padding: .15rem .8rem .15rem 0 }
.timeline td:last-child { width: 6rem; text-align: right; white-space: nowrap }
.timeline svg { display: block; width: 100%; height: .7rem }
.timeline .line { fill: var(--code) }
.timeline .step { fill: var(--link) }
.proof { border-top: 1px solid var(--line); margin-top: 2.8rem }
.list { list-style: none; padding: 0 }
.list li { border-top: 1px solid var(--line); padding: 1.1rem 0 }
.list h2 { margin: 0 0 .2rem }
.list p { margin: 0 }
footer { color: var(--quiet); font-size: .9rem; padding-bottom: 3rem; margin-top: 2rem }
`;
