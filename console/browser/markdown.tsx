import type { ComponentChildren } from "preact";

/** Lines that belong together. */
interface Block {
  readonly kind: "heading" | "list" | "table" | "text";
  readonly lines: readonly string[];
}

/** Begins of lines, by the kind of their block. */
const KINDS: readonly (readonly [Block["kind"], RegExp])[] = [
  ["heading", /^#{1,6} /],
  ["list", /^ *[-*] /],
  ["table", /^\|/],
];
/** What is under a table's head. */
const RULE = /^\|(?: *:?-+:? *\|)+$/;
/** A link of the platform's own; in words of others, brackets have a backslash before them. */
const LINK = /(?<!\\)\[([^\]\\]*)\]\((https?:\/\/[^\s)]+)\)/;

/**
 * A text of the platform's own in Markdown, of which it uses headings, lists, tables, links and paragraphs. All else is shown as
 * it is.
 */
export function Markdown({ text }: { readonly text: string }) {
  return (
    <div class="document">
      {blocksOf(text).map((block, n) => <BlockView key={n} block={block} />)}
    </div>
  );
}

function blocksOf(text: string): Block[] {
  const blocks: { kind: Block["kind"]; lines: string[] }[] = [];
  let isOpen = false;
  for (const line of text.split("\n")) {
    const kind = KINDS.find(([, begin]) => begin.test(line))?.[0] ?? "text";
    const last = blocks.at(-1);
    if (line.trim() === "") isOpen = false;
    else if (isOpen && last?.kind === kind && kind !== "heading") last.lines.push(line);
    else {
      blocks.push({ kind, lines: [line] });
      isOpen = true;
    }
  }
  return blocks;
}

function BlockView({ block: { kind, lines } }: { readonly block: Block }) {
  switch (kind) {
    case "heading":
      return <h3>{inline(lines[0]!.replace(/^#+ /, ""))}</h3>;
    case "list":
      return (
        <ul>{lines.map((line, n) => <li key={n}>{inline(line.replace(/^ *[-*] /, ""))}</li>)}</ul>
      );
    case "table":
      return <Table rows={lines.filter((line) => !RULE.test(line)).map(cellsOf)} />;
    case "text":
      return <p>{inline(lines.join("\n"))}</p>;
  }
}

/** The first row is the head; one whose cells are all empty is left out. */
function Table({ rows: [head = [], ...rows] }: { readonly rows: readonly (readonly string[])[] }) {
  const hasHead = head.some((cell) => cell !== "");
  return (
    <div class="scroll" tabIndex={0} role="group" aria-label="Table">
      <table class="rows">
        {hasHead && (
          <thead>
            <tr>{head.map((cell, n) => <th key={n}>{inline(cell)}</th>)}</tr>
          </thead>
        )}
        <tbody>
          {rows.map((cells, row) => (
            <tr key={row}>{cells.map((cell, n) => <td key={n}>{inline(cell)}</td>)}</tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

const cellsOf = (line: string) =>
  line.replace(/^\||\|$/g, "").split(/(?<!\\)\|/).map((cell) => cell.trim());

/** One line of it, without a paragraph around. */
export const MarkdownLine = ({ text }: { readonly text: string }) => <>{inline(text)}</>;

/** Shows links as such, and the other words without the marks of bold and code and the backslashes before punctuation. */
function inline(text: string): ComponentChildren {
  const found = LINK.exec(text);
  if (!found) return text.replace(/\*\*|`/g, "").replace(/\\([!-/:-@[-`{-~])/g, "$1");
  const [link, title, href] = found;
  return [
    inline(text.slice(0, found.index)),
    <a key={href} href={href}>{title}</a>,
    inline(text.slice(found.index + link.length)),
  ];
}
