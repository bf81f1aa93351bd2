import { z } from "zod";
import { type Context, operation } from "../../calls/mod.ts";
import { Problem } from "../../contract/mod.ts";
import { FLAG_NAMES, type FlagName, FLAGS, PLATFORM_TENANT } from "../../contract/domain/mod.ts";
import { requestSeal } from "../../ledger/mod.ts";
import { type Db, inTenant } from "../../store/mod.ts";
import { addStop, FLAG_STOP, removeStop } from "../../store/calls/mod.ts";
import { type FlagRecord, listFlags, lockFlags, putFlag } from "../../store/platform/mod.ts";
import { trimmedText } from "../schemas/mod.ts";

const Flags = z.object({
  revision: z.number().int().min(0).describe("Number of changes so far"),
  flags: z.array(z.object({
    key: z.enum(FLAG_NAMES),
    type: z.literal("boolean"),
    value: z.boolean(),
    default: z.literal(false),
    about: z.string(),
    updated_by: z.string().nullable().describe("Id of the key; null: it was never set"),
    receipt_id: z.string().nullable().describe("Receipt of its last change"),
  })),
}).meta({ id: "Flags" });

const exampleFlags: z.output<typeof Flags> = {
  revision: 3,
  flags: [{
    key: "pause_sweeps",
    type: "boolean",
    value: true,
    default: false,
    about: FLAGS.pause_sweeps,
    updated_by: "1f0c7b5a9d3e4820",
    receipt_id: "9f2c4b7a01d3e856",
  }],
};

/** All flags. */
export const flagList = operation({
  name: "admin.flags",
  group: "admin",
  summary: "List the flags, their values and who set them",
  effect: "read",
  access: "admin",
  input: z.object({}),
  output: Flags,
  rest: { admin_flags: "GET /v1/admin/flags" },
  example: { input: {}, output: exampleFlags },
  run: async (_, { store }) => toFlags(await listFlags(store.asPlatform())),
});

/** Sets several flags. */
export const setFlags = operation({
  name: "admin.set_flags",
  group: "admin",
  summary: "Set flags, each with a receipt; they hold at once, in every process",
  effect: "write",
  access: "admin",
  input: z.strictObject(
    Object.fromEntries(
      FLAG_NAMES.map((name) => [name, z.boolean().optional().describe(FLAGS[name])]),
    ) as Record<FlagName, z.ZodOptional<z.ZodBoolean>>,
  ),
  output: Flags,
  rest: { admin_flags_patch: "PATCH /v1/admin/flags" },
  governance: { rule: "key-decides", humanControl: true },
  durability: {
    sealsItself: true,
    commits: true,
  },
  example: { input: { pause_sweeps: true }, output: exampleFlags },
  run: async (values, context) => await change(context, values, "", undefined),
});

/** Sets one flag. */
export const setFlag = operation({
  name: "admin.set_flag",
  group: "admin",
  summary: "Set a flag with a reason; it holds at once, in every process",
  description:
    "`read_only` is the stop of everything: nothing that changes something is done until it is false again, except " +
    "by people who decide, stop or cancel.",
  effect: "write",
  access: "admin",
  input: z.object({
    key: z.enum(FLAG_NAMES).describe("Name of the flag"),
    value: z.boolean().describe("Whether it is set"),
    reason: trimmedText(1, 400).optional().describe("A sentence; private evidence of the receipt"),
    expected_revision: z.number().int().min(0).optional().describe("Refused where it is another"),
  }),
  output: Flags,
  rest: { admin_flag_set: "POST /v1/admin/flags/{key}" },
  presentation: { errors: ["Conflict"] },
  governance: { rule: "key-decides", humanControl: true },
  durability: {
    sealsItself: true,
    commits: true,
  },
  example: {
    input: { key: "pause_sweeps", value: true, reason: "The data centre moves" },
    output: exampleFlags,
  },
  run: async ({ key, value, reason = "", expected_revision }, context) =>
    await change(context, { [key]: value }, reason, expected_revision),
});

/** Changes flags, all or none, and seals each change. A flag that has the value already is no change. */
async function change(
  { caller, commit }: Context,
  values: Readonly<Partial<Record<FlagName, boolean | undefined>>>,
  reason: string,
  expected: number | undefined,
): Promise<z.output<typeof Flags>> {
  return await commit((own) =>
    inTenant(own, PLATFORM_TENANT, async (trx) => {
      const before = await lockFlags(trx);
      let revision = newestRevision(before);
      if (expected !== undefined && expected !== revision) {
        throw new Problem(
          "Conflict",
          `The flags are at revision ${revision}, not ${expected}; read them and decide again`,
        );
      }
      for (const key of FLAG_NAMES) {
        const value = values[key];
        const current = before.find((one) => one.key === key)?.value ?? false;
        if (value === undefined || value === current) continue;
        revision++;
        const { id: receiptId } = await requestSeal(trx, {
          category: "config_change",
          actor: `key:${caller.keyId}`,
          subject: `flag:${key}`,
          action: "flags.set",
          outcome: "in_force",
          details: { flag: key, value, before: current, revision },
          evidence: { reason },
        });
        await putFlag(trx, { key, value, revision, updatedBy: caller.keyId!, receiptId });
        if (key === "read_only") await stopEverything(trx, value, reason);
      }
      return toFlags(await listFlags(trx));
    })
  );
}

/** Sets or lifts the stop that stands for the flag. Stops of the operator's commands stay as they are. */
async function stopEverything(trx: Db, value: boolean, reason: string): Promise<void> {
  const stop = { kind: "all", name: FLAG_STOP } as const;
  if (value) await addStop(trx, { ...stop, reason: reason || "The flag read_only is set" });
  else await removeStop(trx, stop);
}

function newestRevision(flags: readonly FlagRecord[]): number {
  return Math.max(0, ...flags.map(({ revision }) => revision));
}

function toFlags(set: readonly FlagRecord[]): z.output<typeof Flags> {
  return {
    revision: newestRevision(set),
    flags: FLAG_NAMES.map((key) => {
      const flag = set.find((one) => one.key === key);
      return {
        key,
        type: "boolean" as const,
        value: flag?.value ?? false,
        default: false as const,
        about: FLAGS[key],
        updated_by: flag?.updatedBy ?? null,
        receipt_id: flag?.receiptId ?? null,
      };
    }),
  };
}
