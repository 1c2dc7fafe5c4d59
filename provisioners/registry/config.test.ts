import { describe, expect, it } from 'vitest';
import { silentLogger } from '../../test/helpers/silent-logger.ts';
import { parseConfig } from './config.ts';

function parse(config: unknown) {
  return parseConfig(config, silentLogger);
}

describe('spec.config', () => {
  it('may be absent, which is not the same as empty', () => {
    expect(parse(undefined)).toBeUndefined();
    expect(parse(null)).toBeUndefined();
    expect(parse({})).toEqual({ overrides: {} });
    expect(parse({ watchNamespace: null, installNamespace: null })).toEqual({ overrides: {} });
  });

  it('names the namespace to install to, and one or several to watch', () => {
    expect(parse({ installNamespace: 'a', watchNamespace: 'b' })).toEqual({
      installNamespace: 'a',
      watchNamespaces: ['b'],
      overrides: {},
    });
    expect(parse({ watchNamespaces: ['c', 'b'] })?.watchNamespaces).toEqual(['c', 'b']);
  });

  it('takes an empty name for all namespaces', () => {
    expect(parse({ watchNamespace: '' })?.watchNamespaces).toEqual(['']);
    expect(parse({ watchNamespaces: [''] })?.watchNamespaces).toEqual(['']);
  });

  it('has the overrides of a Subscription beside them', () => {
    const env = [{ value: 'b', name: 'A' }];
    const overrides = parse({ env, watchNamespace: 'b' })?.overrides;
    expect(overrides).toEqual({ env });
    expect(JSON.stringify(overrides)).toBe('{"env":[{"name":"A","value":"b"}]}');
  });

  it('can switch off the check of changed CRDs', () => {
    expect(parse({ crdUpgradeSafety: 'None' })?.skipsCrdUpgradeSafety).toBe(true);
    expect(parse({ crdUpgradeSafety: 'Strict' })).toEqual({ overrides: {} });
    expect(() => parse({ crdUpgradeSafety: false })).toThrow(
      'parse deployment config: spec.config.crdUpgradeSafety must be None or Strict',
    );
  });

  it('lets pass what v0.16 let pass, and tells the log', () => {
    const told: object[] = [];
    const logger = { ...silentLogger, warn: (fields: object) => told.push(fields) };
    parseConfig({ team: { name: 'shop' } }, logger);
    expect(told).toEqual([{ field: 'spec.config.team' }]);
  });

  it.each([
    [
      { watchNamespce: 'a' },
      'spec.config.watchNamespce is not known: did you mean watchNamespace?',
    ],
    [{ InstallNamespace: 'a' }, 'spec.config.InstallNamespace is not known: did you mean'],
    [{ enV: [] }, 'spec.config.enV is not known: did you mean env?'],
    [
      { watchNamespace: 'a', watchNamespaces: ['a'] },
      'spec.config.watchNamespace and watchNamespaces cannot be set together: keep one',
    ],
    [
      { watchNamespace: ['a'] },
      'spec.config.watchNamespace is a list: it must be the name of a namespace',
    ],
    [{ watchNamespace: 'A' }, 'spec.config.watchNamespace must be the name of a namespace'],
    [{ installNamespace: '' }, 'spec.config.installNamespace must be the name of a namespace'],
    [{ installNamespace: 'a.b' }, 'spec.config.installNamespace must be the name of a namespace'],
    [{ installNamespace: 'a'.repeat(64) }, 'spec.config.installNamespace must be the name'],
    [
      { watchNamespaces: 'a' },
      'spec.config.watchNamespaces is a string: it must be a list of names of namespaces',
    ],
    [
      { watchNamespaces: [] },
      'spec.config.watchNamespaces is an empty list: name a namespace, or leave it out for all',
    ],
    [
      { watchNamespaces: ['a', ''] },
      'spec.config.watchNamespaces[1] is empty, which is all namespaces: it cannot be one of several',
    ],
    [{ watchNamespaces: ['a', 7] }, 'spec.config.watchNamespaces[1] is a number: it must be'],
    [
      { watchNamespaces: Array.from({ length: 251 }, () => 'a') },
      'spec.config.watchNamespaces has 251 items, more than 250',
    ],
    ['text', 'spec.config is a string: it must be an object'],
  ])('%j is refused', (config, problem) => {
    expect(() => parse(config)).toThrow(
      expect.objectContaining({
        name: 'TerminalError',
        message: expect.stringContaining(`parse deployment config: ${problem}`),
      }),
    );
  });
});
