import { characterClass, escapedClass, literal } from './character-class.ts';

interface Flags {
  readonly i: boolean;
  readonly m: boolean;
  readonly s: boolean;
}

interface State {
  readonly pattern: string;
  at: number;
  flags: Flags;
  /** Flags to return to at the end of each group that is open. */
  readonly outer: Flags[];
}

const noFlags: Flags = { i: false, m: false, s: false };

/**
 * A pattern of Go's regexp package in JavaScript's syntax with the flag `v`, for the question
 * whether it matches. Greediness and captures make no difference to that. Throws where it is no
 * such pattern.
 */
export function translatePattern(pattern: string): string {
  const state: State = { pattern, at: 0, flags: noFlags, outer: [] };
  let translated = '';
  while (state.at < pattern.length) translated += nextPart(state);
  if (state.outer.length > 0) throw new Error('missing )');
  return translated;
}

function nextPart(state: State): string {
  const character = String.fromCodePoint(state.pattern.codePointAt(state.at) ?? 0);
  switch (character) {
    case '(':
      return openGroup(state);
    case ')':
      return closeGroup(state);
    case '[':
      return atom(state, characterClass(state));
    case '\\':
      return escape(state);
    case '{':
      return repetition(state);
    default:
      state.at += character.length;
      return simple(state, character);
  }
}

function simple(state: State, character: string): string {
  const { m, s } = state.flags;
  switch (character) {
    case '.':
      return s ? '[^]' : '[^\\n]';
    case '^':
      return m ? '(?<![^\\n])' : '^';
    case '$':
      return m ? '(?![^\\n])' : '$';
    default:
      return '|*+?'.includes(character) ? character : atom(state, literal(character));
  }
}

/** Modifiers of a group are JavaScript's too, but not those that begin in the middle of one. */
function atom({ flags }: State, text: string): string {
  return flags.i ? `(?i:${text})` : text;
}

function closeGroup(state: State): string {
  const flags = state.outer.pop();
  if (flags === undefined) throw new Error('unexpected )');
  state.flags = flags;
  state.at += 1;
  return ')';
}

/** `(`, `(?:`, `(?i:`, `(?P<name>` and `(?<name>`; `(?i)` alone opens nothing. */
function openGroup(state: State): string {
  const rest = state.pattern.slice(state.at);
  const [all, added = '', removed = '', end] =
    /^\(\?(?:P?<\w+>|([imsU]*)(?:-([imsU]+))?([:)]))/.exec(rest) ?? ['('];
  if (all === '(' && rest.startsWith('(?')) throw new Error('unknown group');
  state.at += all.length;
  if (end !== ')') state.outer.push(state.flags);
  state.flags = changed(state.flags, added, removed);
  return end === ')' ? '' : '(?:';
}

function changed(flags: Flags, added: string, removed: string): Flags {
  const isOn = (flag: keyof Flags) =>
    (flags[flag] || added.includes(flag)) && !removed.includes(flag);
  return { i: isOn('i'), m: isOn('m'), s: isOn('s') };
}

/** `{2,3}`; anything else in braces stands for itself. */
function repetition(state: State): string {
  const [count] = /^\{\d+(?:,\d*)?\}/.exec(state.pattern.slice(state.at)) ?? [];
  state.at += count?.length ?? 1;
  return count ?? atom(state, literal('{'));
}

const anchors: ReadonlyMap<string, string> = new Map([
  ['A', '(?<![^])'],
  ['z', '(?![^])'],
  ['b', '\\b'],
  ['B', '\\B'],
]);

function escape(state: State): string {
  const anchor = anchors.get(state.pattern.charAt(state.at + 1));
  if (anchor !== undefined) {
    state.at += 2;
    return anchor;
  }
  if (state.pattern.startsWith('\\Q', state.at)) return quoted(state);
  return atom(state, escapedClass(state));
}

/** `\Q…\E`, where everything stands for itself. */
function quoted(state: State): string {
  const start = state.at + 2;
  const end = state.pattern.indexOf('\\E', start);
  const text = end === -1 ? state.pattern.slice(start) : state.pattern.slice(start, end);
  state.at = end === -1 ? state.pattern.length : end + 2;
  return Array.from(text, (character) => atom(state, literal(character))).join('');
}
