import { describe, expect, it } from 'vitest';
import { silentLogger } from '../../test/helpers/silent-logger.ts';
import { type HelmConfig, parseConfig } from './config.ts';

function parse(config: Readonly<Record<string, unknown>> | undefined): HelmConfig {
  return parseConfig(config, silentLogger);
}

describe('spec.config', () => {
  it('may be absent or empty', () => {
    const nothing = { valuesFrom: [], crds: 'Upgrade', lookup: 'Refuse' };
    expect(parse(undefined)).toEqual(nothing);
    expect(parse({ values: null, valuesFrom: null })).toEqual(nothing);
  });

  it('has values as text or as an object, which is kept exact', () => {
    expect(parse({ values: 'a: 1' }).values).toBe('a: 1');
    const values = { a: [1, 'x', null], big: 12345678901234567890n };
    expect(parse({ values }).values).toBe(values);
  });

  it("has values from ConfigMaps and Secrets in Flux's words", () => {
    const valuesFrom = [
      { kind: 'ConfigMap', name: 'base' },
      { kind: 'Secret', name: 'pass', valuesKey: 'prod.yaml', optional: true },
    ];
    expect(parse({ valuesFrom }).valuesFrom).toEqual([
      { kind: 'ConfigMap', name: 'base', key: 'values.yaml' },
      { kind: 'Secret', name: 'pass', key: 'prod.yaml', optional: true },
    ]);
  });

  it('has the time of templates', () => {
    const time = '2026-01-31T12:00:00+01:00';
    expect(parse({ templateTime: time }).templateTime).toEqual(new Date('2026-01-31T11:00:00Z'));
    expect(parse({ templateTime: null })).not.toHaveProperty('templateTime');
  });

  it.each(['yesterday', '2026-02-30T00:00:00Z', '1969-12-31T23:59:59Z', 2026])(
    'has no such time as %j',
    (templateTime) => {
      expect(() => parse({ templateTime })).toThrow(
        'spec.config.templateTime must be a time from 1970 to 2199 such as "2026-01-31T00:00:00Z"',
      );
    },
  );

  it('lets pass what v0.16 let pass, and tells the log', () => {
    const told: object[] = [];
    const logger = { ...silentLogger, warn: (fields: object) => told.push(fields) };
    parseConfig({ values: 'a: 1', team: 'shop' }, logger);
    expect(told).toEqual([{ field: 'spec.config.team' }]);
  });

  it.each([
    [{ vaules: 'a: 1' }, 'vaules is not known: did you mean values?'],
    [{ Values: { a: 1 } }, 'Values is not known: did you mean values?'],
    [{ valuesfrom: [] }, 'valuesfrom is not known: did you mean valuesFrom?'],
    [
      { replicas: 3 },
      'replicas is not known: there are values, valuesFrom, releaseNamespace, crds, lookup, templateTime; values of the chart belong into spec.config.values',
    ],
    [{ values: ['a'] }, 'values is a list: it must be an object, or text of YAML'],
    [{ valuesFrom: {} }, 'valuesFrom is an object: it must be a list'],
    [{ valuesFrom: ['a'] }, 'valuesFrom[0] is a string: it must be an object with kind and name'],
    [
      { valuesFrom: [{ kind: 'Secret', name: 'a', targetPath: 'x' }] },
      'valuesFrom[0].targetPath is not known: there are kind, name, valuesKey, optional',
    ],
    [
      { valuesFrom: [{ kind: 'Pod', name: 'a' }] },
      'valuesFrom[0].kind must be ConfigMap or Secret',
    ],
    [
      { valuesFrom: [{ kind: 'Secret', name: '../a' }] },
      'valuesFrom[0].name must be the name of an object',
    ],
    [
      { valuesFrom: [{ kind: 'Secret' }] },
      'valuesFrom[0].name is missing: it must be the name of an object',
    ],
    [
      { valuesFrom: [{ kind: 'Secret', name: 'a', valuesKey: 'a/b' }] },
      'valuesFrom[0].valuesKey must be the key of a ConfigMap or Secret',
    ],
    [
      { valuesFrom: [{ kind: 'Secret', name: 'a', optional: 'yes' }] },
      'valuesFrom[0].optional is a string: it must be true or false',
    ],
    [
      { valuesFrom: Array.from({ length: 65 }, () => ({ kind: 'Secret', name: 'a' })) },
      'valuesFrom has 65 items, more than 64',
    ],
    [{ releaseNamespace: 'A' }, 'releaseNamespace must be the name of a namespace'],
    [{ crds: 'Never' }, 'crds must be one of Upgrade, Replace, Skip'],
    [{ lookup: 'Allow' }, 'lookup must be one of Refuse, Empty'],
  ])('%j is refused', (config, problem) => {
    expect(() => parse(config)).toThrow(
      expect.objectContaining({
        name: 'TerminalError',
        message: `parse deployment config: spec.config.${problem}`,
      }),
    );
  });
});
