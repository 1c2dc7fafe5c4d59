import { Command } from 'commander';
import { describe, expect, test } from 'vitest';
import { addProcessFlags, type ProcessFlags, systemNamespaceOf } from './process-flags.ts';

function parse(...args: readonly string[]): ProcessFlags {
  const command = new Command().exitOverride().configureOutput({ writeErr: () => undefined });
  return addProcessFlags(command).parse(args, { from: 'user' }).opts();
}

test('defaults are those of v0.16', () => {
  expect(parse()).toEqual({ healthProbeBindAddress: ':8081', zapLogLevel: 'info' });
});

describe('--zap-log-level', () => {
  test.each([
    ['debug', 'debug'],
    ['INFO', 'info'],
    ['warn', 'warn'],
    ['error', 'error'],
    ['1', 'debug'],
    ['5', 'debug'],
  ])('%s', (text, level) => {
    expect(parse(`--zap-log-level=${text}`).zapLogLevel).toBe(level);
  });

  test.each(['loud', '0', '-1', '1.5', ''])('refuses "%s"', (text) => {
    expect(() => parse(`--zap-log-level=${text}`)).toThrow(
      'It must be debug, info, warn, error, or a number of at least 1.',
    );
  });
});

test('an invalid address is refused with its flag', () => {
  expect(() => parse('--health-probe-bind-address=8081')).toThrow(
    /'--health-probe-bind-address <address>' argument '8081' is invalid.*use host:port/,
  );
});

test('the system namespace is the one that is given, else that of v0.16 outside a pod', () => {
  expect(systemNamespaceOf(parse('--system-namespace=mine'))).toBe('mine');
  expect(systemNamespaceOf(parse('--system-namespace='))).toBe('rukpak-system');
  expect(systemNamespaceOf(parse())).toBe('rukpak-system');
});
