/**
 * Returns a value as lines for a reader: fields in one line where they are short, a line for each item of a list. Fields that
 * are null are left out.
 *
 * @param value JSON
 */
export function outline(value: unknown, indent = ""): string[] {
  if (!isCompound(value)) return [`${indent}${textOf(value)}`];
  if (Array.isArray(value)) return value.flatMap((item) => outlineItem(item, indent));
  const entries = Object.entries(value).filter(([, inner]) => inner !== null);
  const [plain, compound] = [
    entries.filter(([, inner]) => isPlain(inner)),
    entries.filter(([, inner]) => !isPlain(inner)),
  ];
  const first = plain.map(([name, inner]) => `${name}: ${textOf(inner)}`).join("; ");
  return [
    ...(first ? [`${indent}${first}`] : []),
    ...compound.flatMap((
      [name, inner],
    ) => [`${indent}${name}:`, ...outline(inner, `${indent}  `)]),
  ];
}

function outlineItem(item: unknown, indent: string): string[] {
  const [first = "", ...others] = outline(item, `${indent}  `);
  return [`${indent}- ${first.trimStart()}`, ...others];
}

/** Returns true where a value stands in one line: it is a scalar, or a list of scalars. */
function isPlain(value: unknown): boolean {
  return Array.isArray(value) ? !value.some(isCompound) : !isCompound(value);
}

const isCompound = (value: unknown): value is object => typeof value === "object" && value !== null;

function textOf(value: unknown): string {
  return Array.isArray(value) ? value.join(", ") || "none" : `${value}`;
}
