import { Command } from 'commander';
import { describe, expect, test } from 'vitest';
import {
  booleanFlag,
  collect,
  collectUrls,
  duration,
  httpUrl,
  positiveInteger,
} from './flag-values.ts';
import { bindAddress, listenAddress } from './process-flags.ts';

describe('booleanFlag', () => {
  function parse(...args: readonly string[]): unknown {
    const command = new Command().exitOverride().configureOutput({ writeErr: () => undefined });
    command.addOption(booleanFlag('leader-elect', 'one leads'));
    return command.parse(args, { from: 'user' }).opts()['leaderElect'];
  }

  test.each([
    [[], false],
    [['--leader-elect'], true],
    [['--leader-elect=true'], true],
    [['--leader-elect=false'], false],
    [['--leader-elect=1'], true],
    [['--leader-elect=F'], false],
    [['--leader-elect=True', '--leader-elect=FALSE'], false],
  ])('reads %j', (args, value) => {
    expect(parse(...args)).toBe(value);
  });

  test.each(['yes', 'tRUE', '2', 'true '])('refuses %j', (text) => {
    expect(() => parse(`--leader-elect=${text}`)).toThrow('It must be true or false.');
  });
});

test.each([
  ['30s', 30_000],
  ['1m30s', 90_000],
  ['1.5h', 5_400_000],
  ['250ms', 250],
  ['1.0005s', 1_001],
  ['24h', 86_400_000],
])('duration %s', (text, ms) => {
  expect(duration(text)).toBe(ms);
});

test.each(['', '30', 's', '1m30', '-5s', '1d'])('%j is no duration', (text) => {
  expect(() => duration(text)).toThrow('It must be a duration');
});

test.each(['0s', '0.1ms', '24h1ms', '99999999999h'])(
  '%j is longer or shorter than timers',
  (text) => {
    expect(() => duration(text)).toThrow('It must be from 1ms to 24h.');
  },
);

test.each(['0', '-1', '1.5', 'many', ''])('%j is no positive integer', (text) => {
  expect(() => positiveInteger(text)).toThrow('It must be a whole number');
});

test('a list grows by each flag and each comma', () => {
  expect(collect('b,c,', collect('a', []))).toEqual(['a', 'b', 'c']);
});

describe('addresses and URLs stay as they were written', () => {
  test.each([':8081', '127.0.0.1:0', '[::1]:8081', '0'])('to listen on: %s', (text) => {
    expect(bindAddress(text)).toBe(text);
  });

  test.each(['http://localhost:8080', 'https://core.rukpak-system.svc/'])('%s', (text) => {
    expect(httpUrl(text)).toBe(text);
    expect(collectUrls(`${text},${text}`, ['https://a'])).toEqual(['https://a', text, text]);
  });
});

test.each(['8081', 'localhost', ':99999', '', 'http://x:80'])('%j is no address', (text) => {
  expect(() => bindAddress(text)).toThrow(/address to listen on/);
  expect(() => listenAddress(text)).toThrow(/address to listen on/);
});

test('the content server cannot be turned off', () => {
  expect(() => listenAddress('0')).toThrow(/address to listen on/);
  expect(listenAddress(':8443')).toBe(':8443');
});

test.each(['core.rukpak-system.svc', 'localhost:8080', 'file:///etc', 'ftp://x', ''])(
  '%j is no URL of a server',
  (text) => {
    expect(() => httpUrl(text)).toThrow('It must be a URL such as https://host:port.');
    expect(() => collectUrls(`https://a,${text || '/'}`, [])).toThrow('It must be a URL');
  },
);
