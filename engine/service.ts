/** The engine's process over HTTP: internal, behind a secret that both ends know. */
import { createHash, timingSafeEqual } from "node:crypto";
import { parseInput, Problem } from "../contract/mod.ts";
import { SERVICE } from "../domain/mod.ts";
import {
  type AppOptions,
  createApp,
  readJson,
  refuseMethods,
  type RequestState,
} from "../web/mod.ts";
import Router from "@koa/router";
import type Koa from "koa";
import type { Context, Next } from "koa";
import type { z } from "zod";
import { type Classified, CLASSIFY, type ClassifyRequest, VALIDATE } from "./answers.ts";
import type { Guard, ValidateRequest } from "../guard/mod.ts";
import type { Writer } from "./writer.ts";
import { WRITE } from "./writing.ts";

/** What the process consists of. */
export interface EngineParts {
  readonly secret: string;
  readonly shell: AppOptions;
  readonly guard: Guard;
  /** Gives undefined until the classifier has learnt what it knows: then the process says that it is not ready. */
  classify(): ((request: ClassifyRequest) => Promise<Classified>) | undefined;
  readonly write: Writer;
}

/**
 * Makes the application: `POST /classify`, `POST /validate`, `POST /write`, and `GET /health`, which alone is open.
 *
 * Whatever is wrong is an HTTP error, so that whoever asks concludes nothing from it.
 */
export function createEngineApp(
  { secret, shell, classify, guard, write }: EngineParts,
): Koa<RequestState> {
  const app = createApp(shell);
  const router = new Router<RequestState>();
  const admitted = onlyWith(secret);
  router.get("/health", (ctx: Context) => {
    const ready = { classify: classify() !== undefined, validate: true };
    ctx.body = { status: "ok", service: SERVICE.engine, ready };
  });
  router.post("/classify", admitted, async (ctx: Context) => {
    const request = await bodyOf(ctx, CLASSIFY);
    const answer = classify();
    if (!answer) throw new Problem("Unavailable", "The classifier is still learning what it knows");
    ctx.body = await answer(request);
  });
  router.post("/validate", admitted, async (ctx: Context) => {
    const request = await bodyOf(ctx, VALIDATE);
    ctx.body = await guard.validate(request as ValidateRequest);
  });
  router.post("/write", admitted, async (ctx: Context) => {
    const request = await bodyOf(ctx, WRITE);
    const gone = new AbortController();
    ctx.res.once("close", () => gone.abort());
    ctx.body = await write(request, gone.signal);
  });
  app.use(router.routes());
  app.use(refuseMethods(router));
  return app;
}

/** Compares hashes, which have one length, in constant time. */
function onlyWith(secret: string) {
  const wanted = hashOf(`Bearer ${secret}`);
  return async (ctx: Context, next: Next) => {
    if (!timingSafeEqual(hashOf(ctx.get("authorization")), wanted)) {
      throw new Problem("Unauthenticated", "The engine needs Authorization: Bearer <its secret>");
    }
    await next();
  };
}

function hashOf(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}

async function bodyOf<T extends z.ZodObject>(ctx: Context, shape: T): Promise<z.output<T>> {
  return parseInput(shape, await readJson(ctx)) as z.output<T>;
}
