/** The engine's HTTP service. It is internal: clients share a secret with it. */
import { createHash, timingSafeEqual } from "node:crypto";
import Router from "@koa/router";
import type Koa from "koa";
import type { Context, Next } from "koa";
import type { z } from "zod";
import { parseInput, Problem } from "../../contract/mod.ts";
import { SERVICE } from "../../contract/domain/mod.ts";
import type { Guard, ValidateRequest } from "../guard/mod.ts";
import {
  type AppOptions,
  createApp,
  readJson,
  type RequestState,
  serveRoutes,
} from "../../runtime/web/mod.ts";
import { CLASSIFY_REQUEST, SEARCH_REQUEST, VALIDATE_REQUEST } from "./protocol.ts";
import type { KnowledgeBase } from "./knowledge_base.ts";
import type { ClassifyReport } from "./report_classifier.ts";
import type { Writer } from "./writer.ts";
import { WRITE_REQUEST } from "./writing.ts";

/** Passages of an answer to a question. */
const MAX_FOUND = 5;

/** The parts of the service. */
export interface EngineParts {
  readonly secret: string;
  readonly http: AppOptions;
  readonly guard: Guard;
  /** Returns undefined until the classifier is ready; until then `POST /classify` answers 503. */
  classify(): ClassifyReport | undefined;
  /** Returns undefined until the knowledge base is loaded; until then `POST /search` answers 503. */
  knowledge(): KnowledgeBase | undefined;
  readonly write: Writer;
  /** @throws {Problem} nothing can be judged now; `/health` answers that */
  checkReady(): Promise<void>;
}

/**
 * Creates the application: `POST /classify`, `POST /search`, `POST /validate`, `POST /write`, and `GET /health`, which needs no secret.
 *
 * Every failure is an HTTP error, so that a client draws no conclusion from it.
 */
export function createEngineApp(
  { secret, http, classify, knowledge, guard, write, checkReady }: EngineParts,
): Koa<RequestState> {
  const app = createApp(http);
  const router = new Router<RequestState>();
  const authenticate = requireSecret(secret);
  router.get("/health", async (ctx: Context) => {
    await checkReady();
    const ready = { classify: classify() !== undefined, validate: true };
    ctx.body = { status: "ok", service: SERVICE.engine, ready };
  });
  router.post("/classify", authenticate, async (ctx: Context) => {
    const request = await readBody(ctx, CLASSIFY_REQUEST);
    const answer = classify();
    if (!answer) throw new Problem("Unavailable", "The classifier is still learning what it knows");
    ctx.body = await answer(request);
  });
  router.post("/search", authenticate, async (ctx: Context) => {
    const { question, tenant } = await readBody(ctx, SEARCH_REQUEST);
    const base = knowledge();
    if (!base) throw new Problem("Unavailable", "The knowledge base is not loaded yet");
    const found = await base.findAnswers(question, {
      tenant,
      kinds: ["article", "incident"],
      limit: MAX_FOUND,
    });
    ctx.body = {
      passages: found.map(({ id, text, score, treatment, sha256, kind }) => ({
        id,
        text,
        score,
        treatment,
        sha256,
        kind,
      })),
    };
  });
  router.post("/validate", authenticate, async (ctx: Context) => {
    const { tenant, ...request } = await readBody(ctx, VALIDATE_REQUEST);
    ctx.body = await guard.validate(request as ValidateRequest, tenant);
  });
  router.post("/write", authenticate, async (ctx: Context) => {
    const request = await readBody(ctx, WRITE_REQUEST);
    const callerGone = new AbortController();
    ctx.res.once("close", () => callerGone.abort());
    ctx.body = await write(request, callerGone.signal);
  });
  app.use(serveRoutes(router));
  return app;
}

/** Compares hashes, which have the same length, in constant time. */
function requireSecret(secret: string) {
  const expected = sha256(`Bearer ${secret}`);
  return async (ctx: Context, next: Next) => {
    if (!timingSafeEqual(sha256(ctx.get("authorization")), expected)) {
      throw new Problem("Unauthenticated", "The engine needs Authorization: Bearer <its secret>");
    }
    await next();
  };
}

function sha256(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}

async function readBody<T extends z.ZodObject>(ctx: Context, shape: T): Promise<z.output<T>> {
  return parseInput(shape, await readJson(ctx)) as z.output<T>;
}
