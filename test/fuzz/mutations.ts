import fc from 'fast-check';
import { bytesOf, type FuzzTarget } from './fuzz-target.ts';

/** A change of some bytes; places are counted modulo the input's length. */
interface Change {
  readonly kind: 'cut' | 'insert' | 'overwrite' | 'repeat' | 'flip' | 'splice' | 'end';
  readonly at: number;
  readonly length: number;
  readonly bytes: Uint8Array;
}

/** Maximum bytes of an input; longer ones are cut. */
const maxBytes = 100_000;
/** Maximum repetitions, for deep nesting and long lists. */
const maxRepeats = 5_000;

/** Inputs of a target: changed seeds for the most part, some made from nothing, a few of noise. */
export function inputsOf({ seeds, words = [], made }: FuzzTarget): fc.Arbitrary<Uint8Array> {
  const known = seeds.map(bytesOf);
  const begins = fc.constantFrom(...known);
  const changes = fc.array(changeOf(known, words), { maxLength: 8 });
  const changed = fc.tuple(begins, changes).map(([seed, list]) => list.reduce(apply, seed));
  const noise = fc.uint8Array({ maxLength: 300 });
  const wellFormed = made?.map(bytesOf);
  return fc.oneof(
    { weight: 6, arbitrary: changed },
    { weight: 1, arbitrary: noise },
    ...(wellFormed === undefined ? [] : [{ weight: 4, arbitrary: wellFormed }]),
    ...(wellFormed === undefined
      ? []
      : [
          {
            weight: 3,
            arbitrary: fc
              .tuple(wellFormed, changes)
              .map(([seed, list]) => list.reduce(apply, seed)),
          },
        ]),
  );
}

const place = fc.nat({ max: 1 << 20 });
const odd = [
  Uint8Array.of(0),
  Uint8Array.of(0xff),
  Uint8Array.of(0x80, 0x80, 0x80, 0x80, 0x80, 0x80),
  Uint8Array.of(0xff, 0xff, 0xff, 0xff),
  Uint8Array.of(0x7f, 0xff, 0xff, 0xff),
  ...['\r\n', '\u00a0', '\ufeff', '\u2028', '\ud83d\ude80', '__proto__', 'constructor', '../', '-1']
    .concat(['1e999', '9223372036854775808', '18446744073709551616', '${x}', '%00', '\u001b[2J'])
    .map((text) => Buffer.from(text)),
];

function changeOf(seeds: readonly Uint8Array[], words: readonly string[]): fc.Arbitrary<Change> {
  const payload = fc.oneof(
    fc.constantFrom(...odd, ...words.map((word) => Buffer.from(word))),
    fc.uint8Array({ minLength: 1, maxLength: 8 }),
    fc.integer({ min: 0x20, max: 0x7e }).map((code) => Uint8Array.of(code)),
  );
  const small = fc.integer({ min: 1, max: 40 });
  const change = (
    kind: Change['kind'],
    length: fc.Arbitrary<number>,
    bytes: fc.Arbitrary<Uint8Array> = fc.constant(new Uint8Array()),
  ): fc.Arbitrary<Change> => fc.record({ kind: fc.constant(kind), at: place, length, bytes });
  return fc.oneof(
    { weight: 3, arbitrary: change('cut', fc.oneof(small, place)) },
    { weight: 5, arbitrary: change('insert', fc.constant(0), payload) },
    { weight: 4, arbitrary: change('overwrite', fc.constant(0), payload) },
    { weight: 2, arbitrary: change('repeat', fc.integer({ min: 1, max: maxRepeats })) },
    { weight: 3, arbitrary: change('flip', fc.nat({ max: 7 })) },
    { weight: 2, arbitrary: change('splice', place, fc.constantFrom(...seeds)) },
    { weight: 1, arbitrary: change('end', fc.constant(0)) },
  );
}

function apply(input: Uint8Array, change: Change): Uint8Array {
  return changed(input, change).subarray(0, maxBytes);
}

function changed(input: Uint8Array, { kind, at, length, bytes }: Change): Uint8Array {
  const start = at % (input.byteLength + 1);
  switch (kind) {
    case 'cut':
      return joined(input.subarray(0, start), input.subarray(start + length));
    case 'insert':
      return joined(input.subarray(0, start), bytes, input.subarray(start));
    case 'overwrite':
      return joined(input.subarray(0, start), bytes, input.subarray(start + bytes.byteLength));
    case 'repeat': {
      const piece = input.subarray(start, start + 1 + (at % 12));
      const repeated = Array.from({ length }, () => piece);
      return joined(input.subarray(0, start), ...repeated, input.subarray(start));
    }
    case 'flip': {
      const copy = Uint8Array.from(input);
      const byte = copy[start];
      if (byte !== undefined) copy[start] = byte ^ (1 << length);
      return copy;
    }
    case 'splice':
      return joined(input.subarray(0, start), bytes.subarray(length % (bytes.byteLength + 1)));
    case 'end':
      break;
  }
  return input.subarray(0, start);
}

function joined(...parts: readonly Uint8Array[]): Uint8Array {
  return Buffer.concat(parts);
}
