import type Router from "@koa/router";
import { similarNames } from "../contract/mod.ts";
import type { RequestState } from "./app.ts";

/** Whoever asks for a longer one has not misspelt it, and must not make us work. */
const LONGEST = 200;
/** Files that pages fetch: nobody asks for them by name. */
const OF_PAGES = /\.(css|js)$/;

interface Door {
  readonly methods: readonly string[];
  readonly segments: readonly string[];
}

/**
 * The method and path that a request for what is not there most likely meant; undefined where none is like it. What is
 * compared comes after the leading segments that are right: after as many as any path has in common with it, or one
 * fewer. Variables are filled with what was sent in their place.
 */
export function nearPath(
  { stack }: Router<RequestState>,
  method: string,
  path: string,
): string | undefined {
  if (path.length > LONGEST) return undefined;
  const sent = path.split("/").slice(1);
  const doors = stack.map(({ methods, path }) => ({ methods, path: String(path) }))
    .filter(({ methods, path }) => methods.length > 0 && !OF_PAGES.test(path))
    .map(({ methods, path }): Door => ({ methods, segments: filled(path, sent) }));
  const deepest = Math.max(...doors.map(({ segments }) => shared(segments, sent)));
  for (let depth = deepest; depth >= 0 && depth >= deepest - 1; depth--) {
    const door = nearest(doors.filter(({ segments }) => shared(segments, sent) === depth), sent, {
      depth,
      method,
    });
    if (!door) continue;
    const named = door.methods.includes(method) ? method : door.methods.at(-1)!;
    return `${named} /${door.segments.join("/")}`;
  }
  return undefined;
}

/** Of doors that share `depth` segments with what was sent. */
function nearest(
  doors: readonly Door[],
  sent: readonly string[],
  { depth, method }: { readonly depth: number; readonly method: string },
): Door | undefined {
  const rest = (segments: readonly string[]) =>
    segments.slice(depth).map((segment) => `/${segment}`).join("");
  const [near] = similarNames(rest(sent), doors.map(({ segments }) => rest(segments)));
  const wanted = (door: Door) =>
    sent.length === depth
      ? /^(\/\{\w+\})+$/.test(rest(door.segments)) // only its variables were left out
      : rest(door.segments) === near;
  const all = doors.filter(wanted);
  return all.find(({ methods }) => methods.includes(method)) ?? all[0];
}

/** A route's segments; its variables are what was sent after the same word, or after one like it in the same place. */
function filled(route: string, sent: readonly string[]): string[] {
  const segments = route.split("/").slice(1);
  return segments.map((segment, at) => {
    const word = segments[at - 1] ?? "";
    const before = sent.indexOf(word);
    const isLike = similarNames(sent[at - 1] ?? "", [word]).length > 0;
    const place = before >= 0 ? before + 1 : isLike ? at : -1;
    return segment.replace(/^:(\w+)$/, (_, name) => sent[place] || `{${name}}`);
  });
}

function shared(segments: readonly string[], sent: readonly string[]): number {
  const differs = segments.findIndex((segment, at) => segment !== sent[at]);
  return differs < 0 ? Math.min(segments.length, sent.length) : differs;
}
