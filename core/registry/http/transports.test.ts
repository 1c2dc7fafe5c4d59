import { text } from 'node:stream/consumers';
import { expect, onTestFinished, test } from 'vitest';
import { FakeRegistry } from '../../../test/helpers/fake-registry.ts';
import { ManualClock } from '../../../test/helpers/manual-clock.ts';
import { Transports } from './transports.ts';

const { signal } = new AbortController();

function aSet(insecureRegistries: readonly string[] = []): Transports {
  const clock = new ManualClock();
  return new Transports({ insecureRegistries, caCertificates: [], userAgent: 'test', clock });
}

test('transports in use stay, with their connections, however many others there are', () => {
  const transports = aSet();
  const shared = transports.get({});
  const mine = transports.get({ caCertificates: 'mine' });
  for (let number = 0; number < 100; number += 1) {
    transports.get({ caCertificates: `other ${number}` });
    expect(transports.get({ caCertificates: 'mine' })).toBe(mine);
    expect(transports.get({})).toBe(shared);
  }
});

test('one that was not used for 32 others is forgotten', () => {
  const transports = aSet();
  const mine = transports.get({ caCertificates: 'mine' });
  for (let number = 0; number < 31; number += 1) transports.get({ caCertificates: `${number}` });
  expect(transports.get({ caCertificates: 'mine' })).toBe(mine);
  for (let number = 0; number < 32; number += 1) transports.get({ caCertificates: `${number}` });
  expect(transports.get({ caCertificates: 'mine' })).not.toBe(mine);
});

test('a request of one that is forgotten goes on', async () => {
  const registry = await FakeRegistry.start();
  onTestFinished(() => registry.stop());
  const arrived = Promise.withResolvers<() => void>();
  registry.intercept = (_request, response) => {
    arrived.resolve(() => response.end('late'));
    return true;
  };
  const transports = aSet([registry.host]);
  const url = new URL(`http://${registry.host}/v2/`);
  const answer = transports.get({ caCertificates: 'mine' }).send(url, { signal });
  const end = await arrived.promise;
  for (let number = 0; number < 40; number += 1) transports.get({ caCertificates: `${number}` });
  end();
  expect(await text((await answer).body)).toBe('late');
});
