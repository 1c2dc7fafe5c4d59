import { expect, test } from 'vitest';
import { ManualClock } from '../../../test/helpers/manual-clock.ts';
import { HostAddresses } from './hosts.ts';

const names: Readonly<Record<string, readonly string[]>> = {
  'one.example': ['192.0.2.7'],
  'other.example': ['192.0.2.7'],
  'many.example': ['192.0.2.9', '192.0.2.8'],
  'six.example': ['2001:db8::1'],
};

function addresses() {
  const clock = new ManualClock();
  const asked: string[] = [];
  const resolve = async (name: string) => {
    asked.push(name);
    const found = names[name];
    if (found === undefined) throw new Error('not found');
    return found;
  };
  return { clock, asked, addresses: new HostAddresses({ clock, resolve }) };
}

test.each([
  ['127.0.0.1', '127.0.0.1'],
  ['::1', '0:0:0:0::/64'],
  ['[2001:DB8::1]', '2001:db8:0:0::/64'],
  ['2001:db8:0:0:1:2:3:4', '2001:db8:0:0::/64'],
  ['2001:db8:0:1::1', '2001:db8:0:1::/64'],
  ['::ffff:192.0.2.7', '192.0.2.7'],
  ['One.Example', '192.0.2.7'],
  ['other.example', '192.0.2.7'],
  ['many.example', '192.0.2.8'],
  ['six.example', '2001:db8:0:0::/64'],
  ['unknown.example', 'unknown.example'],
])('%s is %s', async (host, address) => {
  expect(await addresses().addresses.of(host)).toBe(address);
});

test('a name is looked up once a minute, however many ask', async () => {
  const { clock, asked, addresses: known } = addresses();
  await Promise.all([known.of('one.example'), known.of('ONE.example')]);
  await known.of('one.example');
  expect(asked).toEqual(['one.example']);
  clock.advance(60_000);
  await known.of('one.example');
  expect(asked).toHaveLength(2);
});
