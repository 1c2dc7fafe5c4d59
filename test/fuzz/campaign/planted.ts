/** Targets with one defect each, for the test of the runner. */
import { TerminalError } from '../../../core/errors.ts';
import { type FuzzTarget, textOf, Violation } from '../fuzz-target.ts';

const seeds = ['a list: of, some words'];

function planted(
  name: string,
  read: (text: string) => unknown,
  words: readonly string[],
): FuzzTarget {
  return { name, seeds, words, refusals: [TerminalError], read: (input) => read(textOf(input)) };
}

export const targets: readonly FuzzTarget[] = [
  planted('sound', (text) => refuse(text.includes('x')), ['x']),
  planted(
    'two-defects',
    (text) => {
      if (text.includes('boom')) decodeURIComponent('%');
      if (text.includes('wrong')) throw new Violation('reads what is wrong');
    },
    ['boom', 'wrong'],
  ),
  planted('endless', (text) => spin(text.includes('spin')), ['spin']),
  planted('hungry', (text) => grow(text.includes('grow')), ['grow']),
  planted('polluting', (text) => pollute(text.includes('proto')), ['proto']),
];

function refuse(really: boolean): void {
  if (really) throw new TerminalError('it has an x');
}

function spin(really: boolean): void {
  if (really) for (;;);
}

function grow(really: boolean): void {
  const all: object[] = [];
  if (really) for (;;) all.push(Array<number>(10_000_000).fill(0.5));
}

function pollute(really: boolean): void {
  const attributes = { value: 1, configurable: true };
  // oxlint-disable-next-line no-extend-native -- the defect to be found
  if (really) Object.defineProperty(Object.prototype, 'planted', attributes);
}
