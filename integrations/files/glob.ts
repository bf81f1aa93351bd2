/** Returns whether a text matches a pattern in which `*` stands for any characters and `?` for one. */
export function matchesGlob(glob: string, text: string): boolean {
  const pattern = glob.replace(/[.+^${}()|[\]\\]/g, "\\$&")
    .replaceAll("*", ".*").replaceAll("?", ".");
  return new RegExp(`^${pattern}$`, "s").test(text);
}
