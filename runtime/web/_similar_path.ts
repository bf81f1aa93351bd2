import type Router from "@koa/router";
import { similarNames } from "../../contract/mod.ts";
import type { RequestState } from "./app.ts";

/** Longer paths are not compared, so that they cost no time. */
const MAX_PATH_LENGTH = 200;
/** Files that pages load; never suggested. */
const PAGE_FILES = /\.(css|js)$/;

interface Route {
  readonly methods: readonly string[];
  readonly segments: readonly string[];
}

/**
 * Finds the method and path that a request for an unknown path most likely meant. It takes the routes that share the most
 * leading segments with the path, or one fewer, and compares the rest of them. Parameters are filled with what was sent in
 * their place.
 *
 * @returns undefined where no route is similar
 */
export function findSimilarPath(
  { stack }: Router<RequestState>,
  method: string,
  path: string,
): string | undefined {
  if (path.length > MAX_PATH_LENGTH) return undefined;
  const sent = path.split("/").slice(1);
  const routes = stack.map(({ methods, path }) => ({ methods, path: String(path) }))
    .filter(({ methods, path }) => methods.length > 0 && !PAGE_FILES.test(path))
    .map(({ methods, path }): Route => ({ methods, segments: fillParameters(path, sent) }));
  const deepest = Math.max(...routes.map(({ segments }) => countShared(segments, sent)));
  for (let depth = deepest; depth >= 0 && depth >= deepest - 1; depth--) {
    const candidates = routes.filter(({ segments }) => countShared(segments, sent) === depth);
    const route = findMostSimilar(candidates, sent, { depth, method });
    if (!route) continue;
    const routeMethod = route.methods.includes(method) ? method : route.methods.at(-1)!;
    return `${routeMethod} /${route.segments.join("/")}`;
  }
  return undefined;
}

/** Returns the most similar of the routes that share `depth` segments with the sent path. */
function findMostSimilar(
  routes: readonly Route[],
  sent: readonly string[],
  { depth, method }: { readonly depth: number; readonly method: string },
): Route | undefined {
  const rest = (segments: readonly string[]) =>
    segments.slice(depth).map((segment) => `/${segment}`).join("");
  const [similar] = similarNames(rest(sent), routes.map(({ segments }) => rest(segments)));
  const isMatch = (route: Route) =>
    sent.length === depth
      ? /^(\/\{\w+\})+$/.test(rest(route.segments)) // only its parameters are missing
      : rest(route.segments) === similar;
  const matches = routes.filter(isMatch);
  return matches.find(({ methods }) => methods.includes(method)) ?? matches[0];
}

/** Returns a route's segments. A parameter gets the value that was sent after the same word, or after a similar word in the same place. */
function fillParameters(route: string, sent: readonly string[]): string[] {
  const segments = route.split("/").slice(1);
  return segments.map((segment, at) => {
    const word = segments[at - 1] ?? "";
    const wordAt = sent.indexOf(word);
    const isSimilar = similarNames(sent[at - 1] ?? "", [word]).length > 0;
    const place = wordAt >= 0 ? wordAt + 1 : isSimilar ? at : -1;
    return segment.replace(/^:(\w+)$/, (_, name) => sent[place] || `{${name}}`);
  });
}

/** Returns the number of equal leading segments. */
function countShared(segments: readonly string[], sent: readonly string[]): number {
  const differs = segments.findIndex((segment, at) => segment !== sent[at]);
  return differs < 0 ? Math.min(segments.length, sent.length) : differs;
}
