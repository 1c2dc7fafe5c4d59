const digit = /\p{Nd}/u;
const letter = /\p{L}/u;
const plain = /^[A-Za-z]*$/;

/** The keys in go-yaml's order; the same list if they have it already. */
export function inNaturalOrder(keys: readonly string[]): readonly string[] {
  for (let index = 1; index < keys.length; index += 1) {
    if (byNaturalOrder(keys[index - 1] ?? '', keys[index] ?? '') > 0) {
      return keys.toSorted(byNaturalOrder);
    }
  }
  return keys;
}

/** go-yaml's order of keys: digits as numbers, and other characters before letters. */
function byNaturalOrder(a: string, b: string): number {
  if (a === b) return 0;
  if (plain.test(a) && plain.test(b)) return a < b ? -1 : 1;
  const [left, right] = [Array.from(a), Array.from(b)];
  const shared = Math.min(left.length, right.length);
  for (let at = 0; at < shared; at += 1) {
    if (left[at] !== right[at]) return compareAt(left, right, at);
  }
  return left.length - right.length;
}

function compareAt(left: readonly string[], right: readonly string[], at: number): number {
  const [l = '', r = ''] = [left[at], right[at]];
  const isLetter = letter.test(l);
  if (isLetter !== letter.test(r)) return isLetter ? 1 : -1;
  return (isLetter ? 0 : compareNumbers(left, right, at)) || codeOf(l) - codeOf(r);
}

function compareNumbers(left: readonly string[], right: readonly string[], at: number): number {
  const hasZero = left[at] === '0' || right[at] === '0';
  const start = hasZero && followsNumber(left, at) ? '1' : '';
  const [number, other] = [start + digitsAt(left, at), start + digitsAt(right, at)];
  const difference = BigInt(number || '0') - BigInt(other || '0');
  return Number(difference > 0n) - Number(difference < 0n) || number.length - other.length;
}

function codeOf(character: string): number {
  return character.codePointAt(0) ?? 0;
}

/** Whether the digits directly before the offset include one other than zero. */
function followsNumber(characters: readonly string[], at: number): boolean {
  for (let before = at - 1; digit.test(characters[before] ?? ''); before -= 1) {
    if (characters[before] !== '0') return true;
  }
  return false;
}

function digitsAt(characters: readonly string[], at: number): string {
  let end = at;
  while (/\d/.test(characters[end] ?? '')) end += 1;
  return characters.slice(at, end).join('');
}
