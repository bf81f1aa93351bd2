/** A text of the platform's own in Markdown, of which it uses headings, lists and paragraphs. All else is shown as it is. */
export function Markdown({ text }: { readonly text: string }) {
  return (
    <div class="document">{blocksOf(text).map((block, n) => <Block key={n} block={block} />)}</div>
  );
}

/** Lines that belong together. */
interface Block {
  readonly kind: "heading" | "list" | "text";
  readonly lines: readonly string[];
}

function blocksOf(text: string): Block[] {
  const blocks: { kind: Block["kind"]; lines: string[] }[] = [];
  let isOpen = false;
  for (const line of text.split("\n")) {
    const kind = /^#{1,6} /.test(line) ? "heading" : /^[-*] /.test(line) ? "list" : "text";
    const last = blocks.at(-1);
    if (line.trim() === "") isOpen = false;
    else if (isOpen && last && last.kind === kind && kind !== "heading") last.lines.push(line);
    else if (isOpen && last?.kind === "list" && line.startsWith("  ")) last.lines.push(line);
    else {
      blocks.push({ kind, lines: [line] });
      isOpen = true;
    }
  }
  return blocks;
}

function Block({ block: { kind, lines } }: { readonly block: Block }) {
  if (kind === "heading") return <h3>{plain(lines[0]!.replace(/^#+ /, ""))}</h3>;
  if (kind === "text") return <p>{plain(lines.join("\n"))}</p>;
  return <ul>{lines.map((line, n) => <li key={n}>{plain(line.replace(/^[-*] /, ""))}</li>)}</ul>;
}

/** Removes what marks words as bold or code, and backslashes before punctuation. */
const plain = (text: string) => text.replace(/\*\*|`/g, "").replace(/\\([!-/:-@[-`{-~])/g, "$1");
