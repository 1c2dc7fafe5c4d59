import { expect, test } from 'vitest';
import { OutputAllowance, parseMessage } from './messages.ts';

const long = '1234567890123456789';

function parsed(objects: string, allowance = new OutputAllowance()): unknown {
  return parseMessage(Buffer.from(`{"type":"objects","objects":[${objects}]}`), allowance);
}

test('long numbers arrive as they are', () => {
  expect(parsed(`${long},"${long}",[[{"a":1}]]`)).toEqual({
    type: 'objects',
    objects: [BigInt(long), long, [[{ a: 1 }]]],
  });
});

test('many values beside long numbers are refused before they hold us up', () => {
  const many = '[],'.repeat(250_001);
  expect(() => parsed(`${many}${long}`)).toThrow('more than 250000 values in one message');
  expect(() => parsed(`${many}"${'1,'.repeat(250_001)}"`)).not.toThrow();
});

test('so are those of one call together', () => {
  const allowance = new OutputAllowance();
  allowance.values(4_999_990);
  expect(() => parsed(long, allowance)).not.toThrow();
  expect(() => parsed(`${'1,'.repeat(10)}${long}`, allowance)).toThrow(
    'more than 5000000 values in one call',
  );
  allowance.renew();
  expect(() => parsed(long, allowance)).not.toThrow();
});
