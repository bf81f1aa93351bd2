/** Returns the words of HTML, in time that grows with its length alone: whoever sends it chooses it. */
export function wordsOf(html: string, maxCharacters: number): string {
  return dropUnread(html.slice(0, maxCharacters))
    .replace(/<(br|\/p|\/div|\/tr|\/li)\b[^<>]*>/gi, "\n")
    .replace(/<[^<>]*>/g, " ")
    .replace(/&nbsp;/gi, " ").replace(/&lt;/gi, "<").replace(/&gt;/gi, ">").replace(/&amp;/gi, "&")
    .replace(/[ \t]+/g, " ");
}

/** Takes out the elements that nobody reads. One that is not closed ends with the text. */
function dropUnread(html: string): string {
  const lower = html.toLowerCase();
  const opening = /<(script|style|head)\b/g;
  const kept: string[] = [];
  let at = 0;
  for (let found = opening.exec(lower); found; found = opening.exec(lower)) {
    kept.push(html.slice(at, found.index), " ");
    const closing = lower.indexOf(`</${found[1]}`, found.index);
    if (closing === -1) return kept.join("");
    at = opening.lastIndex = closing;
  }
  return kept.join("") + html.slice(at);
}
