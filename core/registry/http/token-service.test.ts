import { describe, expect, it } from 'vitest';
import { cpuTime } from '../../../test/helpers/cpu-time.ts';
import { parseChallenges } from './token-service.ts';

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
