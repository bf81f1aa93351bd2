import { instance } from "@viz-js/viz";
import { isProduct, readImports, roomOf, ROOMS } from "../imports/mod.ts";
import type { GeneratedFile } from "./_page.ts";

/** The picture of the rooms and of the imports between them. */
export const architecturePicture: GeneratedFile = {
  path: "docs/architecture.svg",
  async generate() {
    const edges = directEdges(importsBetweenRooms());
    const viz = await instance();
    return viz.renderString({
      graphAttributes: { rankdir: "TB", nodesep: 0.35, ranksep: 0.5 },
      nodeAttributes: {
        shape: "box",
        style: "rounded,filled",
        fillcolor: "#f4f6f8",
        color: "#5b6b7b",
        fontname: "sans-serif",
        fontsize: 13,
        margin: "0.25,0.1",
      },
      edgeAttributes: { color: "#8a97a5", arrowsize: 0.6 },
      nodes: Object.keys(ROOMS).map((name) => ({ name })),
      edges: edges.map(({ tail, head, isType }) => ({
        tail,
        head,
        attributes: { style: isType ? "dashed" : "solid" },
      })),
    }, { format: "svg" });
  },
};

interface Edge {
  readonly tail: string;
  readonly head: string;
  /** True: only types are imported. */
  readonly isType: boolean;
}

function importsBetweenRooms(): Edge[] {
  const edges = new Map<string, Edge>();
  for (const { from, to, isType } of readImports()) {
    const [tail, head] = [roomOf(from), roomOf(to)];
    const isDrawn = isProduct(from) && tail !== head && tail in ROOMS && head in ROOMS;
    if (!isDrawn) continue;
    const known = edges.get(`${tail} ${head}`);
    edges.set(`${tail} ${head}`, { tail, head, isType: isType && known?.isType !== false });
  }
  return [...edges.values()];
}

/** Returns the edges that no other way through other rooms implies, as all of them would hide the order. */
function directEdges(edges: readonly Edge[]): Edge[] {
  const next = (room: string) => edges.filter(({ tail }) => tail === room).map(({ head }) => head);
  const reaches = (from: string, to: string): boolean =>
    next(from).some((room) => room === to || reaches(room, to));
  return edges.filter(({ tail, head }) =>
    !next(tail).some((room) => room !== head && reaches(room, head))
  );
}
