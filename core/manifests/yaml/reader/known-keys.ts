/** Slots for keys that were read before; one that another takes is read anew. */
const slots = 4096;
const longest = 64;
const keys = Array.from<string | undefined>({ length: slots });

/**
 * The key that stands in the text, if one like it was remembered. Documents have the same few keys
 * many times over: comparing one with the text takes a fraction of the time of cutting it out.
 */
export function knownKey(text: string, start: number, end: number): string | undefined {
  const key = keys[slotOf(text, start, end)];
  return key?.length === end - start && text.startsWith(key, start) ? key : undefined;
}

/** For plain keys that are what is written. */
export function rememberKey(key: string): void {
  // The name of a member is a string of its own, where a part of a text keeps all of it in memory.
  const [own] = Object.keys({ [key]: true });
  if (key.length <= longest) keys[slotOf(key, 0, key.length)] = own;
}

function slotOf(text: string, start: number, end: number): number {
  const first = text.charCodeAt(start);
  const last = text.charCodeAt(end - 1);
  const middle = text.charCodeAt((start + end) >> 1);
  return (first * 31 + middle * 577 + last * 1009 + (end - start) * 97) % slots;
}
