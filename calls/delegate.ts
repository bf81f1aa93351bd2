import { InvalidInput, type Invoke, type Operation, TIERS } from "../contract/mod.ts";

/**
 * Takes each call that stands for one of another operation as a call of that one, on all of its way: so no rule, limit
 * or switch is gone round by calling it so. It keeps the name that it was called by besides.
 */
export function resolvingStandIns<C>(invoke: Invoke<C>): Invoke<C> {
  return async (operation, request) => {
    const meant = operation.delegateTo?.(request.input);
    if (!meant) return await invoke(operation, request);
    const access = stricter(operation, meant.operation);
    try {
      return await invoke({ ...meant.operation, access }, { ...request, input: meant.input });
    } catch (error) {
      throw error instanceof InvalidInput ? within(meant.field, error) : error;
    }
  };
}

const RANKS = ["public", "key", ...TIERS] as const;

/** What both ask of a key. */
function stricter({ access: a }: Operation<never>, { access: b }: Operation<never>) {
  const rank = (access: typeof a) => RANKS.indexOf(access as typeof RANKS[number]);
  return rank(a) >= rank(b) ? a : b;
}

/** What is wrong with the call that was meant, told by where the caller wrote it. */
function within(field: string, { issues, receiptId }: InvalidInput): InvalidInput {
  const told = new InvalidInput(
    issues.map((issue) => ({ ...issue, path: [field, ...issue.path] })),
  );
  if (receiptId !== undefined) told.receiptId = receiptId;
  return told;
}
