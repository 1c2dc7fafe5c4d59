import { Readable } from 'node:stream';
import { describe, expect, it, vi } from 'vitest';
import { cpuTime } from '../../../test/helpers/cpu-time.ts';
import { ManualClock } from '../../../test/helpers/manual-clock.ts';
import { parseChallenges, type TokenRequest, TokenService } from './token-service.ts';

function plain(header: string | string[] | undefined): unknown {
  return parseChallenges(header).map(({ scheme, parameters }) => [
    scheme,
    Object.fromEntries(parameters),
  ]);
}

describe('parseChallenges', () => {
  it.each([
    [undefined, []],
    ['Basic', [['basic', {}]]],
    ['Basic realm="Registry Realm"', [['basic', { realm: 'Registry Realm' }]]],
    [
      'Bearer realm="https://auth.example/token",service="reg",scope="repository:a/b:pull,push"',
      [
        [
          'bearer',
          {
            realm: 'https://auth.example/token',
            service: 'reg',
            scope: 'repository:a/b:pull,push',
          },
        ],
      ],
    ],
    [
      'Bearer realm="a \\"b\\"" , Service=x, Basic realm="y"',
      [
        ['bearer', { realm: 'a "b"', service: 'x' }],
        ['basic', { realm: 'y' }],
      ],
    ],
    [
      ['Basic realm="x"', 'Bearer realm="y"'],
      [
        ['basic', { realm: 'x' }],
        ['bearer', { realm: 'y' }],
      ],
    ],
    ['realm="without a scheme"', []],
    [
      'Bearer realm="never closed',
      [
        ['bearer', {}],
        ['realm', {}],
      ],
    ],
    ['@@@', []],
  ])('reads %j', (header, challenges) => {
    expect(plain(header)).toEqual(challenges);
  });

  it('takes no time over hostile headers', () => {
    const started = cpuTime();
    for (const text of [' '.repeat(16_000), 'a '.repeat(8_000), `a="${'\\'.repeat(16_000)}`]) {
      parseChallenges(text);
      parseChallenges(`Bearer ${text}@`);
    }
    expect(cpuTime() - started).toBeLessThan(2_000);
  });
});

it('a token in use stays, however many others are asked for', async () => {
  const send = vi.fn<TokenRequest['transport']['send']>(async (url) => {
    const body = Readable.from([Buffer.from('{"token":"a","expires_in":300}')]) as never;
    return { status: 200, headers: {}, body, url };
  });
  const service = new TokenService(new ManualClock());
  const [challenge] = parseChallenges('Bearer realm="https://auth.example/token"');
  const { signal } = new AbortController();
  const ask = async (scope: string): Promise<string> =>
    await service.token({
      challenge: challenge!,
      scope,
      credentials: undefined,
      transport: { send },
      signal,
    });
  await ask('mine');
  for (let number = 0; number < 1_500; number += 1) {
    await ask(`${number}`);
    await ask('mine');
  }
  expect(send).toHaveBeenCalledTimes(1_501);
  await ask('0');
  expect(send).toHaveBeenCalledTimes(1_502);
});

it.each([
  ['a token', 'a'.repeat(100_000), ''],
  ['a scope', 'a', 'a'.repeat(15_000)],
])('%s of a stranger that is large takes no memory', async (_case, token, more) => {
  const send = vi.fn<TokenRequest['transport']['send']>(async (url) => {
    const body = Readable.from([Buffer.from(JSON.stringify({ token, expires_in: 1e9 }))]) as never;
    return { status: 200, headers: {}, body, url };
  });
  const service = new TokenService(new ManualClock());
  const [challenge] = parseChallenges('Bearer realm="https://auth.example/token"');
  const { signal } = new AbortController();
  const wanted = { challenge: challenge!, credentials: undefined, transport: { send }, signal };
  for (const scope of [`one${more}`, `one${more}`, 'two']) {
    expect(await service.token({ ...wanted, scope })).toBe(token);
  }
  expect(send).toHaveBeenCalledTimes(3);
});
