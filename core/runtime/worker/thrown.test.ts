import { expect, test } from 'vitest';
import { TerminalError } from '../../errors.ts';
import { fromThrown, toThrown } from './thrown.ts';

test.each([
  ['Odd', 'Odd'],
  ['Odd:Of_2,Kinds', 'Odd:Of_2,Kinds'],
  ['not a reason', undefined],
  ['', undefined],
  ['a'.repeat(1025), undefined],
])(
  'a reason that no condition may have is left out: the status could not be written (%#)',
  (reason, kept) => {
    const crossed = fromThrown(toThrown(new TerminalError('cannot be', { reason })));
    expect(crossed).toBeInstanceOf(TerminalError);
    expect(crossed).toMatchObject({ message: 'cannot be', reason: kept });
  },
);
