import type { CallContext } from "./caller.ts";
import type { ShippedRuleName } from "./shipped_rules.ts";

/** Who decides about an operation's calls, and in whose name they run. */
export interface Governance<Context = never> {
  /**
   * The shipped rule that decides where no rule of the operator's matches, the same over every interface. Absent where the
   * effect is `read`.
   */
  // deno-lint-ignore no-explicit-any -- as in an operation's `run`
  readonly rule?: ShippedRuleName | ((input: any) => ShippedRuleName);
  /** Limits of the number of calls that differ from those of all calls. */
  readonly limits?: CallLimits;
  /**
   * True where people use it to decide or to stop, so that they always can: a stop of everything does not apply, no rule
   * asks people about it, and no guardrail judges it. Stops of its key or its name apply, and so do rules that deny.
   * Never reachable by AI agents.
   */
  readonly humanControl?: true;
  /**
   * True where the operation itself has people asked: a call that a rule leaves to people is run, knows the approval that it
   * needs, and what it orders waits for that. Elsewhere the call waits.
   */
  readonly asksPeople?: true;
  /**
   * True where people decide or sign in by it: its public receipts name no key, and who called is private evidence, so that
   * nothing public links what a person decides.
   */
  readonly unnamed?: true;
  /** Field of the input that names who is spoken to or given work. The guardrails don't take it for what is acted on. */
  readonly addressee?: "agent_id";
  /** True where a call by a key of tier admin is about the things of all tenants; all others see their own tenant alone. */
  readonly spansTenants?: true;
  /**
   * True where a device calls, which has signed the request (RFC 9421). Absent in operations of access `device`: they check a
   * token or a code in their input themselves.
   */
  readonly signedByDevice?: true;
  /**
   * Returns the tenant that owns what a call is about. A key of tier admin then calls in the name of that tenant; all other
   * calls, and those of operations without this, see the caller's own tenant alone.
   *
   * @returns undefined where no tenant has such a thing
   */
  // deno-lint-ignore no-explicit-any -- as in an operation's `run`
  ownerOf?(input: any, context: Context): Promise<string | undefined>;
  /**
   * Returns names of other operations whose act a call performs, so that their rules and stops apply as well.
   *
   * @param input checked
   */
  // deno-lint-ignore no-explicit-any -- as in an operation's `run`
  actsAs?(input: any): readonly string[];
  /**
   * Returns the call of another operation that a call stands for. The call is then decided on, counted and run as that one,
   * and the key needs what both operations require.
   *
   * @param input as sent; not checked yet
   * @returns undefined where it stands for itself
   */
  delegateTo?(input: unknown, context: Context): Delegate | undefined;
  /**
   * Returns the action that the guardrails judge where the input names it, in place of the input's text.
   *
   * @throws {Problem} the input names nothing
   */
  // deno-lint-ignore no-explicit-any -- as in an operation's `run`
  judgedAction?(input: any, context: Context): Promise<Readonly<Record<string, unknown>>>;
  /**
   * Returns false where a call changes nothing, although its operation may, so that no change freeze holds it.
   *
   * @throws {Problem} the input names nothing
   */
  // deno-lint-ignore no-explicit-any -- as in an operation's `run`
  changes?(input: any, context: Context): Promise<boolean>;
  /**
   * Resolves an input whose meaning may change, such as a place in a queue, into one that keeps it. People are asked
   * about the result, and it is what runs once they have approved.
   *
   * @throws {Problem} the input means nothing
   */
  // deno-lint-ignore no-explicit-any -- as in an operation's `run`
  resolveStableInput?(input: any, context: Context): Promise<StableInput>;
  /**
   * Refuses a call that can't be run at the moment, before people are asked, so that nobody has to decide about what can't
   * be done. `run` checks again, as things change until they have decided.
   *
   * @throws {Problem} why it can't be run
   */
  // deno-lint-ignore no-explicit-any -- as in an operation's `run`
  check?(input: any, context: Context & CallContext): Promise<void>;
}

/** Limits of the number of an operation's calls, besides those of all calls. */
interface CallLimits {
  /** False where a call does not count against the daily limit. */
  readonly counted?: false;
  /** A limit per minute of its own. */
  readonly perMinute?: "simulate" | "heartbeats" | "statements" | "sign_in";
  /** A limit per day of its own, of the calls that are run. */
  readonly perDay?: "classify" | "applications" | "leads" | "posts";
}

/** The call that another one stands for. */
interface Delegate {
  /** Name of its operation. */
  readonly operation: string;
  /** Not checked yet. */
  readonly input: unknown;
  /** Field of the original call's input that holds it; null: the original call's own fields do. */
  readonly field: string | null;
}

/** An input that keeps its meaning until people have decided about the call. */
interface StableInput {
  /** The whole input, with everything resolved that the caller left open. */
  readonly input: Readonly<Record<string, unknown>>;
  /** Its meaning, a sentence for people without a full stop. */
  readonly about: string;
}
