/** Keys that work on every page, and the list of them. */
import { useEffect, useRef } from "preact/hooks";

/** What `j` and `k` move between: the link of each entry of a list. */
const ENTRIES = "main .cards > li > a, main .rows tbody td.subject > a";
const SEARCH = "main input[type=search]";
/** Where `/` leads to from a page without a search. */
const SEARCH_PAGE = "/console/incidents#search";

const KEYS = [
  ["j", "next entry"],
  ["k", "entry before"],
  ["Enter", "open the entry"],
  ["/", "search"],
  ["?", "these keys"],
  ["Esc", "close, or leave the search"],
] as const;

/** Listens for keys, and shows the list of them on `?`. */
export function Keys() {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event)) return;
      const act = ACTS[event.key];
      if (event.key === "?") toggle(dialog.current!);
      else if (act && !dialog.current!.open) act();
      else return;
      event.preventDefault();
    };
    addEventListener("keydown", onKey);
    if (location.hash === "#search") focusSearch();
    return () => removeEventListener("keydown", onKey);
  }, []);
  return (
    <dialog ref={dialog} aria-labelledby="keys">
      <h2 id="keys">Keys</h2>
      <dl class="keys">
        {KEYS.map(([key, does]) => (
          <div key={key}>
            <dt>
              <kbd>{key}</kbd>
            </dt>
            <dd>{does}</dd>
          </div>
        ))}
      </dl>
      <button type="button" class="plain" onClick={() => dialog.current!.close()}>Close</button>
    </dialog>
  );
}

const ACTS: Readonly<Record<string, () => void>> = {
  j: () => move(1),
  k: () => move(-1),
  "/": focusSearch,
};

/** Returns true where a key belongs to what is focused. Escape leaves it. */
function isTyping({ target, key }: KeyboardEvent): boolean {
  const isField = target instanceof HTMLElement && target.matches("input, textarea, select");
  if (isField && key === "Escape") target.blur();
  return isField;
}

function move(by: 1 | -1): void {
  const entries = [...document.querySelectorAll<HTMLElement>(ENTRIES)];
  const at = entries.findIndex((entry) => entry.parentElement!.contains(document.activeElement));
  const next = at === -1 ? (by === 1 ? 0 : entries.length - 1) : at + by;
  entries[Math.max(0, Math.min(entries.length - 1, next))]?.focus();
}

function focusSearch(): void {
  const search = document.querySelector<HTMLElement>(SEARCH);
  if (search) search.focus();
  else location.assign(SEARCH_PAGE);
}

function toggle(dialog: HTMLDialogElement): void {
  if (dialog.open) dialog.close();
  else dialog.showModal();
}
