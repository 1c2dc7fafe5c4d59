import { expect, test } from 'vitest';
import { TerminalError } from '../../../errors.ts';
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

test('what Node’s permissions refuse is told without Node’s flags', () => {
  const refused = new Error('Access to this API has been restricted. Use --allow-fs-read to …');
  Object.assign(refused, {
    code: 'ERR_ACCESS_DENIED',
    permission: 'FileSystemRead',
    resource: '/etc/passwd',
  });
  expect(toThrown(refused).message).toBe(
    'it needs a permission that classes do not have (FileSystemRead /etc/passwd): a class may read its own package, and may neither write files nor start processes or threads',
  );
});
