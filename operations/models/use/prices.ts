/** Prices of models: those that ship, from a file that names their source and date, and the operator's own. */
import { join } from "node:path";
import { z } from "zod";
import { ROOT } from "../../../config.ts";
import type { ModelProvider } from "../../../contract/domain/mod.ts";
import { BadFile, readYamlFile } from "../../../integrations/files/mod.ts";

const Usd = z.number().min(0).max(10_000).describe("US dollars per million tokens");
const PRICE = z.strictObject({
  input: Usd,
  output: Usd,
  cached: Usd.optional().describe(
    "… of input that the provider had in its cache; left out: as other input",
  ),
});

/** The price of a model. */
export const Price = PRICE.extend({
  above: PRICE.extend({ tokens: z.number().int().min(1) }).optional()
    .describe("Prices of a whole request whose input has more tokens"),
});

/** The price of a model, in US dollars per million tokens, which is the same as millionths per token. */
export type Price = z.output<typeof Price>;

/** Prices by provider and model. */
export const Prices = z.partialRecord(
  z.enum(["anthropic", "openai", "ollama"]),
  z.record(z.string().min(1).max(128), Price),
);

const FILE = z.strictObject({ source: z.string(), date: z.unknown(), prices: Prices });
const PATH = join(ROOT, "operations", "models", "use", "prices.yaml");

/** Tokens that a call has used. */
export interface TokenCounts {
  readonly input: number;
  readonly output: number;
  /** Part of the input. */
  readonly cached: number;
}

let shipped: z.output<typeof Prices> | undefined;

/** Returns the prices that ship. They are those of the providers' own servers. */
export function shippedPrices(): z.output<typeof Prices> {
  if (shipped) return shipped;
  const read = readYamlFile(PATH, FILE);
  if ("value" in read) return shipped = read.value.prices;
  throw new BadFile(read.mistakes, PATH);
}

/** A version of a model as providers name it by its date, after the model's name. */
const DATED = /-(20\d{6}|20\d\d-\d\d-\d\d)$/;

/**
 * Returns the price of a model; undefined: nobody has told it.
 *
 * @param own prices of the operator, which come first
 * @param isOfficial true where the provider's own servers answer
 */
export function findPrice(
  own: z.output<typeof Prices>,
  provider: ModelProvider,
  model: string,
  isOfficial: boolean,
): Price | undefined {
  for (const prices of isOfficial ? [own, shippedPrices()] : [own]) {
    const ofProvider = prices[provider] ?? {};
    for (const name of [model, model.replace(DATED, ""), "*"]) {
      if (Object.hasOwn(ofProvider, name)) return ofProvider[name];
    }
  }
  return undefined;
}

/** Returns the cost of tokens in millionths of a US dollar, rounded up; null: the price is not known. */
export function costOf(price: Price | undefined, counts: TokenCounts): number | null {
  if (!price) return null;
  const { input, output, cached = input } = price.above && counts.input > price.above.tokens
    ? price.above
    : price;
  const fresh = counts.input - counts.cached;
  return ceilMicro(fresh * input + counts.cached * cached + counts.output * output);
}

/** Returns the most that tokens can cost. */
export function maxCostOf(price: Price | undefined, input: number, output: number): number | null {
  if (!price) return null;
  const prices = [price, ...(price.above && input > price.above.tokens ? [price.above] : [])];
  const most = (name: "input" | "output") => Math.max(...prices.map((one) => one[name]));
  const mostInput = Math.max(most("input"), ...prices.map(({ cached = 0 }) => cached));
  return ceilMicro(input * mostInput + output * most("output"));
}

/** Rounds up, but for what adding doubles has added. */
const ceilMicro = (micro: number) => Math.ceil(Math.round(micro * 1e6) / 1e6);
