import { expect, test } from 'vitest';
import { RemoteClassFixture, unchanged } from '../../../test/helpers/remote-class-fixture.ts';

test.each([
  [{ className: 'other' }, 'it serves class "other": correct --provisioner-url'],
  [{ contractVersion: 2 }, 'it serves version 2 of the contract, and this manager knows version 1'],
  [{ handlers: ['apply'] }, 'the answer to GET v1/class is no description of a class: handlers.0'],
  [{ handlers: ['deployment'] }, 'serves no Bundles: its handlers are [deployment]'],
  [{ handlers: ['configure'] }, 'its handlers have "configure" and not "bundle"'],
])('a server that says of itself %j fails the object', async (description, text) => {
  const fixture = await RemoteClassFixture.start();
  fixture.describing(description);
  await expect(fixture.handleBundle()).rejects.toThrow(`class "acme" at ${fixture.server.url}`);
  await expect(fixture.handleBundle()).rejects.toThrow(text);
  await fixture.stop();
});

test('a server is asked what it is once a minute', async () => {
  let now = 0;
  const fixture = await RemoteClassFixture.start(() => now);
  fixture.answering('/v1/bundle', unchanged);
  for (const time of [0, 59_000, 61_000]) {
    now = time;
    await fixture.handleBundle();
  }
  const asked = fixture.server.received.filter(({ call }) => call === 'GET /v1/class');
  expect(asked).toHaveLength(2);
  await fixture.stop();
});
